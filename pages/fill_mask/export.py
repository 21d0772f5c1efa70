"""Export the predictions: the lists of the page, and what the reader's changes do to one blank."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from pages.fill_mask import texts
from pages.fill_mask.blank_attention import BlankView
from pages.fill_mask.head_scan import ShownScan, in_words, shown_scan
from pages.fill_mask.predictions import (
    AnnotatedChart,
    Lists,
    change_chart,
    charts_of,
    describe_shift,
    prediction_shift,
)
from pages.fill_mask.snippets import project_lists, project_scan, project_shift, transformers_lists, transformers_shift
from pages.fill_mask.tables import SCAN_COLUMNS, SHIFT_COLUMNS, scan_rows, shift_rows
from pages.ui.canvas.charts import bars_in_words
from pages.ui.canvas.drawings import matrix_drawing
from pages.ui.export.attention import attention_exports
from pages.ui.export.attention_map import changes_in_words
from pages.ui.export.data import DataTable, data_files
from pages.ui.export.figure import charts_figure, charts_page
from pages.ui.export.records import Code, Export, Exports, file_stem
from pages.ui.export.texts import WITHOUT_SPECIAL, quoted
from pages.ui.panels.changes import describe_change, stack_names
from pages.ui.panels.predictions import ListSettings, SentencePredictions, list_settings, prediction_rows
from pages.ui.panels.texts import PREDICTION_COLUMNS
from pages.ui.shell import controls
from tx_core.engine.engine import Engine


def prediction_exports(
    page: str, engine: Engine, sentences: Sequence[SentencePredictions], blank_view: BlankView | None
) -> Exports:
    """Offer the lists; where the attention of a blank is shown, also that and the effect of changes on the blank."""
    lists = Lists(engine.name, tuple(sentences), list_settings(page))
    offered = {texts.EXPORT_LISTS: lambda: lists_export(lists)}
    if blank_view and blank_view.changed:
        offered[texts.EXPORT_CHANGE] = lambda: moved_export(lists, engine, blank_view)
    if blank_view and (scan := shown_scan(page)):
        offered[texts.EXPORT_SCAN] = lambda: scan_export(lists, blank_view, scan)
    return offered | (attention_exports(page, blank_view.trace, blank_view.head_map) if blank_view else {})


def lists_export(lists: Lists) -> Export:
    """Export the lists at the blanks, the checked words and the joint fillings."""
    several = sum(len(answer.filling.blanks) for answer in lists.sentences) > 1
    title = texts.EXPORT_LISTS_TITLE[several].format(model=controls.model_title(lists.model))
    sentences = [texts.EXPORT_TEXT.format(text=quoted(lists.sentences[0].text))]
    if len(lists.sentences) > 1:
        sentences = [
            texts.EXPORT_SENTENCE.format(number=number, text=quoted(one.text))
            for number, one in enumerate(lists.sentences, start=1)
        ]
    caption = " ".join([f"{title}.", *sentences, *lists.notes])
    charts, across = _side_by_side(lists)
    alt = " ".join(bars_in_words(one.title, one.labels, one.shares) for one in charts if one)
    figure = charts_figure([one and one.chart for one in charts], alt, across=across)
    table = [row for answer in lists.sentences for row in prediction_rows(answer)]
    name = file_stem("predictions", lists.model)
    joint = any(answer.joint for answer in lists.sentences)
    code = Code(
        texts.EXPORT_LISTS_CODE,
        lambda: project_lists(title, lists),
        lambda: transformers_lists(title, lists),
        texts.EXPORT_JOINT_NOTE if joint else "",
    )
    numbers = data_files(
        texts.EXPORT_ALL_LISTS,
        texts.EXPORT_ALL_LISTS_HELP.format(count=len(table)),
        name,
        len(table) * len(PREDICTION_COLUMNS),
        lambda: DataTable(PREDICTION_COLUMNS, table),
    )
    page = charts_page(figure, PREDICTION_COLUMNS, lambda: table)
    return Export(title, caption, name, figure, page, (numbers,), code, lists.about)


def _side_by_side(lists: Lists) -> tuple[list[AnnotatedChart | None], int]:
    """Lay the charts out as on the page: two sentences side by side, or the blanks and the named words of one."""
    by_sentence = [
        _charts(answer, lists.chosen, number if len(lists.sentences) > 1 else 0)
        for number, answer in enumerate(lists.sentences, start=1)
    ]
    if len(by_sentence) == 1:
        return by_sentence[0], min(2, len(by_sentence[0]))
    return [chart for row in zip_longest(*by_sentence) for chart in row], 2


def _charts(answer: SentencePredictions, chosen: ListSettings, sentence: int) -> list[AnnotatedChart]:
    charts = list(charts_of(answer, chosen))
    if not sentence:
        return charts
    titles = [texts.EXPORT_SENTENCE_CHART.format(number=sentence, title=one.title) for one in charts]
    return [replace(one, chart=one.chart | {"title": title}) for one, title in zip(charts, titles, strict=True)]


def moved_export(lists: Lists, engine: Engine, blank_view: BlankView) -> Export:
    """Export what the reader's changes do to one blank."""
    shift = prediction_shift(engine, blank_view.text, blank_view.changed, lists.chosen).blanks[blank_view.number]
    changes = texts.EXPORT_CHANGED_RUN.format(changes=changes_in_words(blank_view.trace))
    title = texts.EXPORT_CHANGE_TITLE.format(number=blank_view.number + 1, model=controls.model_title(lists.model))
    caption = " ".join(
        [f"{title}.", texts.EXPORT_TEXT.format(text=quoted(blank_view.text)), changes, describe_shift(shift), *lists.notes]
    )
    figure = charts_figure([change_chart(shift.moved, "", lists.chosen)], describe_shift(shift))
    table = shift_rows(shift)
    name = file_stem("changed-predictions", lists.model)
    numbers = data_files(
        texts.EXPORT_ALL_WORDS,
        texts.EXPORT_ALL_WORDS_HELP.format(count=len(table)),
        name,
        len(table) * len(SHIFT_COLUMNS),
        lambda: DataTable(SHIFT_COLUMNS, table),
    )
    code = Code(
        texts.EXPORT_CHANGE_CODE,
        lambda: project_shift(title, lists, blank_view),
        lambda: transformers_shift(title, lists, blank_view),
    )
    about = lists.about | {"texts": [blank_view.text], "changes": changes_in_words(blank_view.trace)}
    about["moved probability"] = shift.variation
    page = charts_page(figure, SHIFT_COLUMNS, lambda: table)
    return Export(title, caption, name, figure, page, (numbers,), code, about)


def scan_export(lists: Lists, blank_view: BlankView, scan: ShownScan) -> Export:
    """Export what switching off each head does to the followed word."""
    model, change = controls.model_title(lists.model), scan.followed.change
    title = texts.EXPORT_SCAN_TITLE.format(followed=scan.followed.name, model=model)
    changes = "; ".join(describe_change(one, stack_names(blank_view.trace)) for one in scan.base)
    changed = [texts.EXPORT_CHANGED_RUN.format(changes=changes)] if changes else []
    how = [] if lists.reads_special else [WITHOUT_SPECIAL]
    text = texts.EXPORT_TEXT.format(text=quoted(blank_view.text))
    caption = " ".join([f"{title}.", text, *how, *changed, in_words(scan.result)])
    rows = [texts.EXPORT_SCAN_LAYER.format(number=number + 1) for number in range(change.shape[0])]
    columns = [texts.EXPORT_SCAN_HEAD.format(number=number + 1) for number in range(change.shape[1])]
    drawing = matrix_drawing("", "signed", change, rows, columns, limit=float(abs(change).max()), root=True)
    figure = charts_figure([drawing.chart], caption)
    table = scan_rows(scan.result, scan.followed)
    name = file_stem("head-scan", lists.model)
    numbers = data_files(
        texts.EXPORT_SCAN,
        texts.EXPORT_SCAN_HELP.format(count=len(table)),
        name,
        len(table) * len(SCAN_COLUMNS),
        lambda: DataTable(SCAN_COLUMNS, table),
    )
    code = Code(texts.EXPORT_SCAN_CODE, lambda: project_scan(title, lists, blank_view, scan))
    about = lists.about | {"texts": [blank_view.text], "changes": changes, "blank": blank_view.number + 1}
    page = charts_page(figure, SCAN_COLUMNS, lambda: table)
    return Export(title, caption, name, figure, page, (numbers,), code, about)
