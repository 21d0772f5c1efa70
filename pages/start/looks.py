"""Where each word of the start page's sentence looks, computed by the built-in model and drawn by assets/canvas/arcs."""

from dataclasses import dataclass

from pages.start import texts
from pages.ui.canvas.component import component
from pages.ui.shell import cache
from pages.ui.shell.numbers import weight
from tx_core.analysis.views import HeadEdge, strongest_heads, view
from tx_core.engine.catalogue import DEFAULT

SMALLEST = 0.25
"""Smaller weights are not drawn."""
MOST_TOLD = 3


@dataclass(frozen=True)
class Looks:
    """The words of a sentence and the edges between them, which count the words.

    Attributes:
        words: as they were typed.
        edges: from the largest weight to the smallest.
        heads: how many heads the model has.
    """

    words: tuple[str, ...]
    edges: tuple[HeadEdge, ...]
    heads: int


def sentence_looks(sentence: str) -> Looks:
    """Compute which word looks at which, past its neighbours, in the head where it does so most.

    Special tokens and punctuation are no words here; their weights are left out, and the others stay as they are.
    Raises ExplorerError where the model cannot be had.
    """
    shown = view(cache.trace_with(cache.engine(DEFAULT), sentence).attention, merge_words=True)
    words = [place for place, label in enumerate(shown.keys) if label.isalpha() and not shown.key_special[place]]
    layers, heads = shown.weights.shape[:2]
    edges = strongest_heads(shown.weights[..., words, :][..., words], SMALLEST, apart=2)
    return Looks(tuple(shown.keys[place] for place in words), edges, layers * heads)


def describe_word(looks: Looks, word: int) -> str:
    """Return a sentence on where a word looks most."""
    edges = [edge for edge in looks.edges if edge.query == word][:MOST_TOLD]
    if not edges:
        return texts.LOOKS_NEARBY.format(word=looks.words[word])
    keys = [texts.LOOKED_AT.format(key=looks.words[edge.key], share=weight(edge.weight)) for edge in edges]
    if len(keys) == 1:
        return texts.HEAD_LOOKS_AT.format(word=looks.words[word], keys=keys[0])
    return texts.HEADS_LOOK_AT.format(word=looks.words[word], keys=", ".join(keys[:-1]), last=keys[-1])


def draw_arcs(looks: Looks, *, key: str) -> None:
    """Draw the edges as arcs over and under the words; whoever chooses a word sees its arcs alone and reads where it looks."""
    arcs = [[edge.query, edge.key, round(edge.weight, 4)] for edge in looks.edges]
    said = [describe_word(looks, word) for word in range(len(looks.words))]
    data = {"words": list(looks.words), "arcs": arcs, "said": said, "alt": texts.ARCS_ALT, "hint": texts.HINT}
    component("arcs", "arcs-view", "arcs/arcs.js", "arcs/arcs.css", height=430)(key=key, data=data)
