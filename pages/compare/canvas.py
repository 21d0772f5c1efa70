"""The canvas component of a comparison: A, B and B − A, each with its own words, one pointer and one focused word for all."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pages.ui.canvas.attention_view import BOX, STYLE, parse_token
from pages.ui.canvas.component import component
from pages.ui.canvas.packing import codes, difference_codes, pack

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.analysis.comparison import Comparison

MODULE, STYLES = "comparison/comparison.js", (STYLE, "comparison/comparison.css")


def comparison_maps(
    found: "Comparison",
    tokens: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str, str],
    *,
    label: str,
    scale: str,
    focus: int | None,
    key: str,
    on_focus: Callable[[], None],
) -> None:
    """Show both maps and their difference where words have partners; what has none is hatched.

    tokens: the words of A and of B. titles: what stands above A, B and B − A. focus: a row of the comparison, from 0.
    After a change `on_focus` runs; `attention_view.focused_token(key, …)` then tells the row.
    """
    message = packed_comparison(found, tokens, titles, label=label, scale=scale, focus=focus)
    show = component("comparison", BOX, MODULE, *STYLES)
    show(key=key, data=message, on_focus_change=on_focus)


def packed_comparison(
    found: "Comparison",
    tokens: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str, str],
    *,
    label: str,
    scale: str,
    focus: int | None,
    **more: object,
) -> bytes:
    """Lay both maps and their difference out as the canvas takes them; `more` goes into the header."""
    header = {
        "one": list(tokens[0]),
        "other": list(tokens[1]),
        "labels": list(found.labels),
        "rows": [list(row) for row in found.rows],
        "titles": list(titles),
        "label": label,
        "scale": scale,
        "focus": parse_token(focus, len(found.rows)),
    }
    cells = np.concatenate([codes(found.one).ravel(), codes(found.other).ravel(), difference_codes(found.difference).ravel()])
    return pack(header | more, cells)
