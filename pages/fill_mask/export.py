"""Export the predictions, and list them as tables: the lists of the page, what changes and each head do to a blank."""

from collections.abc import Sequence

from pages.fill_mask import texts
from pages.fill_mask.head_scan import SCAN_COLUMNS, followed_name, scan_rows
from pages.fill_mask.predictions import ListSettings, SentencePredictions, prediction_rows
from pages.fill_mask.run import BlankRun
from pages.ui.export.attention import AttentionMap, attention_exports, changes_in_words
from pages.ui.export.computation import Computation, call, changes_argument, each, engine_call, named
from pages.ui.export.records import DataTable, Export, Exports, PartNumbers, table_files
from pages.ui.export.transformers_code import intervention_lines, loading_lines, special_argument, with_mask_tokens
from pages.ui.shell import controls
from pages.ui.stage.changes import describe_change
from pages.ui.stage.sources import file_stem
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
    name = file_stem("predictions", run.engine.name)
    note = texts.EXPORT_JOINT_NOTE if any(answer.joint for answer in run.answers) else ""
    numbers = PartNumbers(title, run.about, list_numbers(run), texts.EXPORT_LISTS_CODE)
    files = table_files(texts.EXPORT_ALL_LISTS, texts.EXPORT_ALL_LISTS_HELP, name, table)
    return Export(numbers, name, (files,), lambda: transformers_lists(run), note)


def moved_export(run: BlankRun) -> Export:
    """Export what the reader's changes do to one blank."""
    looked = run.looked
    title = texts.EXPORT_CHANGE_TITLE.format(number=looked.number + 1, model=controls.model_title(run.engine.name))
    name = file_stem("changed-predictions", run.engine.name)
    table = DataTable(SHIFT_COLUMNS, shift_rows(looked.shift))
    files = table_files(texts.EXPORT_ALL_WORDS, texts.EXPORT_ALL_WORDS_HELP, name, table)
    about = run.about | {"texts": [looked.text], "changes": changes_in_words(looked.trace)}
    about |= {"moved probability": looked.shift.variation}
    numbers = PartNumbers(title, about, shift_numbers(run), texts.EXPORT_CHANGE_CODE)
    return Export(numbers, name, (files,), lambda: transformers_shift(run))


def scan_export(run: BlankRun) -> Export:
    """Export what switching off each head does to the followed word."""
    looked = run.looked
    scan = looked.scan_asked
    title = texts.EXPORT_SCAN_TITLE.format(followed=followed_name(scan.followed), model=controls.model_title(run.engine.name))
    changes = "; ".join(describe_change(one, looked.trace.stacks) for one in scan.base)
    table = DataTable(SCAN_COLUMNS, scan_rows(scan.result, scan.followed))
    name = file_stem("head-scan", run.engine.name)
    files = table_files(texts.EXPORT_SCAN, texts.EXPORT_SCAN_HELP, name, table)
    about = run.about | {"texts": [looked.text], "changes": changes, "blank": looked.number + 1}
    return Export(PartNumbers(title, about, scan_numbers(run), texts.EXPORT_SCAN_CODE), name, (files,))


NUCLEUS = '''

def nucleus(share):
    """Keep the fewest that reach TOP_P together, and let them share 1 (Holtzman et al. 2020)."""
    ranked, order = share.sort(descending=True)
    kept = ranked * (ranked.cumsum(-1) - ranked < TOP_P)
    return torch.zeros_like(share).scatter(0, order, kept / kept.sum())
'''
READING = '''

def scores(ids):
    """Return the scores of the whole vocabulary at each token."""
    with torch.inference_mode():
        return model(torch.tensor([ids])).logits[0].double()


def blanks_of(ids):
    return [place for place, entry in enumerate(ids) if entry == tokenizer.mask_token_id]
'''
LISTING = """
predictions = []
for text, named in TEXTS:
    ids = tokenizer(text{bare}).input_ids
    blanks = blanks_of(ids)
    for place in blanks:
        best = nucleus((scores(ids)[place] / TEMPERATURE).softmax(-1)).topk(LISTED)
        entries = zip(tokenizer.convert_ids_to_tokens(best.indices), best.values.tolist())
        predictions += [(piece, share) for piece, share in entries if share > 0]
    for number, word, pieces in named:  # a word of several pieces: one after the other, in as many blanks
        probability = 1.0
        for known, piece in enumerate(pieces):
            wide = [*pieces[:known], *[tokenizer.mask_token_id] * (len(pieces) - known)]
            row = [*ids[: blanks[number]], *wide, *ids[blanks[number] + 1 :]]
            probability *= scores(row)[blanks[number] + known].softmax(-1)[piece].item()
        predictions.append((word, probability))

print(*predictions, sep="\\n")
"""
MOVING = """
after = at_blank()


def rank(logits, entry):
    return int((logits > logits[entry]).sum()) + 1


shares = [nucleus((logits / TEMPERATURE).softmax(-1)) for logits in (before, after)]
listed = [share.topk(min(LISTED, int((share > 0).sum()))).indices.tolist() for share in shares]
entries = sorted(dict.fromkeys(listed[1] + listed[0]), key=lambda entry: (entry not in listed[1], rank(after, entry)))
moved = []
for entry in entries:
    was, now = (share[entry].item() for share in shares)
    moved.append((tokenizer.convert_ids_to_tokens(entry), was, now, now - was, rank(before, entry), rank(after, entry)))

print(*moved, sep="\\n")
"""


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
    blank = call(shift_predictions, engine, looked.text, **changes, **run.inputs.chosen.options).blanks[looked.number]

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


def transformers_lists(run: BlankRun) -> str:
    """Return the code for the lists, and for the words that the reader named, without this project."""
    texts = [
        (
            with_mask_tokens(answer.text, answer.filling.encoding),
            [
                (number, score.word, list(score.ids))
                for number, scored in enumerate(answer.scores)
                for score in scored
                if score.probability is not None
            ],
        )
        for answer in run.answers
    ]
    return "\n".join(
        [
            "import torch",
            "from transformers import AutoModelForMaskedLM, AutoTokenizer",
            "",
            *loading_lines(run.engine.name, "AutoModelForMaskedLM"),
            f"TEXTS = {texts!r}  # each with the words to score: at which blank, and their pieces",
            *_settings(run.inputs.chosen),
            *READING.splitlines(),
            *NUCLEUS.splitlines(),
            "",
            *LISTING.format(bare=special_argument(not run.inputs.bare)).splitlines(),
            "",
        ]
    )


def transformers_shift(run: BlankRun) -> str:
    """Return the code for what changes do to one blank without this project."""
    looked = run.looked
    read = looked.trace.attention.query_tokens
    text = with_mask_tokens(looked.text, read)
    return "\n".join(
        [
            "import torch",
            "from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForMaskedLM, AutoTokenizer",
            "from transformers.masking_utils import eager_mask",
            "",
            *loading_lines(run.engine.name, "AutoModelForMaskedLM"),
            f'inputs = tokenizer({text!r}{special_argument(read.special_tokens)}, return_tensors="pt")',
            f"place = (inputs.input_ids[0] == tokenizer.mask_token_id).nonzero()[{looked.number}, 0]",
            *_settings(run.inputs.chosen),
            "",
            "",
            "def at_blank():",
            "    with torch.inference_mode():",
            "        return model(**inputs).logits[0, place].double()",
            "",
            *NUCLEUS.splitlines(),
            "",
            "before = at_blank()",
            *intervention_lines(looked.trace),
            *MOVING.splitlines(),
            "",
        ]
    )


def _settings(chosen: ListSettings) -> list[str]:
    return [f"LISTED, TEMPERATURE, TOP_P = {chosen.listed}, {chosen.temperature}, {chosen.top_p}"]
