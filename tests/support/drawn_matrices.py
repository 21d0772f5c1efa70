"""What a page's grid of matrices was sent."""

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
