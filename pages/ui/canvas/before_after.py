"""The canvas component for two maps of the same tokens: before, after, and the difference around zero."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float32

from pages.ui.canvas.attention_view import BOX, STYLE, parse_token
from pages.ui.canvas.component import component
from pages.ui.canvas.packing import codes, difference_codes, pack

MODULE = "attention/before_after.js"


def before_after(
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    before: Float32[np.ndarray, "query key"],
    after: Float32[np.ndarray, "query key"],
    *,
    alt: str,
    scale: str,
    focus: int | None,
    key: str,
    on_focus: Callable[[], None],
) -> None:
    """Show two maps and what the second has more or less than the first, with one pointer and one focus for all three.

    `alt`, `focus` and `on_focus` are as for `attention_map`; `attention_view.focused_token(key, …)` tells the focus.
    Raises ValueError when tokens and weights do not fit each other.
    """
    shape = (len(query_tokens), len(key_tokens))
    if before.shape != shape or after.shape != shape:
        raise ValueError(f"weights must be query × key, {shape[0]} × {shape[1]}, got {before.shape} and {after.shape}")
    header = {
        "queries": list(query_tokens),
        "keys": list(key_tokens),
        "alt": alt,
        "scale": scale,
        "focus": parse_token(focus, len(query_tokens)),
    }
    cells = np.stack([codes(before), codes(after), difference_codes(after - before)])
    component("before_after", BOX, MODULE, STYLE)(key=key, data=pack(header, cells), on_focus_change=on_focus)
