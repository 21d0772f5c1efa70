"""Padding in a run of the whole model: two sentences in one batch, with the padding masked and not."""

from collections.abc import Sequence

import numpy as np

from pages.masks import texts
from pages.masks.inputs import MaskInputs
from pages.ui.export.computation import call, computed, engine_call, named
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell.numbers import ROUNDING, change_verdict, small_number
from pages.ui.stage.charts import listing_drawing, matrix_drawing
from pages.ui.stage.pictures import Picture
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.masking import PaddedPair, padded_pair
from tx_core.transformer import attention


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
        "verdict": change_verdict(max(pair.moved_masked), texts.PADDING_COUNTS),
        "unmasked": small_number(max(pair.moved_unmasked)),
        "changed": count_changed(pair.moved_unmasked),
    }
    drawing = matrix_drawing(texts.CHANGE_BY_TOKEN, "signed", cells, rows, tokens, limit=float(cells.max()))
    return Picture(drawing, texts.CHANGES_BY_TOKEN.format(**said), row=1, cell=texts.PADDING_CELL)


def count_changed(by_token: Sequence[float]) -> str:
    """Return how many tokens changed by more than rounding, in words."""
    changed = sum(change > ROUNDING for change in by_token)
    some = texts.SOME_CHANGED.format(changed=changed, tokens=len(by_token))
    return change_verdict(max(by_token), texts.ALL_CHANGED if changed == len(by_token) else some)
