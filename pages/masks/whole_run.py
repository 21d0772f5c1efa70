"""Masks in runs of a whole model: two sentences in one batch with padding, and a mask in every layer with its prediction."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.masks import texts
from pages.masks.inputs import MaskInputs
from pages.ui.export.computation import call, changes_argument, computed, each, engine_call, named
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.shell.frame import page_link
from pages.ui.shell.numbers import ROUNDING, percent, rounding_verdict, small_number, weight
from pages.ui.stage.changes import describe_change
from pages.ui.stage.charts import bars_end, listing_drawing, matrix_drawing, moved_drawing
from pages.ui.stage.pictures import Picture
from tx_core.engine.bert_engine import BertEngine
from tx_core.errors import memory_checked
from tx_core.fill_mask.prediction_shift import BlankShift, shift_predictions
from tx_core.lessons.masking import PaddedPair, padded_pair
from tx_core.transformer import attention
from tx_core.transformer.interventions import Intervention, write_interventions
from tx_core.transformer.trace import Trace

PADDING = 8
"""Padding tokens that are not masked."""
RUN_CHANGES = {
    "causal": Intervention("causal"),
    "padding": Intervention("no_padding_mask", value=float(PADDING)),
    "positions": Intervention("no_positions"),
}
"""The changes of a whole run that are offered, by their names in a link."""
WORDS = 4


def batch_part(inputs: MaskInputs, engine: BertEngine) -> Part:
    """Show the batch of the reader's two sentences, and how much the shorter one changes in it."""
    computation = named("pair", call(padded_pair, engine_call(inputs), inputs.text, inputs.pair))
    pair, shown = computed(computation, engine), [computation.moved_masked, computation.moved_unmasked]
    return Part(
        [_batch(pair, texts.BATCH_CAPTION), _change_of_tokens(pair)] if pair.padding else [_batch(pair, texts.NO_PADDING)],
        PartNumbers(texts.EXPORT_TITLES["batch"], inputs.about(), shown),
        [texts.BATCH_TEXT],
        formulas=[texts.BATCH_FORMULA],
        sources=[attention.padding_mask, padded_pair],
    )


def _batch(pair: PaddedPair, sentence: str) -> Picture:
    """Write the batch as the model reads it, one sentence per line, padding included."""
    rows = [[name, *tokens] for name, tokens in zip((texts.FIRST_SENTENCE, texts.SECOND_SENTENCE), pair.rows, strict=True)]
    columns = ["", *(str(number) for number in range(1, len(pair.rows[0]) + 1))]
    return Picture(listing_drawing(texts.BATCH_TITLE, columns, rows), sentence)


def _change_of_tokens(pair: PaddedPair) -> Picture:
    """Draw how much each token of the shorter sentence changes, with the padding masked and not."""
    cells, rows = np.array([pair.moved_masked, pair.moved_unmasked]), (texts.MASKED, texts.NOT_MASKED)
    tokens = pair.encodings[pair.shorter].tokens
    said = {
        "masked": small_number(max(pair.moved_masked)),
        "verdict": rounding_verdict(max(pair.moved_masked), texts.PADDING_COUNTS),
        "unmasked": small_number(max(pair.moved_unmasked)),
        "changed": count_changed(pair.moved_unmasked),
    }
    drawing = matrix_drawing(texts.CHANGE_BY_TOKEN, "signed", cells, rows, tokens, limit=float(cells.max()))
    return Picture(drawing, texts.CHANGES_BY_TOKEN.format(**said), row=1, cell=texts.PADDING_CELL)


def count_changed(by_token: Sequence[float]) -> str:
    """Return how many tokens changed by more than rounding, in words."""
    changed = sum(change > ROUNDING for change in by_token)
    some = texts.SOME_CHANGED.format(changed=changed, tokens=len(by_token))
    return rounding_verdict(max(by_token), texts.ALL_CHANGED if changed == len(by_token) else some)


def run_part(inputs: MaskInputs, engine: BertEngine) -> Part:
    """Draw what a change of every layer does to the prediction at each blank of the reader's sentence."""
    text, change, label = inputs.text, RUN_CHANGES[inputs.run], texts.RUN_LABELS[inputs.run]
    changes = list(changes_argument([change]).values())
    shift = named("shift", call(shift_predictions, engine_call(inputs), text, *changes, top_k=WORDS))
    with memory_checked():
        plain, found = cache.trace_with(engine, text), computed(shift, engine)
        padded = cache.trace_with(engine, text, interventions=[change]) if inputs.run == "padding" else None
    title = describe_change(change, plain.stacks)
    moved = named("moved", each(shift.blanks, lambda blank: each(blank.moved, lambda one: (one.before, one.after))))

    def link_to_changed_pages() -> None:
        with st.container(horizontal=True, gap="small"):
            for key, name in texts.SEE_CHANGED.items():
                view = inputs.in_link(text=text, changes=write_interventions([change]))
                page_link(key, name, view, icon=":material/arrow_forward:")

    return Part(
        [_bars(blank, title, padded if blank is found.blanks[-1] else None) for blank in found.blanks],
        PartNumbers(texts.EXPORT_RUN.format(change=label), inputs.about(changes=label), [moved]),
        [texts.RUN_TEXTS[inputs.run].format(padding=PADDING), texts.RUN_TEXT],
        link_to_changed_pages,
    )


def _bars(blank: BlankShift, title: str, padded: Trace | None) -> Picture:
    largest = max(share for one in blank.moved for share in (one.before, one.after))
    labels = [one.prediction.label for one in blank.moved]
    before, after = [one.before for one in blank.moved], [one.after for one in blank.moved]
    drawing = moved_drawing(title, labels, before, after, limit=bars_end(largest))
    said = [prediction_sentence(blank)]
    if padded:
        taken = 1 - float(padded.attention.weights.sum(-1).mean())
        said.append(texts.PADDING_TAKES.format(share=weight(taken), padding=PADDING))
    ranks = [texts.RANKS.format(before=one.rank_before, after=one.rank_after) for one in blank.moved]
    return Picture(drawing, " ".join(said), row=blank.number, details=ranks)


def prediction_sentence(blank: BlankShift) -> str:
    """Return a sentence on the top prediction before and after the change, with its probabilities."""
    first = min(blank.moved, key=lambda one: one.rank_before)
    now = min(blank.moved, key=lambda one: one.rank_after)
    values = {"word": first.prediction.label, "before": percent(first.before), "after": percent(first.after)}
    if now is first:
        return texts.SAME_WORD_FIRST.format(**values)
    return texts.OTHER_WORD_FIRST.format(**values, now=now.prediction.label, share=percent(now.after))
