"""The stage of attention: what it is told beside the weights, and the changes of a run that it reports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import streamlit as st

from pages.ui.shell import cache, controls
from pages.ui.shell.address import value_of, widget_key
from pages.ui.shell.fields import StageFields
from pages.ui.shell.step import step_of_run
from pages.ui.stage import texts
from pages.ui.stage.changes import MAX_INTERVENTIONS, active_changes, list_changes, set_changes, with_change, without_change
from pages.ui.stage.heads import grammar_sentences
from pages.ui.stage.inputs import AttentionRun
from pages.ui.stage.mount import Reported, mount, origin
from pages.ui.stage.packing import RunName, pack_runs, shown_layers
from pages.ui.stage.sources import file_stem
from tx_core.analysis.comparison import most_changed_heads
from tx_core.analysis.packing import join, sees_nothing_later
from tx_core.analysis.views import View, view
from tx_core.transformer.interventions import Head, Intervention, read_interventions, unmasked_padding
from tx_core.transformer.trace import Trace

MAX_MOVED_HEADS = 8
SMALLEST_SHARE = 1e-3
"""Of a row's attention that counts as having gone somewhere."""


@dataclass(frozen=True)
class ClassGuesses:
    """What a class guessed about a map, the heads of a model or a blank, to be drawn in the page's own picture of it.

    head: the head whose map it is; None where the heads themselves were chosen from. tokens: the names of the map's tokens,
    without special ones. cells: those that somebody guessed: the names of row and column, the share of the class, and that in
    words. words: those that somebody guessed for the first blank of the text, the most frequent first, as for cells.
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


def attention_stage(page: str, fields: StageFields, run: AttentionRun) -> None:
    """Draw the stage of a run."""
    name, trace, unchanged = run.name, run.trace, run.unchanged
    shown = shown_layers(trace, value_of(page, "stack"), value_of(page, "heads"))

    def pack(header: Mapping[str, object]) -> bytes:
        return pack_runs({**header, **about_run(page, name, trace, unchanged)}, name, trace, unchanged, shown)

    mount(page, fields, pack, lambda reported: take_changes(page, reported))


NO_RUN = {"run": None, "before": None, "stacks": [], "changes": [], "moved": []}
"""What a stage of attention is told where nothing was run."""
NO_CHANGES = {"changes": [], "moved": [], "padding": 0, "canOmitPositions": False, "grammar": None, "guesses": None}
"""What it is told of a run that nobody can change, and of which no class guessed."""


def empty_stage(
    page: str,
    fields: StageFields,
    take: Callable[[Reported], None] = lambda _: None,
    told: Callable[[Mapping[str, object]], Mapping[str, object]] = lambda _: {},
) -> None:
    """Draw a stage that shows nothing: it still writes the address. told: what else it is told, by its header."""
    mount(page, fields, lambda header: join({**header, **NO_RUN, **told(header)}, []), take, is_empty=True)


def about_run(page: str, name: RunName, trace: Trace, unchanged: Trace | None) -> dict[str, object]:
    """Return what a stage of attention is told of a run beside its weights."""
    changes = active_changes(page)
    layers = sum(len(stack.weights) for stack in trace.stacks)
    return {
        "model": controls.model_title(trace.model),
        "text": name.text,
        "pair": name.pair,
        "bare": name.bare,
        "origin": origin(trace.model),
        "stem": file_stem("attention", trace.model),
        "changes": list_changes(changes, trace.stacks),
        "moved": _moved_heads(trace, unchanged),
        "nothingMoved": _nothing_moved(changes, layers),
        "padding": drawn_padding(changes, view(trace.stacks[0])) if unchanged else 0,
        "canOmitPositions": cache.engine(trace.model).info.can_omit_positions,
        "grammar": _grammar(trace),
        "guesses": _guesses(page, trace),
        "notices": [texts.CHANGES_AT_MAXIMUM.format(maximum=MAX_INTERVENTIONS)] if len(changes) >= MAX_INTERVENTIONS else [],
        "kinds": texts.STACK_LABELS,
    } | ({"causal": True} if sees_nothing_later(unchanged or trace) else {})


def _moved_heads(trace: Trace, unchanged: Trace | None) -> list[list[list[object]]]:
    """List, for each stack, the heads whose attention the changes moved most, each with the share that moved."""
    if unchanged is None:
        return [[] for _ in trace.stacks]
    pairs = zip(unchanged.stacks, trace.stacks, strict=True)
    moved = [most_changed_heads(before.weights, after.weights, MAX_MOVED_HEADS) for before, after in pairs]
    return [[[list(head), round(share, 4)] for head, share in one] for one in moved]


def _nothing_moved(changes: tuple, layers: int) -> str:
    """Explain why no other head's attention moved."""
    if any(change.layer != layers - 1 for change in changes):
        return texts.NO_HEAD_MOVED
    empty = texts.EMPTY_MAP if any(change.kind == "off" for change in changes) else ""
    return empty + texts.NOTHING_AFTER_LAST_LAYER.format(layer=layers)


def _grammar(trace: Trace) -> dict[str, list] | None:
    """Return what is known of the grammar of every head of self-attention: sentences, and which of them each head has."""
    stack = trace.stacks[0]
    if stack.kind != "self":
        return None
    said = [grammar_sentences(trace.model, head) for head in np.ndindex(stack.weights.shape[:2])]
    unique = list(dict.fromkeys(chain.from_iterable(said)))
    return {"sentences": unique, "of": [[unique.index(one) for one in sentences] for sentences in said]}


def class_guesses(page: str) -> ClassGuesses | None:
    """Return a class's guesses about the sentence and model on the page; None where there are none for it."""
    step = step_of_run()
    guesses = step.guesses if step else None
    asked_of = [st.session_state.get(widget_key(page, name)) for name in ("model", "text")]
    return guesses if guesses is not None and asked_of == [guesses.model, guesses.text] else None


def _guesses(page: str, trace: Trace) -> dict[str, object] | None:
    """Return what a class guessed about the sentence and model on the page, for wall and map; None where nothing was."""
    guesses = class_guesses(page)
    if guesses is None:
        return None
    layers, heads = trace.stacks[0].weights.shape[:2]
    shares, notes = guesses.on_wall(layers, heads)
    noted = [[[layer, head], note] for layer, row in enumerate(notes) for head, note in enumerate(row) if note]
    cells = guesses.said_cells() if guesses.head is not None else []
    return {"wall": shares, "notes": noted, "head": guesses.head, "tokens": guesses.tokens, "cells": cells}


def take_changes(page: str, reported: Reported) -> None:
    """Apply what a reader asked to add or to drop, as links write it; leave out what is no change."""
    changes = active_changes(page)
    for written in _written(reported, "drop"):
        for change in written:
            changes = without_change(changes, change)
    for written in _written(reported, "add"):
        for change in written:
            changes = with_change(changes, change)
    set_changes(page, changes)


def _written(reported: Reported, name: str) -> list[tuple]:
    """Read the interventions of a report that anybody can forge."""
    found, sent = [], reported.get(name)
    for one in sent if isinstance(sent, list) else []:
        try:
            found.append(read_interventions(one if isinstance(one, str) else "?"))
        except ValueError:
            continue
    return found[:MAX_INTERVENTIONS]


def drawn_padding(changes: Sequence[Intervention], changed: View) -> int:
    """Return how many [PAD] a column of the map stands for: 0 unless leaving out their mask is all that was changed.

    Attention that reaches no padding, as in a causal model or from a decoder to its own sentence, gets no column.
    """
    reached = bool((changed.weights.sum(axis=-1) < 1 - SMALLEST_SHARE).any())
    return unmasked_padding(changes) if reached and len(changes) == 1 and not changed.hides_special else 0
