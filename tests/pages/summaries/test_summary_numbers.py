"""Every number of a summary is the core's: rollout, values, similarity, logit lens, attribution."""

import json

import numpy as np
import pytest

from pages.summaries import texts
from pages.summaries.attribution import describe_agreement
from pages.summaries.logit_lens import describe_answer
from pages.ui.panels.tokens import numbered_tokens
from tests.support.drawings import says
from tests.support.drawn_matrices import panels
from tx_core.analysis.attribution import attribute
from tx_core.analysis.logit_lens import logit_lens
from tx_core.analysis.rollout import TOO_LONG_FOR_FLOW, flow, rollout
from tx_core.analysis.similarity import head_similarity, most_similar_heads
from tx_core.analysis.value_weighted import row_shares, value_weighted
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict

PAGE = "summaries"
TEXT = "She [MASK] the letter, and then the [MASK] came."


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


@pytest.fixture(scope="module")
def stack(engine):
    return engine.trace(TEXT, keep=("weights", "value")).attention


def test_the_layers_are_drawn_as_rollout_and_flow_have_them(open_app, stack):
    app = open_app(PAGE, text=TEXT, part="layers", token="5")
    assert not app.exception
    header, shown = panels(app)
    assert header["columns"] == list(stack.query_tokens.tokens)
    np.testing.assert_allclose(shown[texts.IN_LAYER], stack.weights[:, :, 4].mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(shown[texts.ROLLED], rollout(stack.weights)[:, 4], atol=1e-6)
    np.testing.assert_allclose(shown[texts.FLOW], row_shares(flow(stack.weights, 4)), atol=1e-6)
    assert len({panel["limit"] for panel in header["panels"]}) == 1


@pytest.mark.parametrize(("part", "key"), [("layers", "layers_numbers"), ("alike", "alike_numbers"), ("owed", "owed_numbers")])
def test_every_chart_has_its_numbers_in_a_table(open_app, engine, stack, part: str, key: str):
    app = open_app(PAGE, text=TEXT, part=part)
    app.session_state[f"{PAGE}_{key}"] = True
    table = app.run().dataframe[-1].value
    assert not app.exception
    if part == "layers":
        flat = rollout(stack.weights)[:, stack.query_tokens.blanks[0]].ravel()
        np.testing.assert_allclose(table[texts.ROLLED], flat, atol=1e-4)
    elif part == "alike":
        similar = head_similarity(stack.weights)[0 * engine.info.num_heads + 1]
        np.testing.assert_allclose(table[texts.SIMILARITY_TO_CHOSEN], similar, atol=1e-4)
    else:
        weights = stack.weights[:, :, stack.query_tokens.blanks[0]].mean(axis=(0, 1))
        np.testing.assert_allclose(table[texts.BLANK_ATTENTION], weights, atol=1e-4)


def test_a_text_too_long_for_flow_still_shows_rollout_and_says_why(open_app, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tx_core.analysis.rollout.MAX_FLOW_EDGES", 1000)
    app = open_app(PAGE, text="A long and winding road to nowhere.", part="layers")
    assert not app.exception
    assert list(panels(app)[1]) == [texts.IN_LAYER, texts.ROLLED]
    assert TOO_LONG_FOR_FLOW.partition("{")[0] in says(app)


def test_a_heads_weights_stand_beside_what_it_adds(open_app, engine, stack):
    app = open_app(PAGE, text=TEXT, part="values", heads="2-7")
    assert not app.exception
    weights, own, together = panels(app)[1].values()
    found = value_weighted(engine, stack, 1)
    np.testing.assert_allclose(weights, stack.weights[1, 6], atol=1e-6)
    np.testing.assert_allclose(own, row_shares(found.mixed[6]), atol=1e-6)
    np.testing.assert_allclose(together, row_shares(found.together), atol=1e-6)
    assert f"({found.values[6].max():.2f})" in says(app)


def test_the_nearest_heads_are_named(open_app, engine, stack):
    app = open_app(PAGE, text=TEXT, part="alike", heads="1-4")
    assert not app.exception
    near = most_similar_heads(head_similarity(stack.weights), 3, 5)
    named = [f"Layer {other // engine.info.num_heads + 1}, head {other % engine.info.num_heads + 1}" for other, _ in near]
    table = app.dataframe[0].value
    assert list(table["head"]) == named
    np.testing.assert_allclose(table[texts.SIMILARITY_COLUMNS[-1]], [share for _, share in near], atol=6e-4)


def test_the_lens_ends_with_the_models_own_answer(open_app, engine):
    app = open_app(PAGE, text=TEXT, part="lens")
    assert not app.exception
    trace = engine.trace(TEXT, keep=("hidden",))
    found = logit_lens(engine, trace, trace.attention.query_tokens.blanks[0])
    table = app.dataframe[0].value
    assert [cell.rsplit(" ", 2)[0] for cell in table.iloc[-1, :5]] == list(found.words[-1])
    assert [int(rank.replace(",", "")) for rank in table[texts.FINAL_RANK]] == found.rank.tolist()
    token = numbered_tokens(trace.attention.query_tokens.tokens)[found.place]
    assert describe_answer(found, token, predicts_next=False) in says(app)


def test_attention_and_gradients_of_the_chosen_answer_at_the_chosen_blank(open_app, engine, stack):
    filling = predict(engine, TEXT, top_k=5)
    second = filling.blanks[1]
    app = open_app(PAGE, text=TEXT, part="owed", token=str(second.place + 1), rank="3")
    assert not app.exception
    found = attribute(engine, filling.encoding, second.place, second.predictions[2].id)
    charts = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    weights = stack.weights[:, :, second.place].mean(axis=(0, 1))
    for chart, meant in zip(charts, (weights, found.gradient_input, found.integrated), strict=True):
        np.testing.assert_allclose(chart["data"][0]["x"], meant, atol=1e-4)
    assert describe_agreement(found, weights) in says(app)
