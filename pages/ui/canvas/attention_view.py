"""Attention as it is looked at: its colour scales, heads and tokens in a link, and what a class guessed of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pages.ui.canvas import texts
from pages.ui.canvas.component import sources
from tx_core.transformer.interventions import Head, Intervention

_PALETTE = sources()["core/palette.js"].partition("const SCALES = {")[2].partition("\n};")[0]
SCALES = tuple(re.findall(r"^  (\w+): [\[{]", _PALETTE, re.MULTILINE))
"""The colour scales that a reader may choose, the first by default: their names in assets/canvas/core/palette.js."""


@dataclass(frozen=True)
class ClassGuesses:
    """What a class guessed about a map, the heads of a model or a blank, to be drawn in the page's own picture of it.

    Attributes:
        model, text, changes: what the class was asked about.
        head: the head whose map it is; None where the heads themselves were chosen from.
        tokens: the names of the map's tokens, without special ones.
        cells: those that somebody guessed: the names of row and column, the share of the class, and that in words.
        words: those that somebody guessed for the first blank of the text, the most frequent first, as for cells.
    """

    model: str
    text: str
    head: Head | None
    tokens: tuple[str, ...] = ()
    cells: tuple[tuple[str, str, float, str], ...] = ()
    words: tuple[tuple[str, float, str], ...] = ()
    changes: tuple[Intervention, ...] = ()

    def said_cells(self) -> list[tuple[str, str, float, str]]:
        """Return the guessed cells of a map: the names of row and column, the share of the class, and that in words."""
        return [(row, column, share, texts.CLASS_GUESSED.format(said=said)) for row, column, share, said in self.cells]

    def on_wall(self, layers: int, heads: int) -> tuple[list[list[float]], list[list[str]]]:
        """Return what the wall draws, by layer and head: the share of the class, and a note on every head."""
        shares, notes = [], [[""] * heads for _ in range(layers)]
        for layer, head, share, said in self.cells if self.head is None else ():
            row, column = int(layer) - 1, int(head) - 1
            if row < layers and column < heads:
                shares.append([row, column, share])
                notes[row][column] = texts.CLASS_GUESSED.format(said=said)
        return shares, notes

    def is_about_blank(self, text: str, number: int, changes: Sequence[Intervention]) -> bool:
        """Return whether words were guessed for this blank of a text, counted from 0, under these changes."""
        return bool(self.words) and (text, number) == (self.text, 0) and frozenset(changes) == frozenset(self.changes)

    def on_list(self, listed: Sequence[str]) -> tuple[list[tuple[float, str] | None], list[str]]:
        """Return, for each listed word, the share of the class and that in words; and the guesses that are not listed.

        A guess is any spelling of a word: it stands at the first listed word that differs in nothing but capitals.
        """
        places: dict[str, int] = {}
        for place, word in enumerate(listed):
            places.setdefault(word.casefold(), place)
        drawn: list[tuple[float, str] | None] = [None] * len(listed)
        others = []
        for word, share, said in self.words:
            if word.casefold() in places:
                drawn[places[word.casefold()]] = (share, said)
            else:
                others.append(texts.UNLISTED_GUESS.format(word=word, said=said))
        return drawn, others


def parse_heads(value: object, layers: int, heads: int) -> list[Head]:
    """Read heads from anything: every (layer, head) that exists, once, in order; nonsense is left out."""
    if not isinstance(value, list | tuple):
        return []
    pairs = [tuple(pair) for pair in value if isinstance(pair, list | tuple) and len(pair) == 2]
    exist = [(layer, head) for layer, head in pairs if _counts(layer, layers) and _counts(head, heads)]
    return list(dict.fromkeys(exist))


def parse_token(value: object, tokens: int) -> int | None:
    """Read a token's place from anything; None where there is no such token."""
    return value if _counts(value, tokens) else None


def heads_to_link(chosen: Sequence[Head]) -> str:
    """Write heads as a reader counts them, for an address: (2, 4) is "3-5"."""
    return "_".join(f"{layer + 1}-{head + 1}" for layer, head in chosen)


def heads_from_link(text: str, layers: int, heads: int) -> list[Head]:
    """Read heads back from an address, leaving nonsense out."""
    pairs = re.findall(r"(?:^|(?<=_))([0-9]{1,4})-([0-9]{1,4})(?=_|$)", text, flags=re.ASCII)
    return parse_heads([(int(layer) - 1, int(head) - 1) for layer, head in pairs], layers, heads)


def token_to_link(focus: int | None) -> str:
    """Write a token's place as a reader counts it, for an address; no token is the empty text."""
    return "" if focus is None else str(focus + 1)


def token_from_link(text: str, tokens: int) -> int | None:
    """Read a token's place back from an address, None for nonsense."""
    return parse_token(int(text) - 1, tokens) if re.fullmatch("[0-9]{1,6}", text, flags=re.ASCII) else None


def _counts(value: object, size: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size
