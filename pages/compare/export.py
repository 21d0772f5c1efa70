"""A comparison for export: A, B and B − A; and a word's vectors in both, layer by layer."""

from collections.abc import Sequence

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
from pages.ui.export.code import IMPORT_CHANGES, interventions_literal, load_line
from pages.ui.export.data import DataTable, data_files, table_files
from pages.ui.export.figure import charts_figure, charts_page
from pages.ui.export.records import Code, Export, Exports, WebPage, one_line
from pages.ui.export.texts import AXES, PROJECT_COMMENT
from pages.ui.shell.address import widget_key
from tx_core.analysis.comparison import Comparison, describe_largest_difference, list_links
from tx_core.analysis.word_comparison import describe_word_similarity
from tx_core.engine import catalogue

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
    code = Code(texts.MAPS_RESULT, lambda: maps_code(title, runs))
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
    code = Code(texts.WORD_RESULT, lambda: word_code(title, runs, followed))
    return Export(title, caption, stem, figure, charts_page(figure, columns, lambda: table), (data,), code, about)


def maps_code(title: str, runs: RunPair) -> str:
    """Return the code that compares both maps."""
    imports = ["from tx_core.analysis.comparison import compare_attention"]
    return "\n".join(
        [
            *_code_of_sides(title, runs, imports, uses_numpy=True),
            "comparison = compare_attention(view_a, view_b, spelled_a, spelled_b, weights_a, weights_b)",
            "both = [row for row, positions in enumerate(comparison.rows) if None not in positions]",
            "difference = comparison.difference[np.ix_(both, both)]",
            "",
            "print(comparison.labels, comparison.rows)",
            'print(weights_a.round(3), weights_b.round(3), difference.round(3), sep="\\n")',
            "",
        ]
    )


def word_code(title: str, runs: RunPair, followed: WordThroughLayers) -> str:
    """Return the code that follows a word through the layers of A and B."""
    imports = ["from tx_core.analysis.word_comparison import cosines, word_similarity, word_vectors"]
    return "\n".join(
        [
            *_code_of_sides(title, runs, imports, uses_numpy=False),
            "vectors_a = word_vectors(trace_a.hidden, view_a.query_places)",
            "vectors_b = word_vectors(trace_b.hidden, view_b.query_places)",
            f"similarity = word_similarity(cosines(vectors_a, vectors_b), spelled_a, spelled_b, {tuple(followed.pair)})",
            "word, different = similarity.word, similarity.mean",
            "",
            'print(word, different, sep="\\n")',
            "",
        ]
    )


def _code_of_sides(title: str, runs: RunPair, imports: Sequence[str], *, uses_numpy: bool) -> list[str]:
    """Return the code that runs A and B and prepares their maps."""
    imported = ["from tx_core import load", "from tx_core.analysis import views, word_comparison", *imports]
    if any(run.trace.interventions for run in runs.runs):
        imported.append(IMPORT_CHANGES)
    if runs.has_random_weights:
        imported.append("from tx_core.lessons.untrained import untrained_engine")
    lines = [
        PROJECT_COMMENT.format(title=one_line(title)),
        *(["import numpy as np", ""] if uses_numpy else []),
        *sorted(imported),
    ]
    for name, run in zip("ab", runs.runs, strict=True):
        lines += ["", *_code_of_side(name, run, runs.hide)]
    return [*lines, ""]


def _code_of_side(name: str, run: Run, hide: bool) -> list[str]:
    changes, heads = run.trace.interventions, heads_of(run.side.head, run.view.weights.shape[1])
    arguments = [repr(text) for text in (run.side.text, run.side.pair) if text]
    arguments.append(f"keep={TRACE_PARTS!r}")
    if changes:
        arguments.append(f"interventions={interventions_literal(changes)}")
    random = [f"engine_{name} = untrained_engine(engine_{name}, {run.side.seed})"] if run.side.seed else []
    return [
        load_line(catalogue.card(run.side.model).name, run.reads_special, f"engine_{name}"),
        *random,
        f"trace_{name} = engine_{name}.trace({', '.join(arguments)})",
        f"view_{name} = views.view(trace_{name}.attention, merge_words=True, hide_special={hide})",
        f"spelled_{name} = word_comparison.spell_words(trace_{name}.attention.query_tokens, view_{name}.query_places)",
        f"weights_{name} = views.mean_of_heads(view_{name}.weights, {heads})  # (layer, head), counted from 0",
    ]
