"""The examples of the attention page: each is wired to the boxes, and what it claims is true of the model that ships."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.attention import inputs
from pages.ui.shell import controls, texts
from pages.ui.stage.view_options import heads_to_link
from tests.support.drawings import says
from tests.support.serving import ROOT
from tests.support.staged import staged
from tx_core.analysis import views
from tx_core.engine import catalogue

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


@dataclass(frozen=True)
class Head:
    """The weights of the heads that an example is about, on one of its sentences."""

    shown: views.View
    weights: np.ndarray

    def place(self, token: str | int, tokens: Sequence[str]) -> int:
        """Find a token by its name, or by its position counted from 1."""
        return token - 1 if isinstance(token, int) else tokens.index(token)

    def weight(self, query: str | int, key: str | int) -> float:
        return self.weights[self.place(query, self.shown.queries), self.place(key, self.shown.keys)]

    def favourite(self, query: str | int) -> int:
        return int(self.weights[self.place(query, self.shown.queries)].argmax())

    @property
    def own(self) -> np.ndarray:
        return ~np.array(self.shown.query_special)

    def on_special_tokens(self) -> float:
        return float(self.weights[self.own][:, ~self.own].sum(1).mean())

    def step(self, step: int) -> float:
        """Return the mean weight from own token to own token, `step` further on."""
        between = np.outer(self.own, self.own).diagonal(step)
        return float(self.weights.diagonal(step)[between].mean())


def head_of(entry: dict, sentence: dict) -> Head:
    run = catalogue.load(catalogue.DEFAULT).trace(sentence["text"], sentence.get("pair", ""))
    shown = views.view(run.attention, merge_words=entry["words"])
    return Head(shown, views.mean_of_heads(shown.weights, [(layer - 1, head - 1) for layer, head in entry["heads"]]))


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        pytest.param(entry, sentence, id=f"{entry['title']} {sentence['text']}")
        for entry in ENTRIES
        for sentence in (entry, *entry["same_kind"], *entry["counters"])
    ],
)
def test_what_an_example_claims_is_true_of_the_embedded_model(entry: dict, sentence: dict):
    head = head_of(entry, sentence)
    for looking, looked_at, least in sentence["links"]:
        assert head.weight(looking, looked_at) >= least
        assert head.favourite(looking) == head.place(looked_at, head.shown.keys)
    for looking, looked_at, most in sentence.get("at_most", ()):
        assert head.weight(looking, looked_at) <= most
    assert sentence.get("special", 0) <= head.on_special_tokens() <= sentence.get("special_at_most", 1)
    if "step" in sentence:
        step, least = sentence["step"]
        assert head.step(step) >= least
    assert sentence["links"] or "special" in sentence or "special_at_most" in sentence


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["title"])
def test_the_words_and_numbers_of_a_hint_are_those_of_its_claims(entry: dict):
    for sentence in (entry, *entry["counters"]):
        head, links = head_of(entry, sentence), [*sentence["links"], *sentence.get("at_most", ())]
        named = {token for link in links for token in link[:2] if isinstance(token, str)}
        assert [token for token in named if f"“{token}”" not in sentence["notice"]] == []
        weights = {f"{head.weight(query, key):.2f}" for query, key, _ in links} | {f"{head.on_special_tokens():.2f}"}
        assert set(re.findall(r"\d\.\d\d", sentence["notice"])) <= weights
        if sentence["focus"] is not None:
            (row,) = (row for row, places in enumerate(head.shown.query_places) if sentence["focus"] - 1 in places)
            assert f"“{head.shown.queries[row]}”" in sentence["notice"]
