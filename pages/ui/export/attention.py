"""A map of attention as a page shows it: its numbers are the results of the computations that its code prints; and its export."""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Float32

from pages.ui.export import texts
from pages.ui.export.computation import (
    Computation,
    call,
    changes_argument,
    evaluate,
    load_call,
    named,
    sentences_of,
    written_argument,
)
from pages.ui.export.menu import offer_tables
from pages.ui.export.records import DataFiles, DataTable, Export, Exports, PartNumbers, shortest
from pages.ui.export.transformers_code import transformers_attention_code
from pages.ui.shell import controls
from pages.ui.shell.address import value_of
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.attention import drawn_padding
from pages.ui.stage.browser_texts import CAPTION
from pages.ui.stage.changes import describe_change
from pages.ui.stage.sources import Source, reading, source
from pages.ui.stage.tokens import numbered_tokens
from tx_core.analysis import views
from tx_core.analysis.views import View
from tx_core.transformer.interventions import Head, Intervention
from tx_core.transformer.trace import Trace


@dataclass(frozen=True)
class AttentionMap:
    """The weights of one head of a run, or the mean of several, as a page shows them.

    heads: as (layer, head), counted from 0. words, hide: whether pieces are merged into words, and special tokens left out.
    plain: the run without the reader's changes, where both are shown.
    """

    trace: Trace
    heads: tuple[Head, ...]
    kind: str = "self"
    words: bool = False
    hide: bool = False
    plain: Trace | None = None

    def computed(self, run: str, changes: tuple[Intervention, ...], padding: int) -> Computation:
        """Return the computation of the tokens and of all weights. run: the name of the run in the code. padding: as below."""
        read = self.trace.attention.query_tokens
        engine, given = load_call(self.trace.model, read.special_tokens), written_argument(read) | changes_argument(changes)
        number = [stack.kind for stack in self.trace.stacks].index(self.kind)
        options = {name: True for name, on in (("merge_words", self.words), ("hide_special", self.hide)) if on}
        stack = named(run, engine.trace(*sentences_of(read), **given)).stacks[number]
        shown = call(views.view, stack, **options)
        return call(views.with_padding, shown, padding) if padding else shown

    def mean(self, shown: Computation) -> Computation:
        """Return the computation of the weights that are drawn."""
        return call(views.mean_of_heads, shown.weights, [*map(tuple, self.heads)])

    @cached_property
    def padding(self) -> int:
        """How many [PAD] the last column stands for, which no trace keeps; 0 for none."""
        changes = self.trace.interventions
        return drawn_padding(changes, evaluate(self.computed("run", changes, 0), run=self.trace)) if self.plain else 0

    @cached_property
    def view(self) -> View:
        """The tokens, and the weights of all heads."""
        return evaluate(self.computed("run", self.trace.interventions, self.padding), run=self.trace)

    @cached_property
    def unchanged(self) -> View | None:
        """The same without the reader's changes, where both are shown."""
        return evaluate(self.computed("unchanged", (), self.padding), unchanged=self.plain) if self.plain else None

    @cached_property
    def weights(self) -> Float[np.ndarray, "query key"]:
        """The weights that are drawn."""
        return evaluate(self.mean(named("shown", self.view)))

    @cached_property
    def before(self) -> Float[np.ndarray, "query key"] | None:
        """The same without the reader's changes."""
        return evaluate(self.mean(named("shown", self.unchanged))) if self.unchanged else None

    def numbers(self) -> list[Computation]:
        """Return the computations of what is drawn, with every option and intervention that changes it, for its code."""
        changes = self.trace.interventions
        shown = named("shown", self.computed("run", changes, self.padding))
        weights = named("weights", self.mean(shown), "(layer, head), counted from 0")
        if not changes:
            return [shown.queries, shown.keys, weights.round(3)]
        before = named("before", self.mean(self.computed("unchanged", (), self.padding)))
        difference = named("difference", weights - before)
        return [shown.queries, shown.keys, before.round(3), weights.round(3), difference.round(3)]

    @property
    def head_names(self) -> str:
        """Return the names of the heads: "layer 4, head 5", or the mean of several."""
        names = [controls.head_name(head).lower() for head in self.heads]
        return names[0] if len(names) == 1 else CAPTION["meanOfHeads"].format(count=len(names), names="; ".join(names))

    @property
    def title(self) -> str:
        """Describe the map in one line."""
        titles = CAPTION["titles" if self.plain is None else "changedTitles"]
        return titles[self.kind].format(heads=self.head_names, model=controls.model_title(self.trace.model))

    @property
    def reads_special(self) -> bool:
        """Whether the text was read with the model's special tokens."""
        return self.trace.attention.query_tokens.special_tokens

    @property
    def notes(self) -> tuple[str, ...]:
        """List what was done to the weights, and to the run, before they were shown."""
        notes = [] if self.reads_special else [CAPTION["withoutSpecial"]]
        if self.words:
            notes.append(CAPTION["merged"])
        if self.view.hides_special:
            notes.append(CAPTION["specialHidden"])
        if self.trace.interventions:
            notes.append(CAPTION["changed"].format(changes=changes_in_words(self.trace)))
        return tuple(notes)

    @property
    def source(self) -> Source:
        """Return what the map is of, for the header of its files."""
        read, kind = self.trace.attention.query_tokens, self.kind if len(self.trace.stacks) > 1 else ""
        about = {"text": read.text, "pair": read.pair} | reading(self.reads_special) | {"written": list(read.written)}
        changes = changes_in_words(self.trace)
        return source(self.trace.model, **about, changes=changes, attention=kind, heads=self.head_names)


def changes_in_words(trace: Trace) -> str:
    """List what was changed in a run, named as on the page."""
    return "; ".join(describe_change(change, trace.stacks) for change in trace.interventions)


def shown_map(page: str, trace: Trace, plain: Trace | None = None) -> AttentionMap:
    """Return the map of a run as the browser shows it, by the fields of the page. plain: the run without changes, if any."""
    heads, kind, words, hide = (value_of(page, name) for name in ("heads", "stack", "words", "hide"))
    return AttentionMap(trace, tuple(heads), kind, words, hide, plain)


def offer_weights(page: str, shown: AttentionMap) -> None:
    """Offer the weights that a page shows as a table."""

    def table() -> DataTable:
        rows, columns = numbered_tokens(shown.view.queries), numbered_tokens(shown.view.keys)
        cells = shown.weights.astype(float).round(4).tolist()
        named_rows = [(name, *row) for name, row in zip(rows, cells, strict=True)]
        return DataTable(("", *columns), named_rows, note=stage_texts.WEIGHTS_TABLE_CAPTION)

    offer_tables(page, lambda: [table()], stage_texts.WEIGHTS_TABLE)


def attention_exports(shown: AttentionMap) -> Exports:
    """Offer the map that a page shows. Its stage makes figure and web page by itself."""
    return {texts.ATTENTION_MAP: lambda: attention_export(shown)}


def attention_export(exported: AttentionMap) -> Export:
    """Return the numbers and the code of a map."""
    tables = {
        name: weight_files(exported, everything=every)
        for name, every in ((texts.SHOWN_WEIGHTS, False), (texts.ALL_WEIGHTS, True))
    }
    is_usual = not (exported.words or exported.view.hides_special)
    code = transformers_attention_code(exported.trace, exported.heads) if is_usual else ""
    return Export(PartNumbers(exported.title, exported.source, exported.numbers()), tables, code)


def weight_files(exported: AttentionMap, *, everything: bool) -> DataFiles:
    """Offer the weights that are shown, or those of every layer and head."""
    size = exported.view.weights.size if everything else exported.weights.size
    return DataFiles(size, 1 if exported.plain is None else 3, lambda: weights_table(exported, everything))


def weights_table(exported: AttentionMap, everything: bool) -> DataTable:
    """Return a row for each weight, and maps × queries × keys; layers and heads count from 1, as on the page."""
    view, unchanged = exported.view, exported.unchanged
    layers, heads = view.weights.shape[:2]
    maps = [[head] for head in np.ndindex(layers, heads)] if everything else [exported.heads]
    names = [f"layer {one[0][0] + 1} head {one[0][1] + 1}" if len(one) == 1 else f"mean of {len(one)} heads" for one in maps]
    numbers = {"weights": _maps(view.weights if everything else exported.weights)}
    if unchanged is not None:
        before, after = _maps(unchanged.weights if everything else exported.before), numbers["weights"]
        numbers = {"before": before, "after": after, "difference": after - before}
    axes = {"maps": np.array(maps) + 1, "queries": np.array(view.queries, np.str_), "keys": np.array(view.keys, np.str_)}
    places = itertools.product(names, numbered_tokens(view.queries), numbered_tokens(view.keys))
    cells = zip(*(shortest(array).ravel().tolist() for array in numbers.values()), strict=True)
    about = {"kind": view.kind, "notes": exported.notes, "axes": "map, query, key", "counted_from": 1}
    return DataTable(
        ("map", "query", "key", *(numbers if unchanged is not None else ("weight",))),
        [(*place, *cell) for place, cell in zip(places, cells, strict=True)],
        arrays={**numbers, **axes},
        about=about,
    )


def _maps(weights: Float[np.ndarray, "*heads query key"]) -> Float32[np.ndarray, "map query key"]:
    """Put the maps of all layers and heads, or the one map there is, one after the other."""
    return np.ascontiguousarray(weights.reshape(-1, *weights.shape[-2:]), np.float32)
