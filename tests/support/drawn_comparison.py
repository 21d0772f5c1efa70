"""What the page of comparisons drew: the three maps, as their component was sent them."""

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.support.drawings import sent_to

BIRD = {"text": "a small bird sings", "text_b": "a bird sings loudly", "head": "2-3"}


def drawn_comparison(app: AppTest) -> tuple[dict, list[np.ndarray]]:
    """Give the header, and the numbers of A, of B and of B − A."""
    ((header, sent),) = sent_to(app, "comparison")
    cells = np.frombuffer(sent, "<u2").astype(float)
    sizes = [len(header[name]) for name in ("one", "other", "labels")]
    ends = np.cumsum([size**2 for size in sizes])
    one, other, difference = (part.reshape(size, size) for part, size in zip(np.split(cells, ends[:-1]), sizes, strict=True))
    root = (difference - 32768) / 32767
    return header, [(one / 65535) ** 2, (other / 65535) ** 2, np.sign(root) * root**2]
