"""A stage of matrices is sent the tensors' own numbers, and a link that names no cell is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.stage.matrices import Cell, Matrix, Product, cell_from_link, cell_to_link, message
from pages.ui.stage.packing import pack
from tests.support.drawings import unpacked

HOSTILE = ("</script><img src=x onerror=alert(1)>", "\x00", "\ud800")


def matrix(name: str, rows: int, columns: int, **more: object) -> Matrix:
    values = np.random.default_rng(rows).normal(size=(rows, columns)).astype(np.float32)
    names = (tuple(f"r{row}" for row in range(rows)), tuple(str(column) for column in range(columns)))
    return Matrix(name, name.title(), "", values, *names, "query", "key", **more)


PAIR = [matrix("left", 3, 5, shown=2), matrix("out", 3, 4, origin=Product("left", "hidden")), matrix("hidden", 5, 4, shown=0)]


def test_every_number_travels_as_it_is():
    values = np.array([[0.1, -np.inf, 3e38], [np.nextafter(np.float32(1), 0, dtype=np.float32), -0.0, 1e-38]], np.float32)
    one = Matrix("odd", "Odd", "", values, ("a", "b"), ("1", "2", "3"), "query", "key")
    header, numbers = message([PAIR[0], one])
    sent = pack(header, numbers)
    told, cells = unpacked(sent)
    assert told["matrices"][1]["columns"] == 3
    received = np.frombuffer(cells, "<f4")
    assert received[:15].tobytes() == PAIR[0].values.tobytes()
    assert received[15:].tobytes() == values.tobytes()


def test_names_travel_once_and_hostile_ones_as_data():
    values = np.zeros((3, 3), np.float32)
    one, other = (Matrix(name, name, "", values, HOSTILE, HOSTILE, "query", "key") for name in ("one", "other"))
    header, _ = message([one, other])
    assert header["names"] == [list(HOSTILE)]
    assert [sent["row_names"] for sent in header["matrices"]] == [0, 0]


def test_a_matrix_that_does_not_fit_its_names_is_refused():
    with pytest.raises(ValueError, match=r"odd must be row × column, got \(2, 3\) for 2 and 2 names"):
        Matrix("odd", "Odd", "", np.zeros((2, 3), np.float32), ("a", "b"), ("1", "2"), "query", "key")


@given(st.from_regex(r"[a-z]{1,20}", fullmatch=True), st.integers(0, 9998), st.integers(0, 9998))
def test_every_cell_comes_back_from_its_link(name, row, column):
    assert cell_from_link(cell_to_link(Cell(name, row, column))) == Cell(name, row, column)


@pytest.mark.parametrize(
    "text", ["", "scores", "scores-1", "scores-0-1", "scores-1-x", "Scores-1-1", "a-1-1-1", "a-١-1", "<b>-1-1"]
)
def test_nonsense_in_a_link_is_refused(text):
    with pytest.raises(ValueError, match="scores-4-2"):
        cell_from_link(text)
