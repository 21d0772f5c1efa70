"""The examples of the comparison: each is wired to both sides, and its numbers are those of its claims."""

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare.inputs import EXAMPLES
from tests.support.drawings import says
from tests.support.serving import ROOT
from tests.support.staged import staged
from tx_core.analysis import comparison
from tx_core.classroom.claims import compare_claims, sides_of
from tx_core.engine import catalogue

Open = Callable[..., AppTest]
ENTRIES = json.loads((ROOT / "assets" / "examples" / "compare.json").read_text("utf-8"))


def test_examples_and_their_counter_examples_are_a_click_away_each_with_a_hint_of_its_own(open_app: Open):
    app = open_app("compare", text="something else", vary="head", word="9-9")
    for example in EXAMPLES:
        app.pills(key="compare_example").set_value(example.title).run()
        assert not app.exception
        assert app.pills(key="compare_example").value == example.title
        assert app.session_state["compare_vary"] == example.view["vary"]
        assert example.notice in says(app)
        assert staged(app)["rows"]["10"]
    for counter in example.counters:
        app.pills(key="compare_counter_example").set_value(counter.title).run()
        assert not app.exception
        assert counter.notice in says(app)
        assert example.notice not in says(app)
        assert app.pills(key="compare_example").value == example.title


def test_words_that_differ_are_similar_too():
    for entry in ENTRIES:
        if entry["vary"] == "text":
            one, other = sides_of(catalogue.load(catalogue.DEFAULT), entry, entry)
            alike = comparison.cosines(one.vectors, other.vectors)[-1][one.own][:, other.own]
            words = [[word for word, own in zip(side.words, side.own, strict=True) if own] for side in (one, other)]
            differ = np.array([[mine != yours for yours in words[1]] for mine in words[0]])
            assert alike[differ].mean() > 0.2


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["title"])
def test_the_numbers_of_a_hint_are_those_of_its_claims(entry: dict):
    for shown in (entry, *entry["counters"]):
        numbers = {f"{claim.value:.2f}" for claim in compare_claims(catalogue.load(catalogue.DEFAULT), entry, shown)}
        assert set(re.findall(r"\d\.\d\d", shown["notice"])) <= numbers
