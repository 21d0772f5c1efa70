"""What stands below the stage: what a difference and a similarity show, both as tables, and data and code for export."""

from collections.abc import Iterator

import numpy as np
import streamlit as st
from jaxtyping import Int

from pages.compare import texts
from pages.compare.inputs import PAGE
from pages.compare.runs import TRACE_PARTS, RunPair, SideRun
from pages.compare.words import FollowedWord
from pages.ui.export.computation import Computation, call, changes_argument, load_call, named, sentences_of
from pages.ui.export.menu import export_menu, offer_tables
from pages.ui.export.records import DataFiles, DataTable, Export, PartNumbers, table_export
from tx_core.analysis import views
from tx_core.analysis.comparison import (
    Comparison,
    compare_attention,
    cosines,
    largest_links,
    list_links,
    spell_words,
    word_similarities,
    word_vectors,
)

MAX_LINK_ROWS = 2000
COLUMNS = ("query", "key", "A", "B", "B − A")


def show_below(pair: RunPair, word: FollowedWord | None) -> None:
    """Explain the picture, and offer its numbers and its code, which follow the view of the browser. word: the followed one."""
    st.markdown(f"{texts.SHOWS} {texts.DOES_NOT_SHOW[pair.vary]}")
    if word:
        st.markdown(texts.WORD_SHOWS)
    offer_tables(PAGE, lambda: [_difference_table(pair)], texts.TABLE)
    if word:
        offer_tables(PAGE, lambda: [similarity_table(word)], texts.SIMILARITIES, name="similarity_table")
    exports = {texts.MAPS_EXPORT: lambda: maps_export(pair)}
    if word:
        exports[texts.WORD_EXPORT] = lambda: word_export(pair, word)
    export_menu(PAGE, exports)


def _difference_table(pair: RunPair) -> DataTable:
    """Return the links of A and B."""
    comparison, note = pair.compare(), texts.TABLE_ROWS
    listed = every = list_links(comparison)
    if len(every) > MAX_LINK_ROWS:
        listed = largest_links(comparison, every, MAX_LINK_ROWS)
        note += " " + texts.TABLE_CUT.format(all=len(every), shown=len(listed))
    return DataTable(COLUMNS, list(difference_rows(comparison, listed)), note=note)


def difference_rows(comparison: Comparison, listed: Int[np.ndarray, "link 2"]) -> Iterator[tuple[str | float | None, ...]]:
    """Yield links, as COLUMNS names them: both weights and their difference, None for a missing one."""
    labels = [f"{place + 1} {label}" for place, label in enumerate(comparison.labels)]
    for row, column in listed.tolist():
        (mine, yours), (my_key, your_key) = comparison.rows[row], comparison.rows[column]
        before = None if mine is None or my_key is None else _shortest(comparison.one[mine, my_key])
        after = None if yours is None or your_key is None else _shortest(comparison.other[yours, your_key])
        change = None if before is None or after is None else _shortest(comparison.difference[row, column])
        yield labels[row], labels[column], before, after, change


def _shortest(number: np.floating) -> float:
    """Return a number of an array with the fewest digits that restore it."""
    return float(str(number))


def similarity_table(followed: FollowedWord) -> DataTable:
    """Return a word's similarities, one row per layer."""
    similarity, names = followed.similarity, texts.SIMILARITY_COLUMNS
    lines = {names["word"].format(word=followed.name): similarity.word}
    if similarity.shared is not None:
        lines[names["shared"]] = similarity.shared
    if similarity.mean is not None:
        lines |= {names["different"]: similarity.mean, names["deviation"]: similarity.spread}
    steps = [texts.EMBEDDINGS, *(texts.LAYER.format(step=step) for step in range(1, len(similarity.word)))]
    rows = [(step, *map(_shortest, values)) for step, *values in zip(steps, *lines.values(), strict=True)]
    return DataTable((names["depth"], *lines), rows)


# Export: the stage makes the figure and the web page of the maps by itself.


def maps_export(pair: RunPair) -> Export:
    """Return data and code of the two maps and their difference."""
    comparison = pair.compare()
    title = texts.MAPS_TITLE.format(sides=pair.heads_and_models)
    links = list_links(comparison)
    files = DataFiles(len(links), len(COLUMNS), lambda: DataTable(COLUMNS, list(difference_rows(comparison, links))))
    return Export(PartNumbers(title, pair.about, maps_numbers(pair)), {texts.MAPS_EXPORT: files})


def word_export(pair: RunPair, followed: FollowedWord) -> Export:
    """Return the export of the similarities of a word's vectors in A and in B."""
    title = texts.WORD_TITLE.format(word=followed.name, models=pair.models)
    numbers = PartNumbers(title, pair.about | {"word": followed.name}, word_numbers(pair, followed))
    return table_export(numbers, similarity_table(followed))


def maps_numbers(pair: RunPair) -> list[Computation]:
    """Return the computation of both maps and of their difference."""
    one, other = (_side_call(name, run, words=run.words, hide=run.hide) for name, run in zip("ab", pair.runs, strict=True))
    (_, *mine), (_, *yours) = one, other
    sides = [part for pair in zip(mine, yours, strict=True) for part in pair]  # both views, both spellings, both maps
    comparison = named("comparison", call(compare_attention, *sides))
    both = named("both", comparison.comparable.any(-1), "the words that both have")
    difference = named("difference", comparison.difference[both][:, both])
    numbers = (mine[-1], yours[-1], difference)
    return [comparison.labels, comparison.rows, *(each.round(3) for each in numbers)]


def word_numbers(pair: RunPair, followed: FollowedWord) -> list[Computation]:
    """Return the computation of a word's similarity through the layers of A and B."""
    sides = [_side_call(name, run, words=True, hide=False) for name, run in zip("ab", pair.runs, strict=True)]
    vectors = (call(word_vectors, trace.hidden, view.query_places) for trace, view, _, _ in sides)
    compared = call(cosines, *vectors), *(spelled for _, _, spelled, _ in sides), [tuple(followed.places)]
    similarity = named("similarity", call(word_similarities, *compared)[0])
    return [named("word", similarity.word), named("different", similarity.mean)]


def _side_call(name: str, run: SideRun, *, words: bool, hide: bool) -> tuple[Computation, ...]:
    """Return the computation of a side, with its name at the end of every variable: run, view, spelling of its words, map."""
    read, engine = run.trace.attention.query_tokens, load_call(run.name.model, run.reads_special, f"engine_{name}")
    if run.name.seed:
        from tx_core.lessons.untrained import untrained_engine  # imports torch, which this page needs for random weights only

        engine = named(f"untrained_{name}", call(untrained_engine, engine, run.name.seed))
    given = {"keep": TRACE_PARTS} | changes_argument(run.trace.interventions, f"changes_{name}")
    trace = named(f"trace_{name}", engine.trace(*sentences_of(read), **given))
    view = named(f"view_{name}", call(views.view, trace.attention, merge_words=words, hide_special=hide))
    spelled = named(f"spelled_{name}", call(spell_words, trace.attention.query_tokens, view.query_places))
    weights = named(f"weights_{name}", call(views.mean_of_heads, view.weights, run.heads), "(layer, head), counted from 0")
    return trace, view, spelled, weights
