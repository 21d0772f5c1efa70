"""The page of masks without a browser: what it computes is the model's, whatever the address or the text says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.masks import texts
from pages.masks.head import MADE
from pages.masks.inputs import MAX_PAINTED_TOKENS, mask_from_link, mask_to_link
from pages.ui.shell.numbers import NEARLY_UNCHANGED, small_number
from tests.support.staged import looked_at, stage_says, staged, staged_picture, staged_pictures, staged_steps
from tx_core.engine import catalogue
from tx_core.lessons import masking
from tx_core.training import future
from tx_core.training.stored import stored_future

SENTENCE = "She wants to buy a car."


def control(app, name: str) -> dict:
    return next(one for one in staged(app)["controls"] if one["name"] == name)


def test_the_scores_that_are_sent_are_those_of_the_chosen_head_and_the_rest_is_made_in_the_browser(open_app):
    app = open_app("masks", part="one", text=SENTENCE, kind="none", layer="3", head="5")
    header, matrices = staged_steps(app)
    trace = catalogue.load("embedded").trace(SENTENCE, keep=("scores",))
    tokens = trace.attention.query_tokens.tokens
    assert all(tuple(names) == tokens for names in header["names"])
    assert set(matrices) == {"scores"}
    assert {one["name"] for one in header["matrices"]} == {"scores", *MADE}
    np.testing.assert_allclose(matrices["scores"], trace.attention.scores[2, 4], atol=1e-5)
    assert header["masking"]["paintable"]
    assert not app.exception


@given(st.integers(1, MAX_PAINTED_TOKENS), st.integers(0, 10_000))
def test_a_painted_mask_comes_back_from_its_link(tokens, seed):
    mask = np.random.default_rng(seed).random((tokens, tokens)) > 0.5
    np.testing.assert_array_equal(mask_from_link(mask_to_link(mask)), mask)


@pytest.mark.parametrize("written", ["", "3", "3-", "0-AA", "99-AAAA", "3-v4", "3-v4AA", "3-v4A=", "3-%%%", "9" * 500])
def test_nonsense_in_a_link_is_refused(written):
    with pytest.raises(ValueError, match="must"):
        mask_from_link(written)


def test_why_the_future_is_hidden_opens_on_the_stored_training_at_any_of_its_moments(open_app):
    app = open_app("masks", part="why")
    untrained, records = stored_future()
    moments = [untrained, *(record.probe for record in records if record.probe)]
    assert dict(control(app, "moment")["options"]) == {str(one.batch): str(one.batch) for one in moments}
    losses = next(one for one in staged_pictures(app) if one["chart"]["kind"] == "lines")
    for row, name in enumerate(future.MASKS):
        means = np.array([record.values[name] for record in records]).reshape(-1, future.SHOWN_EVERY).mean(1)
        np.testing.assert_allclose(losses["values"][row], means, atol=1e-5)
    np.testing.assert_allclose(losses["values"][2], future.least_loss(), rtol=1e-6)
    for one in (moments[0], moments[2], moments[-1]):
        shown = looked_at(app, moment=str(one.batch))
        listing, *maps = (picture for picture in shown if picture["chart"]["kind"] != "lines")
        assert [tuple(row[1:]) for row in listing["chart"]["rows"]] == list(zip(*one.written.values(), strict=True))
        for drawn, name in zip(maps, future.MASKS, strict=True):
            np.testing.assert_allclose(drawn["values"], one.weights[name], atol=1e-6)
    said = stage_says(app)
    assert texts.LOSS_BELOW.split("{")[3].split("}")[1] in said
    assert "26 words" in said
    assert str(len(future.corpus())) in texts.WHY_FORMULA and f"{len(future.corpus()):,}" in texts.WHY_TEXT
    assert f"{future.least_loss():.2f}" in texts.WHY_FORMULA
    assert texts.UNTRAINED_LOSS in stage_says(app, moment="0")
    assert not app.exception


def test_a_padded_batch_is_proved_with_the_readers_two_sentences(open_app):
    first, second = "Rain fell.", "The old man bought a very big house."
    app = open_app("masks", part="batch", text=first, pair=second)
    pair = masking.padded_pair(catalogue.load("embedded"), first, second)
    change = staged_picture(app, texts.CHANGE_BY_TOKEN)
    np.testing.assert_allclose(change["values"], [pair.moved_masked, pair.moved_unmasked], rtol=1e-5, atol=1e-5)
    said = [small_number(max(moved)) for moved in change["values"]]
    assert all(one in change["sentence"] for one in (*said, NEARLY_UNCHANGED, texts.ALL_CHANGED))
    assert max(pair.moved_unmasked) > 0.1
    rows = staged_picture(app, texts.BATCH_TITLE)["chart"]["rows"]
    assert [row.count("[PAD]") > 3 for row in rows] == [True, False]
    app.text_input(key="masks_pair").set_value("Snow fell.").run()
    (batch,) = staged_pictures(app)
    assert batch["sentence"] == texts.NO_PADDING
