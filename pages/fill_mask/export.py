"""The predictions of the page with blanks as an export: the lists, and what the reader's changes do to one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from pages.fill_mask.blank_attention import BlankShown
from pages.fill_mask.charts import Told, change_chart, charts_of
from pages.fill_mask.prediction_change import in_words, shifted
from pages.fill_mask.snippets import core_lists, core_shift, library_lists, library_shift
from pages.fill_mask.subject import Lists
from pages.ui.canvas.bars import bars_in_words
from pages.ui.export.attention import attention_exports
from pages.ui.export.attention_map import changes_in_words
from pages.ui.export.data import DataTable, data_files
from pages.ui.export.figure import charts_figure, charts_page
from pages.ui.export.records import Code, Export, Exports
from pages.ui.export.texts import quoted
from pages.ui.panels.predictions import ListSettings, SentencePredictions, list_settings, prediction_rows, word_label
from pages.ui.panels.texts import PREDICTION_COLUMNS
from pages.ui.shell import controls
from pages.ui.shell.plain_names import file_stem
from tx_core.fill_mask.prediction_shift import BlankShift

LISTS, MOVED = "The predictions", "What your changes do"
TOGETHER = (
    "The fillings of all blanks together come from a search that this project does; this code gives the lists at each blank, "
    "and the words that you named."
)
MOVED_COLUMNS = ("blank", "word", "piece", "before", "after", "rank before", "rank after")


def prediction_exports(page: str, model: str, found: Sequence[SentencePredictions], seen: BlankShown | None) -> Exports:
    """Offer the lists; and where the attention of a blank is shown, that and what changes do to the blank."""
    lists = Lists(model, tuple(found), list_settings(page))
    offered = {LISTS: lambda: lists_export(lists)}
    if seen and seen.changed:
        offered[MOVED] = lambda: moved_export(lists, seen)
    return offered | (attention_exports(page, seen.trace, seen.shown) if seen else {})


def lists_export(lists: Lists) -> Export:
    """Make the lists at the blanks, the named words and the joint fillings ready for export."""
    several = sum(len(answer.filling.blanks) for answer in lists.found) > 1
    title = f"Most likely words at the {'blanks' if several else 'blank'}, {controls.model_title(lists.model)}"
    texts = [f"Text: {quoted(lists.found[0].text)}"]
    if len(lists.found) > 1:
        texts = [f"{place} sentence: {quoted(one.text)}" for place, one in zip(("First", "Second"), lists.found, strict=False)]
    caption = " ".join([f"{title}.", *texts, *lists.notes])
    laid, across = _side_by_side(lists)
    told = " ".join(bars_in_words(one.title, one.labels, one.shares) for one in laid if one)
    figure = charts_figure([one and one.chart for one in laid], told, across=across)
    table = [row for answer in lists.found for row in prediction_rows(answer)]
    name = file_stem("predictions", lists.model)
    joint = any(answer.joint for answer in lists.found)
    code = Code(
        "It ends with `predictions`: what is listed, from the first list to the last, each with its probability.",
        lambda: core_lists(title, lists),
        lambda: library_lists(title, lists),
        TOGETHER if joint else "",
    )
    numbers = data_files(
        "All lists",
        f"{len(table):,} answers with their probabilities, ranks and pieces.",
        name,
        len(table) * len(PREDICTION_COLUMNS),
        lambda: DataTable(lists.about, PREDICTION_COLUMNS, table),
    )
    return Export(title, caption, name, figure, charts_page(figure, PREDICTION_COLUMNS, lambda: table), (numbers,), code)


def _side_by_side(lists: Lists) -> tuple[list[Told | None], int]:
    """Lay the charts out as on the page: two sentences side by side, or the blanks and the named words of one."""
    by_sentence = [
        _charts(answer, lists.chosen, number if len(lists.found) > 1 else 0) for number, answer in enumerate(lists.found, start=1)
    ]
    if len(by_sentence) == 1:
        return by_sentence[0], min(2, len(by_sentence[0]))
    return [chart for row in zip_longest(*by_sentence) for chart in row], 2


def _charts(answer: SentencePredictions, chosen: ListSettings, sentence: int) -> list[Told]:
    found = list(charts_of(answer, chosen))
    return [replace(one, chart=one.chart | {"title": _of_sentence(sentence, one.title)}) for one in found] if sentence else found


def _of_sentence(number: int, title: str) -> str:
    return f"Sentence {number}: {title[0].lower()}{title[1:]}"


def moved_export(lists: Lists, seen: BlankShown) -> Export:
    """Make what the reader's changes do to one blank ready for export."""
    shift = shifted(lists.model, seen.text, seen.changed, lists.chosen).blanks[seen.number]
    changes = f"The run was changed: {changes_in_words(seen.trace)}."
    title = f"What a change does to blank {seen.number + 1}, {controls.model_title(lists.model)}"
    caption = " ".join([f"{title}.", f"Text: {quoted(seen.text)}", changes, in_words(shift), *lists.notes])
    figure = charts_figure([change_chart(shift, "", lists.chosen)], in_words(shift))
    table = _moved_rows(shift)
    name = file_stem("changed-predictions", lists.model)
    numbers = data_files(
        "All words",
        f"{len(table)} words with their probability and their rank before and after.",
        name,
        len(table) * 7,
        lambda: DataTable(
            lists.about | {"texts": [seen.text], "changes": changes, "moved probability": shift.variation}, MOVED_COLUMNS, table
        ),
    )
    code = Code(
        "It ends with `moved`: each word with its probability before and after, and its rank before and after.",
        lambda: core_shift(title, lists, seen),
        lambda: library_shift(title, lists, seen),
    )
    return Export(title, caption, name, figure, charts_page(figure, MOVED_COLUMNS, lambda: table), (numbers,), code)


def _moved_rows(shift: BlankShift) -> list[tuple[str | float | int, ...]]:
    return [
        (
            shift.number + 1,
            word_label(one.prediction),
            one.prediction.piece,
            one.before,
            one.after,
            one.rank_before,
            one.rank_after,
        )
        for one in shift.moved
    ]
