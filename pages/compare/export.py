"""A comparison for export: A, B and B − A; and a word's vectors in both, layer by layer."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.compare import texts
from pages.compare.drawings import (
    COLUMNS,
    MODULE,
    STYLES,
    WordChart,
    WordThroughLayers,
    difference_rows,
    map_titles,
    packed_comparison,
    partners_in_words,
    similarity_rows,
)
from pages.compare.runs import TRACE_PARTS, Run, RunPair, heads_of
from pages.ui.canvas.charts import lines_chart
from pages.ui.export.computation import Computation, call, changes_argument, load_call, named, sentences_of
from pages.ui.export.data import DataTable, data_files, table_files
from pages.ui.export.figure import charts_figure, charts_page
from pages.ui.export.records import Code, Export, Exports, WebPage
from pages.ui.export.texts import AXES
from pages.ui.shell.address import widget_key
from tx_core.analysis import views, word_comparison
from tx_core.analysis.comparison import Comparison, compare_attention, describe_largest_difference, list_links
from tx_core.analysis.word_comparison import describe_word_similarity

CHART_HEIGHT = 280


def comparison_exports(page: str, one: Run, other: Run, comparison: Comparison, followed: WordThroughLayers | None) -> Exports:
    """Offer the maps, and the word that was followed if there is one."""
    state = {name: st.session_state[widget_key(page, name)] for name in ("vary", "hide", "scale", "focus")}
    runs = RunPair(one, other, state["vary"], state["hide"])
    exports = {texts.MAPS_EXPORT: lambda: maps_export(runs, comparison, state["scale"], state["focus"])}
    if followed:
        exports[texts.WORD_EXPORT] = lambda: word_export(runs, followed)
    return exports


def maps_export(runs: RunPair, comparison: Comparison, scale: str, focus: int | None) -> Export:
    """Return the export of the two maps and their difference."""
    difference = describe_largest_difference(comparison, focus)
    titles = map_titles(runs.one.side, runs.other.side, runs.vary)
    tokens = (runs.one.view.queries, runs.other.view.queries)

    def packed(**header: object) -> bytes:
        header = {"drawing": "comparison"} | header
        return packed_comparison(comparison, tokens, titles, alt=difference, scale=scale, focus=focus, **header)

    title = texts.MAPS_TITLE.format(sides=runs.heads_and_models)
    caption = " ".join([f"{title}.", *runs.notes, partners_in_words(comparison), difference, AXES])
    count, stem = len(list_links(comparison)), runs.file_name("comparison")
    data = data_files(
        texts.ALL_LINKS, texts.LINKS.format(count=count), stem, count * len(COLUMNS), lambda: _maps_data(runs, comparison)
    )
    web_page = WebPage(MODULE, STYLES, texts.INTERACTIVE_MAPS, packed)
    code = Code(texts.MAPS_RESULT, lambda: maps_numbers(runs))
    return Export(title, caption, stem, packed, web_page, (data,), code, runs.about)


def _maps_data(runs: RunPair, comparison: Comparison) -> DataTable:
    rows = [tuple(row[name] for name in COLUMNS) for row in difference_rows(comparison)]
    positions = np.array([[-1 if place is None else place for place in row] for row in comparison.rows], np.int32)
    arrays = {
        "weights_a": comparison.one,
        "weights_b": comparison.other,
        "words_a": np.array(runs.one.view.queries, np.str_),
        "words_b": np.array(runs.other.view.queries, np.str_),
        "difference": np.where(comparison.comparable, comparison.difference, np.nan),
        "words": np.array(comparison.labels, np.str_),
        "positions": positions,
    }
    return DataTable(COLUMNS, rows, arrays, {"axes": texts.LINKS_AXES})


def word_export(runs: RunPair, followed: WordThroughLayers) -> Export:
    """Return the export of the similarities of a word's vectors in A and in B."""
    title = texts.WORD_TITLE.format(word=followed.word, models=runs.models)
    description = describe_word_similarity(followed.similarity, followed.word)
    caption = " ".join([f"{title}.", *runs.sentences, description, texts.MEAN_OF_PIECES])
    chart = WordChart(followed)
    note = texts.FIGURE_NOTE_WITH_BAND if chart.band else texts.FIGURE_NOTE
    lines = lines_chart("", chart.steps, chart.series, limits=chart.limits, band=chart.band, tall=CHART_HEIGHT, note=note)
    figure = charts_figure([lines], description)
    rows = similarity_rows(followed)
    columns, table, stem = tuple(rows[0]), [tuple(row.values()) for row in rows], runs.file_name("word-through-layers")
    data = table_files(texts.ALL_LAYERS, texts.STEPS, stem, columns, table)
    about = runs.about | {"word": followed.word}
    code = Code(texts.WORD_RESULT, lambda: word_numbers(runs, followed))
    return Export(title, caption, stem, figure, charts_page(figure, columns, lambda: table), (data,), code, about)


@dataclass(frozen=True)
class SideCall:
    """The computation of a side: its run, its map in whole words, and the spelling of these."""

    trace: Computation
    view: Computation
    spelled: Computation
    weights: Computation


def maps_numbers(runs: RunPair) -> list[Computation]:
    """Return the computation of both maps and of their difference."""
    one, other = (_side_call(name, run, runs.hide) for name, run in zip("ab", runs.runs, strict=True))
    sides = one.view, other.view, one.spelled, other.spelled, one.weights, other.weights
    comparison = named("comparison", call(compare_attention, *sides))
    both = named("both", comparison.comparable.any(-1), "the words that both have")
    difference = named("difference", comparison.difference[both][:, both])
    numbers = (one.weights, other.weights, difference)
    return [comparison.labels, comparison.rows, *(each.round(3) for each in numbers)]


def word_numbers(runs: RunPair, followed: WordThroughLayers) -> list[Computation]:
    """Return the computation of a word's similarity through the layers of A and B."""
    one, other = (_side_call(name, run, runs.hide) for name, run in zip("ab", runs.runs, strict=True))
    vectors = (call(word_comparison.word_vectors, side.trace.hidden, side.view.query_places) for side in (one, other))
    compared = call(word_comparison.cosines, *vectors), one.spelled, other.spelled, tuple(followed.pair)
    similarity = named("similarity", call(word_comparison.word_similarity, *compared))
    return [named("word", similarity.word), named("different", similarity.mean)]


def _side_call(name: str, run: Run, hide: bool) -> SideCall:
    """Return the computation of a side, with its name at the end of every variable."""
    read, engine = run.trace.attention.query_tokens, load_call(run.side.model, run.reads_special, f"engine_{name}")
    if run.side.seed:
        from tx_core.lessons.untrained import untrained_engine  # imports torch, which this page needs for random weights only

        engine = named(f"untrained_{name}", call(untrained_engine, engine, run.side.seed))
    given = {"keep": TRACE_PARTS} | changes_argument(run.trace.interventions, f"changes_{name}")
    trace = named(f"trace_{name}", engine.trace(*sentences_of(read), **given))
    view = named(f"view_{name}", call(views.view, trace.attention, merge_words=True, hide_special=hide))
    spelled = named(f"spelled_{name}", call(word_comparison.spell_words, trace.attention.query_tokens, view.query_places))
    heads = heads_of(run.side.head, run.view.weights.shape[1])
    weights = named(f"weights_{name}", call(views.mean_of_heads, view.weights, heads), "(layer, head), counted from 0")
    return SideCall(trace, view, spelled, weights)
