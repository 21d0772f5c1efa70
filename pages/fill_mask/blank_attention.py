"""Where a blank looks: its prediction beside the attention page's own panel, on the run that filled it, with it in focus."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from pages.fill_mask import head_scan, texts
from pages.fill_mask.predictions import show_blank
from pages.ui.panels import view_options
from pages.ui.panels.attention_panel import PanelParts, attention_panel
from pages.ui.panels.change_controls import change_bar
from pages.ui.panels.changes import CHANGES_FIELD, Changes, active_changes, change_chips, drop_missing_changes
from pages.ui.panels.head_map import HeadMap
from pages.ui.panels.predictions import SentencePredictions, blank_trace
from pages.ui.panels.texts import BLANK
from pages.ui.shell import cache, controls
from pages.ui.shell.address import Field, flag_field, is_offered, number_field, widget_key
from tx_core.engine.engine import Engine
from tx_core.transformer.interventions import write_interventions
from tx_core.transformer.trace import Trace

MAX_LINKED_BLANKS = 20
FIRST_HEADS = ((4, 6),)
"""The heads to begin with where a scan takes too long: of the embedded model, one that decides many a verb's form."""


def first_heads(num_layers: int, num_heads: int) -> list[controls.Head]:
    """Return the default heads, or layer 1, head 1 where a model lacks them."""
    return [head for head in FIRST_HEADS if head[0] < num_layers and head[1] < num_heads] or [(0, 0)]


ONLY_LIST = "only_list"
"""The field of a view that shows what the model puts into the blank, and not yet where it looks."""
FIELDS: tuple[Field, ...] = (
    number_field("blank", 1, 1, MAX_LINKED_BLANKS),
    flag_field(ONLY_LIST),
    *view_options.view_fields(()),  # no heads: those that matter most for the prediction
    CHANGES_FIELD,
)


@dataclass(frozen=True)
class BlankView:
    """The blank whose attention is on the screen: its text and number, the run with the reader's changes, and the panel."""

    text: str
    number: int
    trace: Trace
    changed: Changes
    head_map: HeadMap


def blank_attention(page: str, engine: Engine, answers: Sequence[SentencePredictions]) -> BlankView | None:
    """Show one blank, which the reader chooses where there are several: its prediction and its attention, to be changed.

    Returns what is shown in the end; None for a prediction alone. Call it in a fragment.
    """
    blanks = [(answer, blank) for answer in answers for blank in answer.filling.blanks]
    alone = st.session_state[widget_key(page, ONLY_LIST)] and not active_changes(page)
    if not alone:
        st.subheader(texts.WHERE, anchor=False)
    answer, blank = blanks[_ask_blank(page, answers)]
    if alone:
        show_blank(page, engine, answer, blank.number, ())
        offer_attention(page)
        return None
    focus_blank(page, answer.text, blank.place)
    automatic = forget_automatic_heads(page, engine)
    plain = blank_trace(engine, answer.text)
    notices = drop_missing_changes(page, plain)
    changed = active_changes(page)
    trace = blank_trace(engine, answer.text, changed) if changed else plain
    if trace.notice and trace.notice != answer.filling.notice:
        st.info(trace.notice)
    number = view_options.ask_stack(page, [stack.kind for stack in trace.stacks])
    stack = trace.stacks[number]
    for missing in [*notices, *view_options.drop_missing(page, *stack.weights.shape[:3])]:
        st.info(missing)
    special = engine.tokenizer.special_tokens
    identity = (engine.name, trace.device, special, answer.text, None, write_interventions(changed))
    before = plain.stacks[number] if changed else None
    parts = _panel_parts(page, engine, answer, blank.number, trace, number, changed, automatic=automatic)
    head_map = attention_panel(page, stack, identity, before, parts)
    return BlankView(answer.text, blank.number, trace, changed, head_map)


def _panel_parts(
    page: str,
    engine: Engine,
    answer: SentencePredictions,
    blank: int,
    trace: Trace,
    stack: int,
    changed: Changes,
    *,
    automatic: bool,
) -> PanelParts:
    """Return what surrounds the map of a blank: its prediction, its changes, and the scan of all heads."""

    def first() -> None:
        show_blank(page, engine, answer, blank, changed)
        if automatic:  # after the prediction is on its way to the browser: a scan takes longer than all else
            choose_first_heads(page, engine, answer, blank)

    return PanelParts(
        first=first,
        actions=lambda: change_bar(page, trace, stack),
        above_map=lambda: change_chips(page, trace, head_scan.invitation(page, engine, answer, blank)),
        last=lambda: head_scan.show_scan(page, engine, answer, blank, changed),
    )


def offer_attention(page: str) -> None:
    """Offer to see where the blank looks; in a lesson, the step says whether it may be seen."""
    if is_offered(ONLY_LIST):
        entry = {widget_key(page, ONLY_LIST): False}
        st.button(texts.WHERE, key=f"{page}_where", icon=":material/grid_on:", on_click=st.session_state.update, args=(entry,))


def forget_automatic_heads(page: str, engine: Engine) -> bool:
    """Replace automatically chosen heads by ones that the model has; return whether there were any.

    What the reader or a link chose stays.
    """
    name, automatic = widget_key(page, "heads"), widget_key(page, "automatic_heads")
    if st.session_state[name] and st.session_state[name] != st.session_state.get(automatic):
        return False
    heads = first_heads(engine.info.num_layers, engine.info.num_heads)
    st.session_state[name] = st.session_state[automatic] = heads
    return True


def choose_first_heads(page: str, engine: Engine, answer: SentencePredictions, number: int) -> None:
    """Choose the head that the prediction depends on most, where its scan is quick and the server is not busy.

    What a blank began with stays: the next click may come when the server is busy no more.
    """
    begun, blank = widget_key(page, "begun_with"), (cache.engine_key(engine), answer.text, number)
    before, heads = st.session_state.get(begun, (None, None))
    if blank != before:
        scan = head_scan.first_scan(engine, answer, number)
        heads = [scan.most_important] if scan else None
        st.session_state[begun] = blank, heads
    if heads:
        st.session_state[widget_key(page, "heads")] = st.session_state[widget_key(page, "automatic_heads")] = heads


def fields_in_link(page: str, fields: Sequence[Field]) -> list[Field]:
    """Return the fields for a link; heads chosen by a scan are left out, since the recipient's scan chooses the same."""
    _, scanned = st.session_state.get(widget_key(page, "begun_with"), (None, None))
    return [replace(field, default=scanned or []) if field.name == "heads" else field for field in fields]


def _ask_blank(page: str, answers: Sequence[SentencePredictions]) -> int:
    """Return the number of the chosen blank, counted from 0 through all sentences."""
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
    """Focus the blank when it is another one; a focus that the reader or a link chose stays."""
    before, now = st.session_state.get(f"{page}_focused"), (text, place)
    focus = widget_key(page, "focus")
    if before != now and (before is not None or st.session_state[focus] is None):
        st.session_state[focus] = place
    st.session_state[f"{page}_focused"] = now
