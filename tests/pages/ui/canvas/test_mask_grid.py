"""Matrices side by side: what the canvas is sent, and a painted mask from anything a browser or a link may say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.canvas import mask_grid
from pages.ui.canvas.mask_grid import MAX_PAINTED_TOKENS, Heatmap, mask_from_link, mask_to_link, parse_mask
from tests.support.drawings import unpacked


@given(st.integers(1, MAX_PAINTED_TOKENS), st.integers(0, 10_000))
def test_a_painted_mask_comes_back_from_its_link(tokens, seed):
    mask = np.random.default_rng(seed).random((tokens, tokens)) > 0.5
    np.testing.assert_array_equal(mask_from_link(mask_to_link(mask)), mask)


def test_the_largest_mask_fits_a_link():
    assert len(mask_to_link(np.ones((MAX_PAINTED_TOKENS, MAX_PAINTED_TOKENS), bool))) < 200


def test_bits_of_the_browser_are_the_rows_of_the_mask():
    assert parse_mask("100110111", 3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


@pytest.mark.parametrize("value", [None, 7, "", "10011011", "10011011x", "1001101111", ["1"] * 9, "１００１１０１１１"])
def test_nonsense_of_the_browser_is_no_mask(value):
    assert parse_mask(value, 3) is None


def test_no_mask_is_read_for_more_tokens_than_can_be_painted():
    tokens = MAX_PAINTED_TOKENS + 1
    assert parse_mask("1" * tokens**2, tokens) is None


@pytest.mark.parametrize("written", ["", "3", "3-", "0-AA", "99-AAAA", "3-v4", "3-v4AA", "3-v4A=", "3-%%%", "9" * 500])
def test_nonsense_in_a_link_is_refused(written):
    with pytest.raises(ValueError, match="must"):
        mask_from_link(written)


def test_the_canvas_is_sent_labels_and_the_numbers_themselves(monkeypatch):
    sent = {}
    monkeypatch.setattr(mask_grid, "component", lambda *_, **__: lambda **given: sent.update(given))
    cells = np.array([[0.25, -np.inf], [1.5, -2.0]], np.float32)
    mask = np.array([[True, False], [True, True]])
    shown = [Heatmap("Mask", "mask", mask, "told"), Heatmap("Scores", "signed", cells, "told", limit=2.0)]
    mask_grid.matrices(["a", "<b>"], ["a", "<b>"], shown, key="x")
    header, received = unpacked(sent["data"])
    numbers = np.frombuffer(received, "<f4").reshape(2, 2, 2)
    assert (header["rows"], header["square"], header["paintable"]) == (["a", "<b>"], True, False)
    assert [panel["title"] for panel in header["panels"]] == ["Mask", "Scores"]
    np.testing.assert_array_equal(numbers, [mask.astype(np.float32), cells])


def test_cells_that_fit_no_labels_are_refused():
    with pytest.raises(ValueError, match="must be 2 × 3, got .3, 2. for Scores"):
        mask_grid.matrices("ab", "cde", [Heatmap("Scores", "signed", np.zeros((3, 2)), "told")], key="x")
