"""Rank correlation by hand, and that arcs by effect and by mixing agree only roughly, as the start page says."""

import numpy as np
import pytest

from pages.ui.stage.browser_texts import ARC_AGREEMENT
from tx_core.engine import catalogue
from tx_core.training.evaluation.arc_agreement import agreement, rank_correlation

SENTENCES = ("Yesterday I [MASK] to school.", "She drank a cup of [MASK] every morning.", "The dog [MASK] at the old man.")


def test_ranks_correlate_as_by_hand():
    # ranks 1, 2.5, 2.5, 4 and 4, 2, 3, 1: deviations −1.5, 0, 0, 1.5 and 1.5, −.5, .5, −1.5
    by_hand = -4.5 / np.sqrt(4.5 * 5)
    assert rank_correlation(np.array([0.1, 5.0, 5.0, 9.0]), np.array([40.0, 2.0, 3.0, -1.0])) == pytest.approx(by_hand)
    assert rank_correlation(np.array([1.0, 2.0, 30.0]), np.array([0.1, 0.2, 0.3])) == pytest.approx(1)


def test_both_measures_agree_only_roughly():
    mean, low, high = ARC_AGREEMENT
    assert low < mean < high
    engine = catalogue.load(catalogue.DEFAULT, weights=True)
    found = [agreement(engine, text) for text in SENTENCES]
    assert all(0.1 < one < 0.8 for one in found)
    assert np.mean(found) == pytest.approx(mean, abs=0.2)
