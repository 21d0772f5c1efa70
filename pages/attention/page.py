"""Where does each head look? A sentence, all heads of the model on it, and any of them in detail."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.shell.frame import open_page

PAGE = "attention"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.ui.export.attention import attention_exports
from pages.ui.export.menu import export_menu
from pages.ui.panels import view_options
from pages.ui.panels.attention_panel import PanelParts, attention_panel, weights_table
from pages.ui.panels.change_controls import change_bar
from pages.ui.panels.changes import CHANGES_FIELD, active_changes, change_chips, drop_missing_changes
from pages.ui.panels.texts import SECOND_SENTENCE
from pages.ui.panels.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens, token_table, warn_of_unknown
from pages.ui.shell import cache, controls, examples, texts
from pages.ui.shell.address import (
    Field,
    is_offered,
    link_status_changed,
    read_view,
    restore_hidden_fields,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import live_part
from pages.ui.shell.frame import explain, page_links, share_link, show_engine
from pages.ui.shell.metrics import part_run
from tx_core.engine.engine import Engine
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable
from tx_core.transformer.interventions import write_interventions

EXAMPLES = [example for example in examples.curated() if not example.pair or is_offered("pair")]
FIRST = EXAMPLES[0]
FIELDS = (
    text_field("text", FIRST.text),
    text_field("pair", FIRST.pair),
    Field("model", "embedded", controls.read_model),
    SPECIAL_FIELD,
    *view_options.view_fields(FIRST.heads),
    CHANGES_FIELD,
)
FIRST_VIEW = {"focus": FIRST.focus}


def show_example(example: examples.Example) -> None:
    """Bring an example's text and view onto the page, also into the boxes."""
    view = {
        "text": example.text,
        "pair": example.pair,
        "heads": list(example.heads),
        "focus": example.focus,
        "words": example.words,
        "hide": False,
        "stack": "self",
        "changes": (),
        SPECIAL_FIELD.name: False,
    }
    st.session_state.update({widget_key(PAGE, name): value for name, value in view.items()})
    st.rerun()


def is_shown(example: examples.Example | None) -> bool:
    """Tell whether the page shows what an example's words are about: its heads, with nothing changed."""
    if example is None:
        return False
    view = view_options.ViewOptions.of(PAGE)
    unchanged = not active_changes(PAGE) and not st.session_state[widget_key(PAGE, SPECIAL_FIELD.name)]
    return (view.heads, view.stack) == (example.heads, "self") and unchanged


def forget_focus() -> None:
    """Another text has other tokens."""
    st.session_state[widget_key(PAGE, "focus")] = None


@st.fragment
@part_run(PAGE)
def look(model: str, special: bool, text: str, pair: str, example: examples.Example | None, described: bool) -> None:
    """Show all heads and the chosen ones, and what the reader changes; what is clicked here runs nothing but this.

    Where the reader leaves the view that the example's words describe, or comes back to it, the whole page says so.
    """
    restore_hidden_fields(PAGE, FIELDS)
    try:
        engine = cache.engine(model, special_tokens=special)
        plain = cache.trace_with(engine, text, pair)
        notices = drop_missing_changes(PAGE, plain)
        changed = active_changes(PAGE)
        trace = cache.trace_with(engine, text, pair, interventions=changed) if changed else plain
    except ExplorerError as error:
        explain(error)
        return
    number = view_options.ask_stack(PAGE, [stack.kind for stack in trace.stacks])
    stack = trace.stacks[number]
    for missing in [*notices, *view_options.drop_missing(PAGE, *stack.weights.shape[:3])]:
        st.info(missing)
    identity = (model, trace.device, special, text, pair, write_interventions(changed))
    before = plain.stacks[number] if changed else None
    parts = PanelParts(actions=lambda: change_bar(PAGE, trace, number), above_map=lambda: change_chips(PAGE, trace))
    shown = attention_panel(PAGE, stack, identity, before, parts)
    weights_table(shown, key=widget_key(PAGE, "table"))
    export_menu(PAGE, attention_exports(PAGE, trace, shown))
    write_view(PAGE, FIELDS, FIRST_VIEW)
    if link_status_changed() or is_shown(example) != described:
        st.rerun()


def example_on_page() -> tuple[examples.Example | None, examples.Example | None, bool]:
    """Find the example that the sentences are, the one of the list that it belongs to, and whether the page shows its view."""
    text, pair = (st.session_state[widget_key(PAGE, name)] for name in ("text", "pair"))
    example, origin = examples.find(EXAMPLES, lambda one: (one.text, one.pair) == (text, pair))
    return example, origin, is_shown(example)


def show_notice(example: examples.Example, origin: examples.Example, model: str, *, described: bool) -> None:
    """Say what to notice in an example, and offer what breaks it. origin: the example of the list that it belongs to."""
    st.markdown(examples.notice(example, model, shown=described))
    examples.offer_counters(widget_key(PAGE, "counter_example"), origin, example if described else None, show_example)


def ask_reading(example: examples.Example | None) -> DeltaGenerator:
    """Ask whether special tokens are added; return the place beside that for the share of the model's tokens that a text takes.

    example: what the page leads back to, if anything.
    """
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
        ask_special_tokens(PAGE, forget_focus)
        place = st.empty()
        if example:
            args = (example,)
            st.button(
                texts.SHOW_EXAMPLE, key=widget_key(PAGE, "example_again"), type="tertiary", on_click=show_example, args=args
            )
    return place


def say_reading(engine: Engine | None, text: str, pair: str, *, special: bool) -> None:
    """Say what share of the model's tokens a text takes, and what it is read without; nothing where the engine cannot be had.

    A part may write outside itself only where it also wrote when the whole page ran: hence also where it says nothing.
    """
    budget.caption(controls.budget(engine, text, pair) if engine else "", width="content")
    if not special:
        with beside:
            note_special_tokens(engine, special, pair) if engine else st.empty()


def explore(example: examples.Example | None, described: bool) -> Engine | None:
    """Ask for the sentences and show what depends on them: where each head looks, and the ways on.

    The boxes stand beside the choice of a model, which is not drawn again. Where the sentences become an example, or are one no
    more, the whole page says so. Returns the engine; None where it cannot be had.
    """
    with first:
        controls.sentence(widget_key(PAGE, "text"), on_change=forget_focus)
    with second:
        controls.sentence(widget_key(PAGE, "pair"), SECOND_SENTENCE, on_change=forget_focus)
    if example_on_page()[0] != example:
        st.rerun()
    fields = ("text", "pair", "model", SPECIAL_FIELD.name)
    text, pair, model, nospecial = (st.session_state[widget_key(PAGE, name)] for name in fields)
    engine = None
    try:
        try:
            with budget, controls.wait_for(model):
                engine = cache.engine(model, special_tokens=not nospecial)
        finally:
            say_reading(engine, text, pair, special=not nospecial)
        trace = cache.trace_with(engine, text, pair)
        if trace.notice:
            st.info(trace.notice)
        warn_of_unknown([trace.attention.key_tokens], model, widget_key(PAGE, "model"))
        look(model, not nospecial, text, pair, example, described)
        token_table(list(dict.fromkeys(stack.key_tokens for stack in trace.stacks)), key=widget_key(PAGE, "tokens"))
    except ExplorerError as error:
        explain(error)
        if isinstance(error, ModelUnavailable | CheckpointProblem):
            controls.offer_default_model(widget_key(PAGE, "model"))
        write_view(PAGE, FIELDS, FIRST_VIEW)
        if link_status_changed():
            st.rerun()
    page_links(text, pair, "fill_mask", "compare", "summaries", "self_attention", "heads_and_blocks", "masks")
    return engine


read_view(PAGE, FIELDS, FIRST_VIEW)
with st.container(key=widget_key(PAGE, "asked")):
    first, second, third = controls.offered_columns({"text": 5, "pair": 4, "model": 3})
with third:
    controls.model(widget_key(PAGE, "model"))
example, origin, described = example_on_page()
examples.offer(widget_key(PAGE, "example"), EXAMPLES, origin if described else None, show_example)
beside, reading = st.columns([3, 1])
notice = beside.empty()
if example and origin and is_offered("examples"):
    with notice.container(gap="xsmall"):
        show_notice(example, origin, st.session_state[widget_key(PAGE, "model")], described=described)
with reading:
    budget = ask_reading(None if described else example)
if engine := live_part(PAGE, FIELDS, explore, example, described):
    show_engine(badge, engine.title, engine.device)
else:
    badge.empty()
    notice.empty()
share_link()
