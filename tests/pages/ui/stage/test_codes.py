"""A browser is sent the tensor's own numbers, to three decimals, and small pictures of all heads."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pages.ui.stage.view_options import SCALES
from tests.support.drawings import unpacked
from tx_core.analysis.packing import codes, join, thumbnails
from tx_core.settings import ASSETS


def unpack(message: bytes) -> tuple[dict, np.ndarray]:
    header, cells = unpacked(message)
    return header, np.frombuffer(cells, dtype="<u2")


@given(arrays.arrays(np.float32, (3, 5), elements=st.floats(0, 1, width=32)))
def test_a_weight_prints_the_same_three_decimals_after_the_journey(weights):
    _, sent = unpack(join({}, [codes(weights)]))
    received = (sent.astype(np.float64) / 65535) ** 2
    assert [f"{value:.3f}" for value in received] == [f"{value:.3f}" for value in weights.ravel()]
    assert np.abs(received - weights.ravel()).max() <= 3.1e-5


def test_a_weight_a_hair_above_one_is_one_and_nan_is_refused():
    assert codes(np.array([[1.0000001, -1e-9]], np.float32)).tolist() == [[65535, 0]]
    with pytest.raises(ValueError, match="NaN"):
        codes(np.array([[np.nan, 0.5]], np.float32))
    with pytest.raises(ValueError, match="NaN"):
        thumbnails(np.full((1, 1, 2, 2), np.nan, np.float32))


def test_a_thumbnail_of_a_long_sentence_shows_the_strongest_weight_of_every_block():
    weights = np.zeros((1, 1, 50, 77), np.float32)
    weights[0, 0, 49, 76] = 1.0
    weights[0, 0, 0, 30] = 0.25
    small = thumbnails(weights)[0, 0]
    assert small.shape == (24, 24)
    assert small[23, 23] == 255
    assert small[0].max() == 128
    assert (small > 0).sum() == 2


def lightness(colours: np.ndarray) -> np.ndarray:
    linear = np.where(colours <= 0.04045 * 255, colours / 255 / 12.92, ((colours / 255 + 0.055) / 1.055) ** 2.4)
    luminance = linear @ (0.2126, 0.7152, 0.0722)
    return np.where(luminance > 216 / 24389, 116 * np.cbrt(luminance) - 16, luminance * 24389 / 27)


def test_the_lightness_of_every_colour_scale_runs_one_way_from_end_to_end():
    source = (ASSETS / "canvas/core/palette.js").read_text("utf-8").partition("const SIZE")[0]
    scales = re.findall(r"\[(\"#[^\]]*)\]", source)
    assert len(scales) > len(SCALES)
    for scale in scales:
        stops = np.array(
            [[int(colour[place : place + 2], 16) for place in (0, 2, 4)] for colour in re.findall(r"#(\w{6})", scale)]
        )
        places = np.linspace(0, len(stops) - 1, 256)
        table = np.stack([np.interp(places, range(len(stops)), channel) for channel in stops.T], axis=1)
        steps = np.diff(lightness(table))
        assert (steps > 0).all() or (steps < 0).all(), scale
