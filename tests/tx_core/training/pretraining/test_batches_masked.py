"""Words to guess, and the schedule: shares, whole words, lines that rise and fall."""

import numpy as np
import pytest

from tx_core.training.pretraining.batches import continuing_pieces, mask_words
from tx_core.training.pretraining.settings import MaskingSettings, ScheduleSettings
from tx_core.training.pretraining.training import (
    batches_to_an_update,
    learning_rate,
    mask_rate,
    rate_after_freeze,
    training_progress,
)
from tx_core.training.pretraining.vocabulary import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL_TOKENS

PIECES = [*SPECIAL_TOKENS, *(f"word{n}" for n in range(40)), *(f"##end{n}" for n in range(15))]
CONTINUES = continuing_pieces(PIECES)


def texts(rows=400, seed=0):
    """Rows of [CLS], two-piece and one-piece words, [SEP], padding."""
    chance = np.random.default_rng(seed)
    words = chance.integers(5, 45, (rows, 12))
    ends = chance.integers(45, 60, (rows, 6))
    body = np.empty((rows, 18), dtype=np.int64)
    body[:, 0::3], body[:, 1::3], body[:, 2::3] = words[:, :6], ends, words[:, 6:]
    edge = np.ones((rows, 1), dtype=np.int64)
    return np.concatenate((edge * CLS_ID, body, edge * SEP_ID, edge * PAD_ID), axis=1)


def masked(rate=0.2, **settings):
    ids = texts()
    return ids, mask_words(ids, CONTINUES, rate, MaskingSettings(**settings), np.random.default_rng(7))


@pytest.mark.parametrize("rate", [0.15, 0.4])
def test_the_share_of_chosen_pieces_is_the_rate(rate):
    ids, result = masked(rate)
    assert result.chosen.sum() / (400 * 18) == pytest.approx(rate, abs=0.025)
    assert ids.shape == result.ids.shape


def test_marks_and_padding_are_never_chosen():
    ids, result = masked(0.9)
    assert not result.chosen[np.isin(ids, (CLS_ID, SEP_ID, PAD_ID))].any()


def test_all_pieces_of_a_word_are_chosen_together():
    ids, result = masked(0.3)
    goes_on = CONTINUES[ids]
    assert (result.chosen[:, 1:][goes_on[:, 1:]] == result.chosen[:, :-1][goes_on[:, 1:]]).all()


def test_every_example_has_a_word_to_guess():
    _, result = masked(0.001)
    assert result.chosen.any(axis=1).all()


def test_of_the_chosen_eight_tenths_are_blanked_and_one_tenth_replaced():
    ids, result = masked(0.5)
    shown, original = result.ids[result.chosen], ids[result.chosen]
    assert (shown == MASK_ID).mean() == pytest.approx(0.8, abs=0.02)
    assert ((shown != MASK_ID) & (shown != original)).mean() == pytest.approx(0.1, abs=0.02)
    assert (result.ids == ids)[~result.chosen].all()
    assert shown[shown != MASK_ID].min() >= len(SPECIAL_TOKENS)


def test_shares_are_a_setting():
    _, result = masked(0.5, blanked=1.0, replaced=0.0)
    assert (result.ids[result.chosen] == MASK_ID).all()
    with pytest.raises(ValueError, match="sum to 1 at most"):
        MaskingSettings(blanked=0.9, replaced=0.2)


def test_the_rate_rises_to_its_peak_and_falls_to_nothing():
    settings = ScheduleSettings(steps=100, peak_rate=2e-3, warm_up=0.1)
    assert learning_rate(settings, 0.05) == pytest.approx(1e-3)
    assert learning_rate(settings, 0.1) == pytest.approx(2e-3)
    assert learning_rate(settings, 0.55) == pytest.approx(1e-3)
    assert learning_rate(settings, 1.0) == 0
    assert learning_rate(settings, 0.0) > 0


def test_the_rate_rises_once_more_when_held_weights_are_let_go():
    settings = ScheduleSettings(steps=100, warm_up=0.1, freeze_old=0.3)
    shares = [rate_after_freeze(settings, done) / learning_rate(settings, done) for done in (0.05, 0.29, 0.3, 0.35, 0.4, 0.9)]
    assert shares == pytest.approx([1, 1, 1e-3, 0.5, 1, 1])
    for never in (ScheduleSettings(steps=100, warm_up=0.1, freeze_old=0.0), ScheduleSettings(steps=100, warm_up=0.0)):
        for done in (0.0, 0.05, 0.3):
            assert rate_after_freeze(never, done) == learning_rate(never, done)


def test_the_end_comes_by_steps_or_by_time():
    assert training_progress(ScheduleSettings(steps=50), step=25, seconds=1e9) == 0.5
    assert training_progress(ScheduleSettings(minutes=10.0), step=10**9, seconds=150.0) == 0.25
    with pytest.raises(ValueError, match="steps or minutes above 0"):
        ScheduleSettings(steps=0, minutes=0.0)


def test_fewer_blanks_and_larger_batches_late_in_the_run():
    assert mask_rate(MaskingSettings(rate=0.3, final_rate=0.1), 0.5) == pytest.approx(0.2)
    settings = ScheduleSettings(steps=1, accumulate=2, grown=5, grow_after=0.6)
    assert [batches_to_an_update(settings, done) for done in (0.0, 0.59, 0.6, 1.0)] == [2, 2, 5, 5]
