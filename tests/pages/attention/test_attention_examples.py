"""The examples of the attention page: each is wired to the boxes, and what it claims is true of the model that ships."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.canvas.attention_view import heads_to_link
from pages.ui.shell import controls, examples, texts
from tests.support.drawings import says
from tests.support.messages import HINT_ELSEWHERE
from tests.support.serving import ROOT
from tx_core.analysis import views
from tx_core.engine import catalogue

Open = Callable[..., AppTest]
FIRST = examples.curated()[0]
SHOWN, WHERE = heads_to_link(FIRST.heads), controls.head_name(FIRST.heads[0]).lower()
OTHER = next(head for head in ("1-1", "1-2") if head != SHOWN)


@pytest.mark.parametrize("example", examples.curated(), ids=lambda example: example.title)
def test_an_example_is_wired_to_the_boxes_and_to_its_view(open_app: Open, example: examples.Example):
    app = open_app(text="something else", hide="1")
    app.pills(key="attention_example").set_value(example.title).run()
    assert not app.exception
    assert app.text_input(key="attention_text").value == example.text
    assert app.text_input(key="attention_pair").value == example.pair
    assert app.session_state["attention_heads"] == list(example.heads)
    assert app.toggle(key="attention_words").value == example.words
    assert app.toggle(key="attention_hide").value is False
    assert example.notice in says(app)


@pytest.mark.parametrize("left", [{"heads": OTHER}, {"heads": f"{SHOWN}_{OTHER}"}, {"changes": f"off~{SHOWN}"}])
def test_words_about_a_view_that_was_left_say_so_and_offer_that_view_again(open_app: Open, left: dict):
    app = open_app(**left)
    assert app.pills(key="attention_example").value is None
    assert texts.HINT_ELSEWHERE.format(heads=WHERE, hint=FIRST.notice) in says(app)
    app.button(key="attention_example_again").click().run()
    assert app.pills(key="attention_example").value == FIRST.title
    assert f"**In {WHERE}:** {FIRST.notice}" in says(app)
    assert not [button for button in app.button if button.key == "attention_example_again"]
    assert app.query_params == {}


def test_words_about_a_view_stay_while_its_head_is_looked_at_in_another_way(open_app: Open):
    app = open_app(hide="1", words="1", show="lines", focus="2")
    assert app.pills(key="attention_example").value == FIRST.title
    assert HINT_ELSEWHERE not in says(app)


@pytest.mark.parametrize(
    "entry", json.loads((ROOT / "assets" / "examples" / "attention.json").read_text("utf-8")), ids=lambda entry: entry["title"]
)
def test_what_an_example_claims_is_true_of_the_embedded_model(entry: dict):
    run = catalogue.load(catalogue.DEFAULT).trace(entry["text"], entry["pair"])
    shown = views.view(run.attention, merge_words=entry["words"])
    weights = views.mean_of_heads(shown.weights, [(layer - 1, head - 1) for layer, head in entry["heads"]])
    for looking, looked_at, least in entry["links"]:
        query, key = shown.queries.index(looking), shown.keys.index(looked_at)
        assert weights[query, key] >= least
        assert weights[query].argmax() == key
        assert f"'{looking}'" in entry["notice"]
        assert f"'{looked_at}'" in entry["notice"]
    if entry["focus"] is not None:
        assert shown.queries[shown.row_of(entry["focus"] - 1)] == entry["links"][0][0]
    if "step" in entry:
        step, least = entry["step"]
        assert np.trace(weights, step) / len(weights) >= least
    if "special" in entry:
        assert (weights * shown.key_special).sum(1).mean() >= entry["special"]
    assert entry["links"] or "special" in entry
