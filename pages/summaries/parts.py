"""The parts of the page. A new part is one entry here and a module with its function."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from pages.summaries import attribution, kinds, logit_lens, rollout, similarity, sinks, texts, value_weighted
from pages.summaries.attribution import TOP_K
from pages.summaries.run import PAGE
from pages.ui.export.part import Part
from pages.ui.shell import cache
from pages.ui.shell.address import value_of
from pages.ui.shell.fields import Field, StageFields, choice_field, number_field
from pages.ui.stage import view_options
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import SentenceInputs, input_fields, note_reading
from pages.ui.stage.view_options import heads_to_link, token_to_link
from tx_core.engine.engine import Engine
from tx_core.errors import memory_checked
from tx_core.transformer.trace import Trace


@dataclass(frozen=True)
class Summary:
    """One summary of all the heads.

    button: what its button says, short enough for all buttons to stand in one line. notice: what to notice, in a line above the
    picture. sum_up: computes it from a run; raises ExplorerError where the text or the model does not allow it. keep: what of the
    run it needs.
    """

    button: str
    notice: str
    sum_up: Callable[[SentenceInputs, Engine, Trace], Part]
    keep: tuple[str, ...] = ("weights",)


PARTS = {
    "glance": Summary(texts.KINDS_TITLE, texts.KINDS, kinds.sum_up),
    "layers": Summary(texts.ROLLOUT_BUTTON, texts.ROLLOUT, rollout.sum_up),
    "values": Summary(texts.VALUES_TITLE, texts.VALUES, value_weighted.sum_up, ("weights", "value")),
    "sinks": Summary(texts.SINKS_BUTTON, texts.SINKS, sinks.sum_up, ("weights", "value")),
    "alike": Summary(texts.SIMILARITY_TITLE, texts.SIMILARITY, similarity.sum_up),
    "lens": Summary(texts.LENS_BUTTON, texts.LENS, logit_lens.sum_up, ("hidden",)),
    "owed": Summary(texts.ATTRIBUTION_BUTTON, texts.ATTRIBUTION, attribution.sum_up),
}
"""By the names that addresses give them, in the order of their buttons."""
FIELDS = StageFields(
    own=(*input_fields(texts.FIRST_TEXT, "pair"), choice_field("part", tuple(PARTS))),
    looks=(
        choice_field("colour", tuple(texts.COLOURS)),
        Field("heads", [(0, 1)], view_options.read_heads, heads_to_link),
        Field("token", None, lambda written: view_options.read_focus(written) if written else None, token_to_link),
        number_field("rank", 1, 1, TOP_K),
    ),
)


PART_CONTROL = Control("part", "segments", texts.PART, tuple((name, one.button) for name, one in PARTS.items()), apart=True)


def run_part(inputs: SentenceInputs, engine: Engine) -> Part:
    """Show what to notice in the part that is asked for, and compute it; raise ExplorerError as it does."""
    summary = PARTS[value_of(PAGE, "part")]
    st.markdown(summary.notice)
    with memory_checked():
        trace = cache.trace_with(engine, inputs.text, inputs.pair, keep=summary.keep)
        part = summary.sum_up(inputs, engine, trace)
    note_reading(inputs, trace)
    return replace(part, controls=[PART_CONTROL, *part.controls])
