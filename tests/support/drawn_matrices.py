"""What a page's grid of matrices and its rows of matrices were sent."""

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.support.drawings import sent_to

Matrices = tuple[dict, dict[str, np.ndarray]]


def panels(app: AppTest) -> Matrices:
    """Return the first grid's header, and its matrices by their titles."""
    header, cells = sent_to(app, "matrices")[0]
    shape = len(header["panels"]), len(header["rows"]), len(header["columns"])
    titles = [panel["title"] for panel in header["panels"]]
    return header, dict(zip(titles, np.frombuffer(cells, "<f4").reshape(shape), strict=True))


def matrix_row(app: AppTest, number: int = 0) -> Matrices:
    """Return a row's header, and its matrices by their names; rows are numbered from 0."""
    header, cells = sent_to(app, "matrix_row")[number]
    shapes = [(one["rows"], one["columns"]) for one in header["matrices"]]
    numbers, ends = np.frombuffer(cells, "<f4"), np.cumsum([rows * columns for rows, columns in shapes])
    assert ends[-1] == len(numbers)
    parts = zip(header["matrices"], np.split(numbers, ends[:-1]), shapes, strict=True)
    return header, {one["name"]: part.reshape(shape) for one, part, shape in parts}
