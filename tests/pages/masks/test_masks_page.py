"""The page of masks without a browser: what it computes is the model's, whatever the address or the text says."""

import math

import numpy as np
import pytest
import torch

from pages.masks import texts
from pages.masks.masked_head import DRAWN, KINDS
from pages.masks.whole_run import PADDING, RUN_CHANGES, count_changed
from pages.ui.canvas.mask_grid import mask_to_link
from pages.ui.shell.frame import HEADINGS
from pages.ui.shell.numbers import UNCHANGED, UNCHANGED_BUT_ROUNDING, small_number, weight
from tests.support.drawings import problems, says
from tests.support.drawn_bars import drawn_bars
from tests.support.drawn_matrices import panels
from tests.support.page_html import preformatted
from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.lessons import masking

SENTENCE = "She wants to buy a car."


def test_the_scores_and_weights_are_those_of_the_chosen_head(open_app):
    app = open_app("masks", part="one", text=SENTENCE, kind="none", layer="3", head="5")
    header, matrices = panels(app)
    trace = catalogue.load("embedded").trace(SENTENCE, keep=("scores", "weights"))
    assert tuple(header["rows"]) == trace.attention.query_tokens.tokens
    np.testing.assert_allclose(matrices[texts.SCORES_BEFORE], trace.attention.scores[2, 4], atol=1e-5)
    np.testing.assert_allclose(matrices[texts.WEIGHTS_AFTER], trace.attention.weights[2, 4], atol=1e-6)
    assert not app.exception


@pytest.mark.parametrize("kind", ["causal", "padding", "combined", "window"])
def test_a_mask_gives_exact_zeros_where_it_forbids_and_rows_that_sum_to_one(open_app, kind):
    header, matrices = panels(open_app("masks", part="one", text=SENTENCE, kind=kind, padding="3", width="2"))
    forbidden = matrices[texts.MASK_TITLE] == 0
    assert header["rows"][-3:] == ["[PAD]"] * 3
    assert forbidden.any()
    assert (matrices[texts.WEIGHTS_AFTER][forbidden] == 0).all()
    assert np.isneginf(matrices[texts.SCORES_AFTER][forbidden]).all()
    np.testing.assert_allclose(matrices[texts.WEIGHTS_AFTER].sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(matrices[texts.CHANGE], matrices[texts.WEIGHTS_AFTER] - matrices[texts.WEIGHTS_BEFORE], atol=1e-6)


def test_a_painted_mask_of_another_sentence_is_carried_over_and_its_empty_row_gets_zeros(open_app):
    painted = np.ones((6, 6), bool)
    painted[2] = False
    app = open_app("masks", part="one", text="the cat sat", kind="painted", mask=mask_to_link(painted))
    header, matrices = panels(app)
    assert header["rows"] == ["[CLS]", "the", "cat", "sat", "[SEP]"]
    np.testing.assert_array_equal(matrices[texts.MASK_TITLE], painted[:5, :5])
    assert (matrices[texts.WEIGHTS_AFTER][2] == 0).all()
    assert texts.EMPTY_ROW.format(token="cat", row=3) in says(app)


def test_every_mask_of_the_core_is_offered_and_one_drawn_by_hand():
    assert sorted(KINDS) == sorted([*masking.MASK_KINDS, DRAWN])


def test_a_padded_batch_is_proved_with_the_readers_two_sentences(open_app):
    app = open_app("masks", part="batch", text="Rain fell.", pair="The old man bought a very big house.")
    masked, unmasked = (metric.value for metric in app.metric)
    assert "10⁻" in masked
    assert float(unmasked) > 0.1
    assert [metric.delta for metric in app.metric] == [UNCHANGED_BUT_ROUNDING, texts.ALL_CHANGED]
    rows = preformatted(app)[-1].splitlines()
    assert [row.split().count("[PAD]") > 3 for row in rows] == [True, False]
    assert "[CLS]" in rows[0]
    app.toggle(key="masks_nospecial").set_value(True).run()
    assert "[CLS]" not in preformatted(app)[-1] and "[PAD]" in preformatted(app)[-1]
    app.text_input(key="masks_pair").set_value("Snow fell.").run()
    assert texts.NO_PADDING in says(app)
    assert not app.metric


@pytest.mark.parametrize(
    ("by_token", "told"),
    [
        ([0.2, 0.3], texts.ALL_CHANGED),
        ([0.2, 1e-6, 0.3], texts.SOME_CHANGED.format(changed=2, tokens=3)),
        ([1e-6, 0.0], UNCHANGED_BUT_ROUNDING),
        ([0.0, 0.0], UNCHANGED),
    ],
)
def test_only_what_moved_by_more_than_rounding_is_counted_as_moved(by_token, told):
    assert count_changed(by_token) == told


@pytest.mark.parametrize("text", ["   ", "cat " * 200])
@pytest.mark.parametrize("part", texts.PARTS)
def test_a_text_that_cannot_be_read_is_explained_and_kept(open_app, part, text):
    app = open_app("masks", part=part, text=text)
    assert HEADINGS[TextProblem] in problems(app)
    assert app.text_input(key="masks_text").value == text
    assert not app.exception


def test_a_long_sentence_is_shown_but_not_painted(open_app):
    header, _ = panels(open_app("masks", part="one", text="cat " * 60))
    assert len(header["rows"]) > 60
    assert not header["paintable"]


BLANK = "Yesterday the children [MASK] to school by bus."


@pytest.mark.parametrize(("name", "special"), [("padding", True), ("causal", False)])
def test_the_prediction_before_and_after_a_change_of_the_whole_model_is_the_engines(open_app, name, special):
    app = open_app("masks", part="batch", blank=BLANK, run=name, nospecial=str(int(not special)))
    engine = catalogue.load("embedded", special_tokens=special)
    row = engine.encode(BLANK)
    plain, changed = engine.blank_logits([row, row], interventions=[(), (RUN_CHANGES[name],)]).rows
    shares = [torch.tensor(logits[0]).double().softmax(-1) for logits in (plain, changed)]
    (chart,) = drawn_bars(app)
    ids = [engine.tokenizer.entry(word) for word in chart["labels"]]
    assert set(shares[1].topk(4).indices.tolist()) <= set(ids)
    np.testing.assert_allclose(chart["before"], shares[0][ids], atol=1e-6)
    np.testing.assert_allclose(chart["after"], shares[1][ids], atol=1e-6)


@pytest.mark.parametrize(("name", "same"), [("causal", True), (None, False)])
def test_under_a_causal_mask_what_stands_right_of_the_blank_changes_no_prediction(name, same):
    engine, changes = catalogue.load("embedded"), [RUN_CHANGES[name]] if name else []
    one, other = (
        engine.blank_logits([engine.encode(text)], interventions=[changes]).rows[0]
        for text in (BLANK, "Yesterday the children [MASK] a very good book.")
    )
    assert (abs(one - other).max() < 1e-4) == same


def test_without_positions_another_order_of_the_words_changes_no_prediction():
    engine = catalogue.load("embedded")
    rows = [engine.encode(text) for text in (BLANK, "[MASK] bus to yesterday by school children the.")]
    one, other = (engine.blank_logits([row], interventions=[[RUN_CHANGES["positions"]]]).rows[0] for row in rows)
    np.testing.assert_allclose(one, other, atol=1e-3)


def test_what_the_padding_takes_is_what_the_rows_lack(open_app):
    trace = catalogue.load("embedded").trace(BLANK, interventions=[RUN_CHANGES["padding"]])
    lacking = 1 - trace.attention.weights.sum(-1).mean()
    assert 0.1 < lacking < 0.3
    app = open_app("masks", part="batch", blank=BLANK, run="padding")
    assert texts.PADDING_TAKES.format(share=weight(lacking), padding=PADDING) in says(app)


@pytest.mark.parametrize("text", ["No blank here.", "[MASK] " * 200])
def test_a_sentence_without_a_blank_is_explained(open_app, text):
    app = open_app("masks", part="batch", blank=text)
    assert not app.exception
    assert HEADINGS[TextProblem] in problems(app)
    assert len(app.metric) == 2  # the padded batch is there all the same


@pytest.mark.parametrize(
    ("link", "part"),
    [({}, "batch"), ({"text": SENTENCE}, "batch"), ({"kind": "window"}, "one"), ({"layer": "2", "text": SENTENCE}, "one")],
)
def test_a_link_without_a_part_opens_the_part_that_it_is_about(open_app, link, part):
    assert open_app("masks", **link).segmented_control(key="masks_part").value == part


def test_a_row_of_minus_infinity_would_be_not_a_number_and_spread_to_every_token():
    assert torch.full((1, 5), -torch.inf).softmax(-1).isnan().all()
    model = catalogue.load("embedded").model
    with torch.inference_mode():
        hidden = model(torch.tensor([[2, 7, 9, 3]]), keep=("hidden",)).hidden[1].clone()
        hidden[0, 2] = torch.nan
        assert model.encoder.blocks[1](hidden)[0].isnan().all()


def test_e_to_the_power_of_minus_10_000_is_as_the_formula_says():
    assert texts.PENALTY_FORMULA.endswith(f"10^{{{round(-10_000 / math.log(10))}}}")


def test_the_words_below_the_penalty_are_its_numbers(open_app):
    app = open_app("masks", part="penalty", text=SENTENCE, kind="causal", penalty="-2", layer="2", head="3")
    scores = torch.tensor(catalogue.load("embedded").trace(SENTENCE, keep=("scores",)).attention.scores[1, 2])
    future = torch.ones_like(scores).triu(1).bool()
    penalised = (scores - 2.0 * future).softmax(-1)
    masked = scores.masked_fill(future, -torch.inf).softmax(-1)
    leak, apart = (penalised * future).sum(-1).max(), (penalised - masked).abs().max()
    assert [metric.value for metric in app.metric[:2]] == [small_number(float(leak)), small_number(float(apart))]


def test_the_blank_is_a_token_and_no_ban(open_app):
    """Every token attends to [MASK] in every head; where a mask forbids it, the weight is exactly 0."""
    engine = catalogue.load("embedded")
    plain, causal = engine.trace(BLANK), engine.trace(BLANK, interventions=[RUN_CHANGES["causal"]])
    (blank,) = plain.attention.query_tokens.blanks
    assert plain.attention.weights[..., blank].min() > 0
    assert causal.attention.weights[:, :, :blank, blank].max() == 0
    assert causal.attention.weights[:, :, blank:, blank].min() > 0
    assert texts.RUN_TEXT in [markdown.value for markdown in open_app("masks").markdown]
