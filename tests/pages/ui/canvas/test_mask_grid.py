"""Matrices side by side: what the canvas is sent."""

import numpy as np
import pytest

from pages.ui.canvas import mask_grid
from pages.ui.canvas.mask_grid import Heatmap
from tests.support.drawings import unpacked


def test_the_canvas_is_sent_labels_and_the_numbers_themselves(monkeypatch):
    sent = {}
    monkeypatch.setattr(mask_grid, "component", lambda *_, **__: lambda **given: sent.update(given))
    cells = np.array([[0.25, -np.inf], [1.5, -2.0]], np.float32)
    mask = np.array([[True, False], [True, True]])
    shown = [Heatmap("Mask", "mask", mask, "told"), Heatmap("Scores", "signed", cells, "told", limit=2.0)]
    mask_grid.matrices(["a", "<b>"], ["a", "<b>"], shown, key="x")
    header, received = unpacked(sent["data"])
    numbers = np.frombuffer(received, "<f4").reshape(2, 2, 2)
    assert (header["rows"], header["square"]) == (["a", "<b>"], True)
    assert [panel["title"] for panel in header["panels"]] == ["Mask", "Scores"]
    np.testing.assert_array_equal(numbers, [mask.astype(np.float32), cells])


def test_cells_that_fit_no_labels_are_refused():
    with pytest.raises(ValueError, match="must be 2 × 3, got .3, 2. for Scores"):
        mask_grid.matrices("ab", "cde", [Heatmap("Scores", "signed", np.zeros((3, 2)), "told")], key="x")
