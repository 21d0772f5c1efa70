"""A map of attention for export, with its weights and its code."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Float32

from pages.ui.export import texts
from pages.ui.export.attention_map import AttentionMap
from pages.ui.export.computation import Computation, call, changes_argument, load_call, named, sentences_of, written_argument
from pages.ui.export.data import DataTable, offer_tables
from pages.ui.export.records import Code, DataFiles, Export, Exports
from pages.ui.export.transformers_code import transformers_attention_code
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.sources import Source
from pages.ui.stage.tokens import numbered_tokens
from tx_core.analysis import views
from tx_core.analysis.weights_file import MOST, SavedWeights, weight_of, weights_csv, weights_json, weights_npz

WRITERS: dict[str, Callable[[SavedWeights], bytes]] = {"csv": weights_csv, "json": weights_json, "npz": weights_npz}


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
    return Export(
        exported.title,
        exported.file_name,
        (weight_files(exported, everything=False), weight_files(exported, everything=True)),
        Code(
            texts.ENDS_WITH_WEIGHTS if exported.plain is None else texts.ENDS_WITH_CHANGE,
            lambda: map_numbers(exported),
            lambda: transformers_attention_code(exported),
        ),
        exported.source,
    )


def map_numbers(exported: AttentionMap) -> list[Computation]:
    """Return the computation of a map, with every option and intervention that changes its numbers."""
    read, changes = exported.trace.attention.query_tokens, exported.trace.interventions
    engine, heads = load_call(exported.trace.model, read.special_tokens), list(map(tuple, exported.heads))
    options = {"merge_words": exported.words, "hide_special": exported.hide}
    options = {name: True for name, on in options.items() if on}
    stack = [stack.kind for stack in exported.trace.stacks].index(exported.kind)

    def shown(**changed: object) -> Computation:
        """Return the view of a run."""
        drawn = call(views.view, engine.trace(*sentences_of(read), **written_argument(read), **changed).stacks[stack], **options)
        return call(views.with_padding, drawn, exported.padding) if exported.padding else drawn

    drawn = named("shown", shown(**changes_argument(changes)))
    weights = named("weights", call(views.mean_of_heads, drawn.weights, heads), "(layer, head), counted from 0")
    if not changes:
        return [drawn.queries, drawn.keys, weights.round(3)]
    before = named("before", call(views.mean_of_heads, shown().weights, heads))
    difference = named("difference", weights - before)
    return [drawn.queries, drawn.keys, before.round(3), weights.round(3), difference.round(3)]


def weight_files(exported: AttentionMap, *, everything: bool, name: str = "") -> DataFiles:
    """Offer the weights that are shown, or those of every layer and head. name: replaces the usual name of the choice."""
    size = exported.view.weights.size if everything else exported.weights.size
    heads = 1 if everything else len(exported.heads)
    changed = exported.plain is not None

    def writer(form: str) -> Callable[[Source], bytes] | None:
        if weight_of(size * (3 if changed else 1), heads, form) > MOST[form]:
            return None
        return lambda source: WRITERS[form](saved_weights(exported, everything, source))

    files = {form: writer(form) for form in WRITERS}
    file_name = f"{exported.stem}-all" if everything else exported.file_name
    usual = texts.ALL_WEIGHTS if everything else texts.SHOWN_WEIGHTS
    description = texts.CHANGED_WEIGHTS if changed else texts.WEIGHTS
    return DataFiles(name or usual, description.format(count=size), file_name, files)


def saved_weights(exported: AttentionMap, everything: bool, source: Source) -> SavedWeights:
    """Gather what goes into a file; layers and heads count from 1, as on the page."""
    view, unchanged, (text, pair) = exported.view, exported.unchanged, exported.sentences
    maps, weights, before = (tuple((layer + 1, head + 1) for layer, head in exported.heads),), exported.weights, None
    if everything:
        layers, heads = view.weights.shape[:2]
        maps = tuple(((layer + 1, head + 1),) for layer in range(layers) for head in range(heads))
        weights = view.weights
    if unchanged is not None:
        before = _maps(unchanged.weights if everything else exported.before)
    return SavedWeights(
        exported.trace.model,
        text,
        pair,
        view.kind,
        view.queries,
        view.keys,
        maps,
        _maps(weights),
        exported.notes,
        before,
        source,
    )


def _maps(weights: Float[np.ndarray, "*heads query key"]) -> Float32[np.ndarray, "map query key"]:
    """Put the maps of all layers and heads, or the one map there is, one after the other."""
    return np.ascontiguousarray(weights.reshape(-1, *weights.shape[-2:]), np.float32)
