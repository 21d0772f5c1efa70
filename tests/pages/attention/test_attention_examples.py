"""The examples of the attention page: each is wired to the boxes, and its words and numbers are those of its claims."""

import json
import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.attention import inputs
from pages.ui.shell import controls, texts
from pages.ui.stage.view_options import heads_to_link
from tests.support.drawings import says
from tests.support.serving import ROOT
from tests.support.staged import staged
from tx_core.analysis import views
from tx_core.classroom.claims import attention_claims

Open = Callable[..., AppTest]
EXAMPLES = inputs.EXAMPLES
FIRST = EXAMPLES[0]
ENTRIES = json.loads((ROOT / "assets" / "examples" / "attention.json").read_text("utf-8"))


def test_examples_and_counter_examples_are_a_click_away_each_with_its_view_and_a_hint_of_its_own(open_app: Open):
    app = open_app(text="something else", hide="1")
    for example in EXAMPLES:
        for key, shown in (("example", example), *(("counter_example", counter) for counter in example.counters)):
            arrivals = staged(app)["arrival"]["number"]
            app.pills(key=f"attention_{key}").set_value(shown.title).run()
            assert not app.exception
            assert app.text_input(key="attention_text").value == shown.view["text"]
            assert app.text_input(key="attention_pair").value == shown.view.get("pair", "")
            assert staged(app)["view"]["heads"] == [list(head) for head in example.view["heads"]]
            view = {"focus": shown.view["focus"], "words": example.view["words"], "hide": False}
            assert staged(app)["view"].items() >= view.items()
            assert staged(app)["arrival"]["number"] > arrivals
            assert [one.notice for one in (example, *example.counters) if one.notice in says(app)] == [shown.notice]
            assert app.pills(key="attention_example").value == example.title
        app.pills(key="attention_example").set_value(None).run()
        assert app.text_input(key="attention_text").value == example.view["text"]


@pytest.mark.parametrize("left", [{"changes": f"off~{heads_to_link(FIRST.view['heads'])}"}, {"nospecial": "1"}])
def test_words_about_a_run_that_was_changed_say_so_and_the_example_brings_its_own_back(open_app: Open, left: dict):
    where = controls.head_name(FIRST.view["heads"][0]).lower()
    app = open_app(text=FIRST.view["text"], **left)
    assert texts.HINT_ELSEWHERE.format(heads=where, hint=FIRST.notice) in says(app)
    app.pills(key="attention_example").set_value(None).run()
    assert f"**In {where}:** {FIRST.notice}" in says(app)
    assert staged(app)["address"]["isFirst"]
    assert staged(app)["view"]["focus"] == FIRST.view["focus"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["title"])
def test_the_words_and_numbers_of_a_hint_are_those_of_its_claims(engine, entry: dict):
    for sentence in (entry, *entry["counters"]):
        links = [*sentence["links"], *sentence.get("at_most", ())]
        named = {token for link in links for token in link[:2] if isinstance(token, str)}
        assert [token for token in named if f"“{token}”" not in sentence["notice"]] == []
        weights = {f"{claim.value:.2f}" for claim in attention_claims(engine, entry, sentence)}
        assert set(re.findall(r"\d\.\d\d", sentence["notice"])) <= weights
        if sentence["focus"] is not None:
            shown = views.view(engine.trace(sentence["text"], sentence.get("pair", "")).attention, merge_words=entry["words"])
            (row,) = (row for row, places in enumerate(shown.query_places) if sentence["focus"] - 1 in places)
            assert f"“{shown.queries[row]}”" in sentence["notice"]
