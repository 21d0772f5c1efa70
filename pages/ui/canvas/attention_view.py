"""The canvas components of attention: a wall of all heads, one map as heatmap and as lines, and two maps before and after.

Bytes in, choice out.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float32, UInt8

from pages.ui.canvas import drawings, texts
from pages.ui.canvas.component import component, component_value, sources, value_timestamp
from pages.ui.canvas.packing import codes, pack
from tx_core.transformer.interventions import Head, Intervention

_PALETTE = sources()["core/palette.js"].partition("const SCALES = {")[2].partition("\n};")[0]
SCALES = tuple(re.findall(r"^  (\w+): [\[{]", _PALETTE, re.MULTILINE))
"""The colour scales that a reader may choose, the first by default: their names in assets/canvas/core/palette.js."""
DIFFERENCE = "difference"
BOX, STYLE = "attention-view", "attention/attention.css"
MAP, WALL = "attention/map.js", "attention/wall.js"

ATTENTION_AXES = texts.AXES_OF_MATRIX.format(down=texts.QUERY_KEY_AXES[0], across=texts.QUERY_KEY_AXES[1])


@dataclass(frozen=True)
class Wall:
    """The wall beside a map: its key, the heads chosen on it, and where the map of any head is fetched from, if it is."""

    key: str
    chosen: tuple[Head, ...]
    maps_path: str | None


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

    def on_map(self, names: Sequence[str], special: Sequence[bool]) -> dict[str, object] | None:
        """Return what the map of these tokens draws, by cell, while it shows the guessed head; None for any other map."""
        shown = tuple(name for name, one in zip(names, special, strict=True) if not one)
        known = {name for row, column, _, _ in self.cells for name in (row, column)} <= set(names)
        if self.head is None or shown != self.tokens or not known:
            return None
        cells = [
            {"query": names.index(row), "key": names.index(column), "share": share, "said": texts.CLASS_GUESSED.format(said=said)}
            for row, column, share, said in self.cells
        ]
        return {"heads": [list(self.head)], "cells": cells}

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


def head_wall(
    thumbnails: UInt8[np.ndarray, "layer head row column"],
    chosen: Sequence[Head],
    *,
    scale: str,
    key: str,
    on_choose: Callable[[], None],
    notes: Sequence[Sequence[str]] = (),
    ends: tuple[str, str, str] | None = None,
    maps_path: str | None = None,
    guesses: ClassGuesses | None = None,
) -> None:
    """Draw all heads as thumbnails of their maps, to choose from.

    notes: a word on each head, by layer, added to its name. scale "difference" colours 0 to 255 around 128, and `ends`
    are the numbers at the left, the middle and the right of its legend. maps_path: where the browser fetches the map of a head
    that is pressed, by itself; the map that has the same `Wall.maps_path` draws it before this page has answered.
    guesses: what a class guessed, in place of `notes`.
    `chosen` holds (layer, head), counted from 0. After a click or an arrow key `on_choose` runs;
    `chosen_heads(key, …)` then returns them.
    """
    layers, heads, rows, columns = thumbnails.shape
    shares, said = guesses.on_wall(layers, heads) if guesses else ([], notes)
    header = {
        "layers": layers,
        "heads": heads,
        "rows": rows,
        "columns": columns,
        "scale": scale if scale == DIFFERENCE else _known_scale(scale),
        "notes": [list(row) for row in said],
        "ends": ends,
        "mapsPath": maps_path,
        "guesses": shares,
        "alt": texts.WALL_ALT,
        "texts": texts.WALL,
    }
    message = header | {
        "chosen": [list(head) for head in parse_heads(chosen, layers, heads)],
        "timestamp": value_timestamp(key, "chosen"),
    }
    component("head_wall", BOX, WALL, STYLE, height=286)(key=key, data=pack(message, thumbnails), on_chosen_change=on_choose)


def attention_map(
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    weights: Float32[np.ndarray, "query key"],
    *,
    alt: str,
    scale: str,
    strongest: int,
    show: Literal["both", "heatmap", "lines"],
    key: str,
    focus: int | None = None,
    on_focus: Callable[[], None] = lambda: None,
    wall: Wall | None = None,
    guesses: dict[str, object] | None = None,
) -> None:
    """Show where every token looks, as cells and as lines that share one focused token.

    alt: one sentence on what is seen, for those who cannot see it. `strongest` is the number of lines.
    `focus` is the looking token, counted from 0, or None. After a change `on_focus` runs;
    `focused_token(key, …)` then returns it. wall: where the heads are chosen.
    guesses: what a class guessed, by `ClassGuesses.on_map`.
    Raises ValueError when tokens and weights do not fit each other.
    """
    if weights.shape != (len(query_tokens), len(key_tokens)):
        raise ValueError(f"weights must be query × key, got {weights.shape} for {len(query_tokens)} and {len(key_tokens)} tokens")
    header = {
        "queries": list(query_tokens),
        "keys": list(key_tokens),
        "texts": texts.MAP,
        "alt": alt,
        "scale": _known_scale(scale),
        "strongest": max(1, int(strongest)),
        "show": show,
        "focus": parse_token(focus, len(query_tokens)),
        "guesses": guesses,
    }
    if wall:
        header |= {
            "heads": [list(head) for head in wall.chosen],
            "mapsPath": wall.maps_path,
            "timestamp": value_timestamp(wall.key, "chosen"),
        }
    drawings.note(lambda: [drawings.matrix_drawing(alt, "weights", weights, query_tokens, key_tokens, axes=ATTENTION_AXES)])
    component("attention_map", BOX, MAP, STYLE, height=700)(key=key, data=pack(header, codes(weights)), on_focus_change=on_focus)


def chosen_heads(key: str, layers: int, heads: int) -> list[Head]:
    """Return the heads that the reader chose on the wall `key`; empty before the first choice."""
    return parse_heads(component_value(key, "chosen"), layers, heads)


def focused_token(key: str, tokens: int) -> int | None:
    """Return the query token that the reader focused in the map `key`."""
    return parse_token(component_value(key, "focus"), tokens)


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


def head_from_link(text: str, layers: int, heads: int) -> Head:
    """Read one head back from an address; raise ValueError for anything else."""
    chosen = heads_from_link(text, layers, heads)
    if len(chosen) != 1 or heads_to_link(chosen) != text:
        raise ValueError("head must be written like 1-3")
    return chosen[0]


def token_to_link(focus: int | None) -> str:
    """Write a token's place as a reader counts it, for an address; no token is the empty text."""
    return "" if focus is None else str(focus + 1)


def token_from_link(text: str, tokens: int) -> int | None:
    """Read a token's place back from an address, None for nonsense."""
    return parse_token(int(text) - 1, tokens) if re.fullmatch("[0-9]{1,6}", text, flags=re.ASCII) else None


def _counts(value: object, size: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size


def _known_scale(scale: str) -> str:
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}, got {scale}")
    return scale
