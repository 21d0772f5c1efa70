"""A browser is sent the tensor's own numbers, and nothing that it or a link sends back is believed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pages.ui.stage.packing import codes, pack, thumbnails
from pages.ui.stage.view_options import heads_from_link, heads_to_link, parse_heads, parse_token, token_from_link, token_to_link
from tests.support.drawings import unpacked

LAYERS, HEADS = 2, 3
HOSTILE = ["</script><img src=x onerror=alert(1)>", "\x00", "שלום", "👩‍👩‍👧", "\ud800", "\u202e\u2028", '"\\', ""]


def unpack(message: bytes) -> tuple[dict, np.ndarray]:
    header, cells = unpacked(message)
    return header, np.frombuffer(cells, dtype="<u2" if header["bits"] == 16 else "u1")


def attention(*sizes: int) -> np.ndarray:
    scores = np.random.default_rng(1).normal(0, 3, sizes)
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    return shares.astype(np.float32)


@given(arrays.arrays(np.float32, (3, 5), elements=st.floats(0, 1, width=32)))
def test_a_weight_prints_the_same_three_decimals_after_the_journey(weights):
    _, sent = unpack(pack({}, codes(weights)))
    received = (sent.astype(np.float64) / 65535) ** 2
    assert [f"{value:.3f}" for value in received] == [f"{value:.3f}" for value in weights.ravel()]
    assert np.abs(received - weights.ravel()).max() <= 3.1e-5


@pytest.mark.parametrize("weight", [0.0, 0.0005, 0.0015, 0.0625, 0.4375, 0.9995, 1.0])
def test_a_weight_on_a_rounding_border_prints_as_python_prints_it(weight):
    code = codes(np.array([[weight]], np.float32)).item()
    assert f"{(code / 65535) ** 2:.3f}" == f"{np.float32(weight):.3f}"


def test_a_weight_a_hair_above_one_is_one_and_nan_is_refused():
    assert codes(np.array([[1.0000001, -1e-9]], np.float32)).tolist() == [[65535, 0]]
    with pytest.raises(ValueError, match="NaN"):
        codes(np.array([[np.nan, 0.5]], np.float32))
    with pytest.raises(ValueError, match="NaN"):
        thumbnails(np.full((1, 1, 2, 2), np.nan, np.float32))


def test_a_thumbnail_of_a_short_sentence_has_a_cell_for_every_weight():
    weights = attention(LAYERS, HEADS, 5, 7)
    assert thumbnails(weights).shape == (LAYERS, HEADS, 5, 7)
    np.testing.assert_allclose((thumbnails(weights) / 255.0) ** 2, weights, atol=0.004)


def test_a_thumbnail_of_a_long_sentence_shows_the_strongest_weight_of_every_block():
    weights = np.zeros((1, 1, 50, 77), np.float32)
    weights[0, 0, 49, 76] = 1.0
    weights[0, 0, 0, 30] = 0.25
    small = thumbnails(weights)[0, 0]
    assert small.shape == (24, 24)
    assert small[23, 23] == 255
    assert small[0].max() == 128
    assert (small > 0).sum() == 2


def test_the_wall_of_a_large_model_and_the_longest_map_stay_small():
    assert len(pack({}, thumbnails(attention(12, 12, 130, 130)))) <= 90_000
    tokens = ["extraordinarily"] * 512
    assert len(pack({"queries": tokens, "keys": tokens}, codes(attention(512, 512)))) <= 560_000


def test_hostile_tokens_travel_as_data():
    header, cells = unpack(pack({"queries": HOSTILE}, codes(attention(len(HOSTILE), 3))))
    assert header["queries"] == HOSTILE
    assert cells.size == len(HOSTILE) * 3


def test_heads_that_exist_are_kept_once_and_in_order_and_nonsense_is_no_choice():
    assert parse_heads([[1, 2], "x", [0, 0], [1, 2], [9, 9]], LAYERS, HEADS) == [(1, 2), (0, 0)]
    values = (None, 7, "0,1", {"layer": 0}, [None])
    pairs = ([0], [0, 1, 2], ["0", "1"], [True, False], [0.0, 1.0], [-1, 0], [2, 0], [0, 3])
    assert [value for value in (*values, *([pair] for pair in pairs)) if parse_heads(value, LAYERS, HEADS) != []] == []


def test_a_token_that_exists_is_kept_and_nonsense_is_none():
    assert parse_token(4, 5) == 4
    assert [value for value in (None, -1, 5, 5.0, "3", True, [3], 10**30) if parse_token(value, 5) is not None] == []


def test_heads_and_tokens_in_a_link_are_counted_from_one_and_nonsense_is_none():
    assert heads_to_link([(2, 4), (0, 11)]) == "3-5_1-12"
    assert heads_from_link("3-5_1-12", 12, 12) == [(2, 4), (0, 11)]
    heads = ("", "0-1", "1-0", "3-1", "1-4", "1", "1-1-1", "-1-1", "a-b", "<b>1-1</b>", "١-١", "9" * 5000 + "-1")
    assert [text for text in heads if heads_from_link(text, LAYERS, HEADS) != []] == []
    assert token_from_link(token_to_link(4), 5) == 4
    tokens = ("", "0", "6", "-1", "1.0", "٣", "²", "9" * 5000, "<b>")
    assert [text for text in tokens if token_from_link(text, 5) is not None] == []
