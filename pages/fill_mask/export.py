"""Export the predictions, and list them as tables: the lists of the page, what changes and each head do to a blank."""

from collections.abc import Sequence

from pages.fill_mask import texts
from pages.fill_mask.head_scan import SCAN_COLUMNS, followed_name, scan_rows
from pages.fill_mask.predictions import SentencePredictions, prediction_rows
from pages.fill_mask.run import BlankRun
from pages.ui.export.attention import AttentionMap, attention_exports, changes_in_words
from pages.ui.export.computation import Computation, call, changes_argument, each, engine_call, named
from pages.ui.export.records import DataTable, Export, Exports, PartNumbers, table_export
from pages.ui.export.transformers_code import transformers_filling_code
from pages.ui.shell import controls
from pages.ui.stage.changes import describe_change
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.prediction_shift import BlankShift, EntryShift, shift_predictions
from tx_core.fill_mask.predictions import fill_jointly, predict
from tx_core.fill_mask.word_scores import score_words

SHIFT_COLUMNS = ("blank", "word", "piece", "id", "before", "after", "difference", "rank before", "rank after")


def prediction_tables(sentences: Sequence[SentencePredictions], shift: BlankShift | None) -> list[DataTable]:
    """Return all numbers of the lists, below what the reader's changes do to the blank that is looked at."""
    rows = [row for answer in sentences for row in prediction_rows(answer)]
    if shift is None:
        return [DataTable(texts.PREDICTION_COLUMNS, rows)]
    changed = DataTable(SHIFT_COLUMNS, shift_rows(shift), note=texts.SHIFT_TABLE)
    return [changed, DataTable(texts.PREDICTION_COLUMNS, rows, note=texts.UNCHANGED_TABLE)]


def shift_rows(shift: BlankShift) -> list[tuple[str | float | int, ...]]:
    """Return what the changes do to one blank as rows of SHIFT_COLUMNS."""
    rows = []
    for one in shift.moved:
        told = one.prediction
        numbers = one.before, one.after, one.after - one.before, one.rank_before, one.rank_after
        rows.append((shift.number + 1, told.label, told.piece, told.id, *numbers))
    return rows


def prediction_exports(run: BlankRun, shown: AttentionMap | None) -> Exports:
    """Offer the lists; where the attention of a blank is shown, also that and what changes and heads do to the blank."""
    looked = run.looked
    offered = {texts.EXPORT_LISTS: lambda: lists_export(run)}
    if shown and looked.changed:
        offered[texts.EXPORT_CHANGE] = lambda: moved_export(run)
    if shown and looked.scan_asked and looked.scan_asked.result:
        offered[texts.EXPORT_SCAN] = lambda: scan_export(run)
    return offered | (attention_exports(shown) if shown else {})


def lists_export(run: BlankRun) -> Export:
    """Export the lists at the blanks, the checked words and the joint fillings."""
    several = sum(len(answer.filling.blanks) for answer in run.answers) > 1
    title = texts.EXPORT_LISTS_TITLE[several].format(model=controls.model_title(run.engine.name))
    (table,) = prediction_tables(run.answers, None)
    chosen, fillings = run.inputs.chosen, [answer.filling for answer in run.answers]
    is_usual = chosen.temperature == chosen.top_p == 1
    code = transformers_filling_code(run.engine.name, fillings, chosen.listed) if is_usual else ""
    return table_export(PartNumbers(title, run.about, list_numbers(run)), table, code)


def moved_export(run: BlankRun) -> Export:
    """Export what the reader's changes do to one blank."""
    looked = run.looked
    title = texts.EXPORT_CHANGE_TITLE.format(number=looked.number + 1, model=controls.model_title(run.engine.name))
    about = run.about | {"texts": [looked.text], "changes": changes_in_words(looked.trace)}
    about |= {"moved probability": looked.shift.variation}
    return table_export(PartNumbers(title, about, shift_numbers(run)), DataTable(SHIFT_COLUMNS, shift_rows(looked.shift)))


def scan_export(run: BlankRun) -> Export:
    """Export what switching off each head does to the followed word."""
    looked = run.looked
    scan = looked.scan_asked
    title = texts.EXPORT_SCAN_TITLE.format(followed=followed_name(scan.followed), model=controls.model_title(run.engine.name))
    changes = "; ".join(describe_change(one, looked.trace.stacks) for one in scan.base)
    table = DataTable(SCAN_COLUMNS, scan_rows(scan.result, scan.followed))
    about = run.about | {"texts": [looked.text], "changes": changes, "blank": looked.number + 1}
    return table_export(PartNumbers(title, about, scan_numbers(run)), table)


def list_numbers(run: BlankRun) -> list[Computation]:
    """Return the computation of every word on the page with its probability."""
    engine, predictions = engine_call(run.inputs), []
    for number, answer in enumerate(run.answers, start=1):
        several = str(number) if len(run.answers) > 1 else ""
        text = named(f"text{several}", answer.text)
        filling = named(f"filling{several}", call(predict, engine, text, **run.inputs.chosen.options))
        for blank in answer.filling.blanks:
            predictions.append(each(filling.blanks[blank.number].predictions, lambda entry: (entry.piece, entry.probability)))
        for blank, scores in enumerate(answer.scores):
            if words := tuple(score.word for score in scores if score.probability is not None):
                scored = call(score_words, engine, text, words, blank=blank)
                predictions.append(each(scored, lambda score: (score.word, score.probability)))
        if answer.joint:
            predictions.append(each(call(fill_jointly, engine, text), lambda joint: (joint.words, joint.probability)))
    return [named("predictions", sum(predictions[1:], predictions[0]))]


def shift_numbers(run: BlankRun) -> list[Computation]:
    """Return the computation of the predictions at one blank with and without the changes."""
    looked = run.looked
    engine, changes = engine_call(run.inputs), changes_argument(looked.changed)
    blank = call(shift_predictions, engine, looked.text, **changes, **run.inputs.chosen.options)[looked.number]

    def row(one: EntryShift) -> tuple[object, ...]:
        return one.prediction.piece, one.before, one.after, one.after - one.before, one.rank_before, one.rank_after

    return [named("moved", each(blank.moved, row))]


def scan_numbers(run: BlankRun) -> list[Computation]:
    """Return the computation of switching off one head after the other, for the word or the difference of the page."""
    looked = run.looked
    scan = looked.scan_asked
    named_words = {"named": [one.ids for one in scan.result.named]} if scan.result.named else {}
    engine, given = engine_call(run.inputs), changes_argument(scan.base) | named_words
    found = named("scan", call(Scan, engine, looked.text, blank=looked.number, **given).run())
    effects = {scan.result.word: found.change}
    effects |= {one.word: found.named[place].change for place, one in enumerate(scan.result.named)}
    first, *rest = (effects[one.word] for one in scan.followed if one)
    change = named("change", first - rest[0] if rest else first, "layer, head")
    return [found.word, found.before, change.round(4)]
