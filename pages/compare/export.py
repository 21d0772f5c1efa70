"""A comparison as an export: A, B and B − A; and a word's vectors in both, layer by layer."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.compare.canvas import MODULE, STYLES, packed_comparison
from pages.compare.maps import difference_rows, partners_in_words, title
from pages.compare.run import Run
from pages.compare.sides import Sides
from pages.compare.snippets import core_maps, core_word
from pages.compare.word_similarity import Followed, chart_parts, likeness_rows, limits
from pages.ui.canvas.lines import lines_chart
from pages.ui.export.data import DataTable, data_files
from pages.ui.export.figure import charts_figure, charts_page
from pages.ui.export.records import Code, Export, Exports, WebPage
from pages.ui.shell.address import widget_key
from tx_core.analysis.comparison import describe_largest_difference, list_links
from tx_core.analysis.word_comparison import describe_word_similarity

if TYPE_CHECKING:
    from tx_core.analysis.comparison import Comparison

MAPS, WORD = "A, B and B − A", "The word through the layers"
COLUMNS = ("query", "key", "A", "B", "B − A")
MEAN_OF_PIECES = "A word's vector is the mean of its pieces' vectors."


def comparison_exports(page: str, one: Run, other: Run, found: "Comparison", followed: Followed | None) -> Exports:
    """Offer the maps, and the word that was followed if there is one."""
    state = {name: st.session_state[widget_key(page, name)] for name in ("vary", "hide", "scale", "focus")}
    sides = Sides(one, other, state["vary"], state["hide"])
    offered = {MAPS: lambda: maps_export(sides, found, state["scale"], state["focus"])}
    if followed:
        offered[WORD] = lambda: word_export(sides, followed)
    return offered


def maps_export(sides: Sides, found: "Comparison", scale: str, focus: int | None) -> Export:
    """Make the two maps and their difference ready for export."""
    told = describe_largest_difference(found, focus)
    titles = (f"A · {title(sides.one.side, sides.vary)}", f"B · {title(sides.other.side, sides.vary)}", "B − A")
    tokens = (sides.one.view.queries, sides.other.view.queries)

    def packed(**more: object) -> bytes:
        given = {"drawing": "comparison"} | more
        return packed_comparison(found, tokens, titles, label=told, scale=scale, focus=focus, **given)

    heading = f"Attention of A and B compared: {sides.told}"
    caption = " ".join([f"{heading}.", *sides.notes, partners_in_words(found), told, "Rows look, columns are looked at."])
    web_page = WebPage(MODULE, STYLES, "Point at a cell of one map to see it in all.", packed)
    count = len(list_links(found))
    numbers = data_files(
        "All links",
        f"{count:,} links of A and B: their weights, the difference, and which words are partners.",
        sides.file_name("comparison"),
        count * len(COLUMNS),
        lambda: _saved(sides, found),
    )
    code = Code(
        "It ends with `weights_a`, `weights_b`, and `difference` between the words that both have.",
        lambda: core_maps(heading, sides),
    )
    return Export(heading, caption, sides.file_name("comparison"), packed, web_page, (numbers,), code)


def _saved(sides: Sides, found: "Comparison") -> DataTable:
    table = [tuple(row[name] for name in COLUMNS) for row in difference_rows(found)]
    places = np.array([[-1 if place is None else place for place in row] for row in found.rows], np.int32)
    arrays = {
        "weights_a": found.one,
        "weights_b": found.other,
        "words_a": np.array(sides.one.view.queries, np.str_),
        "words_b": np.array(sides.other.view.queries, np.str_),
        "difference": np.where(found.there, found.difference, np.nan),
        "words": np.array(found.labels, np.str_),
        "places": places,
    }
    axes = "places: of each word in A and in B, from 0, -1 for none; difference: a row and a column for each word"
    return DataTable(sides.about | {"axes": axes}, COLUMNS, table, arrays)


def word_export(sides: Sides, followed: Followed) -> Export:
    """Make the similarities of a word's vectors in A and in B ready for export."""
    found, word = followed.found, followed.word
    heading = f"How alike “{word}” is in A and in B, layer by layer, {sides.models}"
    caption = " ".join([f"{heading}.", *sides.sentences, describe_word_similarity(found, word), MEAN_OF_PIECES])
    steps, series, band = chart_parts(found, word)
    note = "Cosine of two vectors, from the embeddings to the last layer."
    note += " The shade is one standard deviation around the words that differ." if band else ""
    figure = charts_figure(
        [lines_chart("", steps, series, limits=limits(found), band=band, tall=280, note=note)],
        describe_word_similarity(found, word),
    )
    rows = likeness_rows(found, word)
    columns, table = tuple(rows[0]), [tuple(row.values()) for row in rows]
    name = sides.file_name("word-through-layers")
    numbers = data_files(
        "All layers",
        f"{len(table)} steps, from the embeddings to the last layer.",
        name,
        len(table) * len(columns),
        lambda: DataTable(sides.about | {"word": word}, columns, table),
    )
    code = Code(
        "It ends with `word`, the similarity of its vectors after each layer; `different` is the mean over words that differ.",
        lambda: core_word(heading, sides, followed),
    )
    return Export(heading, caption, name, figure, charts_page(figure, columns, lambda: table), (numbers,), code)
