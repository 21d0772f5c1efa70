"""The parts of the page. A new part is one entry here and a module with its function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.summaries import attribution, kinds, logit_lens, rollout, similarity, sinks, texts, value_weighted
from pages.summaries.attribution import TOP_K
from pages.summaries.run import PAGE, PartRun
from pages.ui.shell import controls
from pages.ui.shell.address import Field, StageFields, choice_field, number_field, text_field, value_of
from pages.ui.stage import view_options
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import SentenceInputs
from pages.ui.stage.tokens import SPECIAL_FIELD
from pages.ui.stage.view_options import heads_to_link, token_to_link
from tx_core.engine.catalogue import DEFAULT
from tx_core.errors import memory_checked


@dataclass(frozen=True)
class Summary:
    """One summary of all the heads.

    button: what its button says, short enough for all buttons to stand in one line. notice: what to notice, in a line above the
    picture. run: computes it; raises ExplorerError where the text or the model does not allow it.
    """

    button: str
    notice: str
    run: Callable[[SentenceInputs], PartRun]


PARTS = {
    "glance": Summary(texts.KINDS_TITLE, texts.KINDS, kinds.run),
    "layers": Summary(texts.ROLLOUT_BUTTON, texts.ROLLOUT, rollout.run),
    "values": Summary(texts.VALUES_TITLE, texts.VALUES, value_weighted.run),
    "sinks": Summary(texts.SINKS_BUTTON, texts.SINKS, sinks.run),
    "alike": Summary(texts.SIMILARITY_TITLE, texts.SIMILARITY, similarity.run),
    "lens": Summary(texts.LENS_BUTTON, texts.LENS, logit_lens.run),
    "owed": Summary(texts.ATTRIBUTION_BUTTON, texts.ATTRIBUTION, attribution.run),
}
"""By the names that addresses give them, in the order of their buttons."""
FIELDS = StageFields(
    own=(
        text_field("text", texts.FIRST_TEXT),
        text_field("pair"),
        Field("model", DEFAULT, controls.read_model),
        SPECIAL_FIELD,
        choice_field("part", tuple(PARTS)),
    ),
    looks=(
        choice_field("colour", tuple(texts.COLOURS)),
        Field("heads", [(0, 1)], view_options.read_heads, heads_to_link),
        Field("token", None, lambda written: view_options.read_focus(written) if written else None, token_to_link),
        number_field("rank", 1, 1, TOP_K),
    ),
    first={},
)


def run_part(inputs: SentenceInputs) -> PartRun:
    """Show what to notice in the part that is asked for, and compute it; raise ExplorerError as it does."""
    part = PARTS[value_of(PAGE, "part")]
    st.markdown(part.notice)
    with memory_checked():
        return part.run(inputs)


def part_controls(of_part: Sequence[Control] = ()) -> list[Control]:
    """Return the controls of the stage: the parts, and those of the part that is shown."""
    buttons = tuple((name, part.button) for name, part in PARTS.items())
    return [Control("part", "segments", texts.PART, buttons, apart=True), *of_part]
