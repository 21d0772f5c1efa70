"""A stage of matrices is sent the tensors' own numbers, and a link that names no cell is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.stage.matrices import Cell, Matrix, MatrixStep, MatrixSteps, cell_from_link, cell_to_link, describe_matrices

HOSTILE = ("</script><img src=x onerror=alert(1)>", "\x00", "\ud800")


def test_every_number_travels_as_it_is_and_names_once_hostile_ones_as_data():
    values = np.array([[0.1, -np.inf, 3e38], [np.nextafter(np.float32(1), 0, dtype=np.float32), -0.0, 1e-38]], np.float32)
    one, other = (Matrix(name, name, "", values, HOSTILE[:2], HOSTILE, "query", "key") for name in ("one", "other"))
    told, parts = describe_matrices(MatrixSteps([one, other]))
    assert [part.tobytes() for part in parts] == [values.tobytes()] * 2
    assert told["names"] == [list(HOSTILE[:2]), list(HOSTILE)]
    assert [(sent["row_names"], sent["column_names"]) for sent in told["matrices"]] == [(0, 1)] * 2


def test_a_step_shows_matrices_with_signs_between_them_and_makes_those_that_none_before_it_shows():
    shows = ("vectors → query key", "query · key = matches", "heada | headb → output", "one")
    told, _ = describe_matrices(MatrixSteps([], [MatrixStep("step", "", "", shown) for shown in shows]))
    assert [(step["shows"], step["leads"], step["makes"]) for step in told["steps"]] == [
        (["vectors", "query", "key"], ["", "→", ""], ["query", "key", "vectors"]),
        (["query", "key", "matches"], ["", "·", "="], ["matches"]),
        (["heada", "headb", "output"], ["", "|", "→"], ["output", "heada", "headb"]),
        (["one"], [""], ["one"]),
    ]


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
