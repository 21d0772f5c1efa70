"""Arcs between the words of a sentence: each from a word to one that it attends to, wide where it attends much.

Drawn by assets/canvas/arcs; whoever chooses a word sees its arcs alone and reads a sentence on them.
"""

from collections.abc import Sequence

from pages.ui.canvas.component import component
from tx_core.analysis.views import HeadEdge


def attention_arcs(
    words: Sequence[str], edges: Sequence[HeadEdge], said: Sequence[str], *, alt: str, hint: str, key: str
) -> None:
    """Draw the edges as arcs over and under the words.

    said: what is read of each word while it is chosen. alt: names the row of words. hint: what is read while none is chosen.
    Raises ValueError unless every word has a sentence.
    """
    if len(words) != len(said):
        raise ValueError(f"every word needs a sentence, got {len(words)} words and {len(said)} sentences")
    arcs = [[edge.query, edge.key, round(edge.weight, 4)] for edge in edges]
    data = {"words": list(words), "arcs": arcs, "said": list(said), "alt": alt, "hint": hint}
    component("arcs", "arcs-view", "arcs/arcs.js", "arcs/arcs.css", height=430)(key=key, data=data)
