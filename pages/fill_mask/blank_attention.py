"""Where a blank looks: the attention page's own panel, on the run that filled the blank, with the blank in focus."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.fill_mask import head_scan, texts
from pages.fill_mask.predictions import show_prediction_change
from pages.ui.panels import view_options
from pages.ui.panels.attention_panel import HeadMap, attention_panel
from pages.ui.panels.change_controls import change_bar
from pages.ui.panels.changes import CHANGES_FIELD, Changes, active_changes, change_chips, drop_missing_changes
from pages.ui.panels.predictions import SentencePredictions, list_settings
from pages.ui.panels.texts import BLANK
from pages.ui.shell import cache, controls
from pages.ui.shell.address import Field, number_field, widget_key
from tx_core.engine.engine import Engine
from tx_core.transformer.interventions import write_interventions
from tx_core.transformer.trace import Trace

MAX_LINKED_BLANKS = 20
FIRST_HEADS = ((4, 6),)  # of the embedded model: in the first sentence it looks at "Yesterday", which decides the tense


def first_heads(num_layers: int, num_heads: int) -> list[tuple[int, int]]:
    """Give the heads to begin with, the very first where a model lacks those."""
    return [head for head in FIRST_HEADS if head[0] < num_layers and head[1] < num_heads] or [(0, 0)]


FIELDS: tuple[Field, ...] = (
    number_field("blank", 1, 1, MAX_LINKED_BLANKS),
    *view_options.view_fields(first_heads(*controls.embedded_sizes())),
    CHANGES_FIELD,
)


@dataclass(frozen=True)
class BlankView:
    """The blank whose attention is on the screen: its text and number, the run with the reader's changes, and the panel."""

    text: str
    number: int
    trace: Trace
    changed: Changes
    shown: HeadMap


def blank_attention(page: str, engine: Engine, answers: Sequence[SentencePredictions]) -> BlankView:
    """Show the attention of one blank, which the reader chooses where there are several, and let it be changed.

    Give what is shown in the end. Call it in a fragment.
    """
    blanks = [(answer, blank) for answer in answers for blank in answer.filling.blanks]
    st.subheader(texts.WHERE, anchor=False)
    answer, blank = blanks[_ask_blank(page, answers)]
    focus_blank(page, answer.text, blank.place)
    plain = cache.trace(engine.name, answer.text)
    notices = drop_missing_changes(page, plain)
    changed = active_changes(page)
    trace = cache.trace(engine.name, answer.text, interventions=changed) if changed else plain
    if trace.notice and trace.notice != answer.filling.notice:
        st.info(trace.notice)
    number = view_options.ask_stack(page, [stack.kind for stack in trace.stacks])
    stack = trace.stacks[number]
    for missing in [*notices, *view_options.drop_missing(page, *stack.weights.shape[:3])]:
        st.info(missing)
    change_chips(page, trace)
    with st.container():  # there while it is empty, so that what follows keeps its place and a popover stays open
        if changed:
            show_prediction_change(page, engine.name, answer.text, blank.number, changed, list_settings(page))
    head_scan.show_scan(page, engine, answer, blank.number, changed)
    identity = (engine.name, trace.device, answer.text, None, write_interventions(changed))
    before = plain.stacks[number] if changed else None
    shown = attention_panel(page, stack, identity, before, lambda: change_bar(page, trace, number))
    return BlankView(answer.text, blank.number, trace, changed, shown)


def _ask_blank(page: str, answers: Sequence[SentencePredictions]) -> int:
    """Give the number of the chosen blank, counted from 0 through all sentences."""
    names = [
        (texts.BLANK if len(answers) == 1 else texts.BLANK_OF_SENTENCE).format(sentence=place, number=blank.number + 1)
        for place, answer in enumerate(answers, start=1)
        for blank in answer.filling.blanks
    ]
    numbers, name = range(1, len(names) + 1), widget_key(page, "blank")
    if st.session_state[name] not in numbers:
        st.session_state[name] = 1
    if len(names) > 1:
        st.segmented_control(
            BLANK,
            numbers,
            key=name,
            format_func=lambda number: names[number - 1],
            required=True,
            label_visibility="collapsed",
        )
    return st.session_state[name] - 1


def focus_blank(page: str, text: str, place: int) -> None:
    """Put the blank into focus when it is another one; what a reader or a link focused otherwise stays."""
    before, now = st.session_state.get(f"{page}_focused"), (text, place)
    focus = widget_key(page, "focus")
    if before != now and (before is not None or st.session_state[focus] is None):
        st.session_state[focus] = place
    st.session_state[f"{page}_focused"] = now
