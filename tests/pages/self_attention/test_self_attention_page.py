"""The page of self-attention: what is drawn is what `attend` computes, for every switch, and a link brings it back."""

import math

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from pages.self_attention import texts
from pages.self_attention.inputs import read_number, read_table, write_table
from pages.ui.shell.numbers import small_number
from tests.support.staged import staged, staged_steps
from tx_core.lessons import key_value
from tx_core.lessons.key_value_store import Store
from tx_core.lessons.self_attention import head_projections, random_projections
from tx_core.transformer.attention import NORMALISE, attend, causal_mask

PAGE = "self_attention"
TEXT = "time flies like an arrow"


def address(app: AppTest) -> dict[str, str]:
    return staged(app)["address"]["own"]


def value_of(app: AppTest, name: str) -> str:
    return next(control["value"] for control in staged(app)["controls"] if control["name"] == name)


def notes(app: AppTest) -> str:
    return staged_steps(app)[0]["sentence"]


def test_the_page_opens_on_a_head_that_looks_by_content_and_not_by_position(open_app, engine):
    app = open_app(PAGE)
    text = app.text_input(key=f"{PAGE}_text").value
    layer, head = (int(value_of(app, name)) - 1 for name in ("layer", "head"))
    stack = engine.trace(text).attention
    weights, tokens = stack.weights[layer, head], stack.query_tokens.tokens
    links = {("the", "boy"): 1, ("very", "book"): 2, ("a", "book"): 3, ("read", "book"): 4}
    for (query, key), offset in links.items():
        assert tokens.index(key) - tokens.index(query) == offset
        assert weights[tokens.index(query)].argmax() == tokens.index(key)
        assert weights[tokens.index(query), tokens.index(key)] > 0.7


@pytest.mark.parametrize(
    ("weights", "unscaled", "causal", "normalise"), [("trained", True, True, "sparsemax"), ("random", False, False, "hardmax")]
)
def test_under_every_switch_the_numbers_drawn_are_those_of_attend(open_app, engine, weights, unscaled, causal, normalise):
    asked = {"text": TEXT, "weights": weights, "layer": "2", "head": "3", "seed": "5", "normalise": normalise}
    app = open_app(PAGE, **asked, unscaled=str(int(unscaled)), causal=str(int(causal)))
    assert not app.exception
    header, matrices = staged_steps(app)
    vectors = torch.tensor(engine.trace(TEXT, keep=("hidden",)).hidden[1])
    query, key, value = projected(engine, vectors, weights)
    scale = 1.0 if unscaled else 1 / math.sqrt(query.shape[1])
    mask = causal_mask(len(query)) if causal else None
    expected = attend(query, key, value, mask, scale=scale, normalise=NORMALISE[normalise])
    for name, values in {"scores": expected.scores, "weights": expected.weights, "context": expected.context}.items():
        # The vectors of two runs were 2e-6 apart, and scores that are not scaled, which reach 25, 1.1e-5.
        np.testing.assert_allclose(matrices[name], values.numpy(), rtol=1e-5, atol=1e-5 * max(1, values.abs().max()))
    np.testing.assert_allclose(matrices["matches"], (query @ key.T).numpy(), rtol=1e-5, atol=1e-4)
    assert np.isneginf(matrices["masked"]).sum() == (21 if causal else 0)
    assert {name for step in header["steps"] for name in step["makes"]} == {
        one["name"] for one in header["matrices"] if one["shown"]
    }
    kinds = {"hardmax": texts.HARD, "sparsemax": texts.NOT_SOFT.partition("{")[0]}
    assert [kind for kind, note in kinds.items() if note in notes(app)] == [kind for kind in kinds if kind == normalise]


def projected(engine, vectors, weights):
    of_head = head_projections(engine.model.encoder.blocks[1].attention, 2)
    parts = of_head if weights == "trained" else random_projections(256, 32, 5)
    biases = (parts.query_bias, parts.key_bias, parts.value_bias)
    matrices = (parts.query, parts.key, parts.value)
    return (vectors @ matrix + (0 if bias is None else bias) for matrix, bias in zip(matrices, biases, strict=True))


def test_without_projections_there_are_none_and_the_measured_share_is_reported(open_app, engine):
    app = open_app(PAGE, text=TEXT, weights="none", layer="1")
    header, matrices = staged_steps(app)
    assert [one["name"] for one in header["matrices"]] == ["vectors", "matches", "scores", "masked", "weights", "context"]
    itself = int((matrices["matches"].argmax(1) == np.arange(7)).sum())
    share = small_number(float(matrices["weights"].diagonal().mean()))
    assert texts.NO_PROJECTIONS.format(share=share, itself=itself, tokens=7) in notes(app)
    assert "X X^{\\top}" in app.latex[0].value
    vectors = engine.trace(TEXT, keep=("hidden",)).hidden[0].astype(np.float64)
    squares, sums = (vectors**2).sum(axis=-1), (vectors @ vectors.T).sum(axis=-1)
    ends = {"least": squares.min(), "most": squares.max(), "least_sum": sums.min(), "most_sum": sums.max()}
    assert texts.RAW_PRODUCTS.format(normaliser="Softmax", **ends).replace("-", "−") in notes(app)
    assert squares.min() > 2 and abs(sums - 1).min() > 1


def test_the_preset_queries_return_the_founding_figures(open_app):
    app = open_app(PAGE, q1="2")
    for query, result in {(0, 10, 0): (10, 0, 0), (0, 0, 10): (550, 5.5, 0), (10, 10, 0): (5.5, 0, 0)}.items():
        next(button for button in app.button if button.label == str(query)).click().run()
        np.testing.assert_allclose(staged_steps(app, 1)[1]["result"], [result], atol=0.01)
        numbers = ", ".join(f"{number:g}" for number in result)
        assert any(markdown.value.startswith(texts.FOUND.split("{")[0] + numbers) for markdown in app.markdown)


def test_an_edited_store_comes_back_from_its_link(open_app):
    table = (((1.5, 0, -2), (3, 4, 5)), ((0, 1, 0), (0.25, 1e-3, 10_000)))
    app = open_app(PAGE, text=TEXT, store=write_table(table), q1="2", q2="0", q3="0")
    assert not app.exception
    assert read_table(address(app)["store"]) == table
    store = Store(tuple(row[0] for row in table), tuple(row[1] for row in table))
    np.testing.assert_array_equal(staged_steps(app, 1)[1]["result"], key_value.look_up(store, (2.0, 0.0, 0.0)).result.numpy())


def test_a_store_or_a_query_that_makes_no_sense_is_refused():
    table = ("", "1_2_3", "1_2_3_4_5_x", "nan_0_0_0_0_0", "1e5_0_0_0_0_0", "inf_0_0_0_0_0", "~", "~".join(["1_2_3_4_5_6"] * 13))
    number = ("nan", "inf", "10001", "x", "")
    for read, written in [*((read_table, one) for one in table), *((read_number, one) for one in number)]:
        with pytest.raises(ValueError):  # noqa: PT011
            read(written)


def test_a_link_looks_at_its_step_and_cell(open_app):
    link = {"cell": "context-2-3", "matrices": "all", "numbers": "1", "answer": "weights-1-2"}
    assert staged(open_app(PAGE, text=TEXT, **link))["view"] == link | {"dimensions": "6"}
    assert staged(open_app(PAGE))["address"]["isFirst"]
