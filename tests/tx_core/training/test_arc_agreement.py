"""That arcs by effect and by mixing agree only roughly, as the start page says."""

import re

import numpy as np
import pytest

from pages.ui.stage.browser_texts import ROUTES
from tx_core.engine import catalogue
from tx_core.training.evaluation.arc_agreement import agreement

SENTENCES = ("Yesterday I [MASK] to school.", "She drank a cup of [MASK] every morning.")


def test_both_measures_agree_only_roughly():
    mean, low, high = map(float, re.findall(r"0\.\d+", ROUTES["agreement"]))
    assert low < mean < high
    engine = catalogue.load(catalogue.DEFAULT, weights=True)
    found = [agreement(engine, text) for text in SENTENCES]
    assert all(0.1 < one < 0.8 for one in found)
    assert np.mean(found) == pytest.approx(mean, abs=0.2)
