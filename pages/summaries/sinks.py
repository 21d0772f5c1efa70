"""Attention sinks: how much attention rests on special tokens in each layer, and how short their value vectors are."""

import numpy as np

from pages.summaries import texts
from pages.summaries.run import engine_of, part_of, trace_call
from pages.ui.export.computation import Computation, call, computed, named
from pages.ui.export.part import Part
from pages.ui.export.records import DataTable, table_of
from pages.ui.shell.address import is_offered
from pages.ui.shell.frame import page_address
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage.charts import lines_drawing, listing_drawing
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.pictures import Picture
from pages.ui.stage.texts import FIRST_TOKEN
from tx_core.analysis import sinks
from tx_core.analysis.sinks import AttentionSinks
from tx_core.engine.catalogue import DEFAULT
from tx_core.engine.engine import Engine
from tx_core.fill_mask.blanks import before_blank
from tx_core.transformer.interventions import Intervention, write_interventions
from tx_core.transformer.trace import Encoding, Trace


def sum_up(inputs: SentenceInputs, engine: Engine, trace: Trace) -> Part:
    """Compute how much attention rests on sinks, and the lengths of values, by layer."""
    found = computed(sinks_call(trace), engine, trace=trace)
    return part_of(
        trace,
        texts.SINKS_TITLE,
        _pictures(found, trace.attention.query_tokens, _without(inputs, trace, found)),
        numbers(trace),
        texts.SINKS_CAVEAT,
        texts.SINKS_TEXT,
        *(texts.SINKS_FOUND if trace.model == DEFAULT else ()),
        sources=[sinks.attention_sinks],
        table=lambda: _table(found),
    )


def _pictures(found: AttentionSinks, encoding: Encoding, link: tuple[str, str] | None) -> list[Picture]:
    """Draw the share and the lengths as lines over the layers, and describe the layer where most attention rests."""
    shares, short, others = (array.mean(axis=1) for array in (found.shares, found.sink_lengths, found.other_lengths))
    layers, most = [str(number) for number in range(1, len(shares) + 1)], int(shares.argmax())
    names = {"sinks": sink_names(encoding, found), "layer": most + 1}
    attended = {names["sinks"]: shares.tolist(), texts.EVEN_LINE: [found.even] * len(shares)}
    lengths = {names["sinks"]: short.tolist(), texts.OTHER_TOKENS: others.tolist()}
    shared = texts.SINKS_SHARE.format(**names, share=whole_percent(shares[most]), even=whole_percent(found.even))
    long = texts.SINKS_LENGTHS.format(**names, short=short[most], others=others[most])
    top = 1.04 * float(np.maximum(short, others).max())
    return [
        Picture(lines_drawing(texts.ON_SINKS, layers, attended, limits=(0, 1)), shared, cell=texts.AFTER_STEP),
        Picture(lines_drawing(texts.VALUE_LENGTHS, layers, lengths, limits=(0, top)), long, cell=texts.AFTER_STEP),
        *([Picture(listing_drawing(), texts.IF_FORBIDDEN, row=1, link=link)] if link else []),
    ]


def sink_names(encoding: Encoding, found: AttentionSinks) -> str:
    """Return the names of the sinks: "[CLS] and [SEP]", or "the first token"."""
    special = [encoding.tokens[position] for position in found.positions if encoding.special[position]]
    return " and ".join(dict.fromkeys(special)) or FIRST_TOKEN


def _without(inputs: SentenceInputs, trace: Trace, found: AttentionSinks) -> tuple[str, str] | None:
    """Return the label and the address of the text with its sinks hidden: of its prediction, or of its attention."""
    if not is_offered("links"):
        return None
    info, encoding = inputs.engine().info, trace.attention.query_tokens
    page = "fill_mask" if info.fills_blanks and encoding.blanks and not inputs.pair else "attention"
    if info.predicts_next and not inputs.pair:
        page = "next_word"
    hidden = write_interventions([Intervention("hidden", positions=(position,)) for position in found.positions])
    text = before_blank(inputs.text) if page == "next_word" else inputs.text
    view = inputs.in_link(text=text, pair=inputs.pair, changes=hidden)
    return texts.FORBID_SINKS.format(sinks=sink_names(encoding, found)), page_address(page, view)


def _table(found: AttentionSinks) -> DataTable:
    """List every head with its share and the lengths of its values."""
    columns = {"share": found.shares, "sink value length": found.sink_lengths, "other value length": found.other_lengths}
    rows = [
        {"layer": layer + 1, "head": head + 1} | {name: float(array[layer, head]) for name, array in columns.items()}
        for layer, head in np.ndindex(found.shares.shape)
    ]
    return table_of(rows, texts.SINKS_NUMBERS)


def sinks_call(trace: Trace) -> Computation:
    """Return the computation of all measures."""
    stack = trace_call(engine_of(trace), trace, keep=("weights", "value")).attention
    return named("found", call(sinks.attention_sinks, stack))


def numbers(trace: Trace) -> list[Computation]:
    """Return the computation of the share on sinks and of the lengths of values, by head."""
    found = sinks_call(trace)
    return [getattr(found, name).round(3) for name in ("shares", "sink_lengths", "other_lengths")]
