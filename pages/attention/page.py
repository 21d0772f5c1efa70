"""Where does each head look? A sentence, all heads of the model on it, and any of them in detail."""

from typing import NamedTuple, Self

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.shell.frame import open_page

PAGE = "attention"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.ui.export.attention import attention_exports
from pages.ui.export.menu import export_menu
from pages.ui.panels import view_options
from pages.ui.panels.attention_panel import choose_head, choose_options, draw_map, draw_wall, has_wall, panel_places
from pages.ui.panels.change_controls import change_bar
from pages.ui.panels.changes import CHANGES_FIELD, active_changes, change_chips, drop_missing_changes
from pages.ui.panels.head_map import StackView, stack_view, weights_table
from pages.ui.panels.texts import SECOND_SENTENCE
from pages.ui.panels.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens, token_table, warn_of_unknown
from pages.ui.shell import cache, controls, examples, texts
from pages.ui.shell.address import (
    Field,
    is_offered,
    link_status_changed,
    read_view,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import live_part, view_changed
from pages.ui.shell.frame import explain, page_links, share_link, show_engine
from tx_core.engine.engine import Engine
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable, memory_checked
from tx_core.transformer.interventions import write_interventions
from tx_core.transformer.trace import Trace

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
BOXES_ABOUT_TEXT = ("table", "export", "tokens", "wall_opened", "change_opened")
"""What the reader may open beside the pictures, and what then shows something of the text."""


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
    """Another reading has other tokens."""
    st.session_state[widget_key(PAGE, "focus")] = None


def sentence_changed() -> None:
    """Forget the focus. The controls run, too, where they show something of the text."""
    about_text = active_changes(PAGE) or any(st.session_state.get(widget_key(PAGE, name)) for name in BOXES_ABOUT_TEXT)
    without_controls = not st.session_state.get(widget_key(PAGE, "controls_drawn"))
    had_focus = st.session_state[widget_key(PAGE, "focus")] is not None
    forget_focus()
    if about_text or without_controls or had_focus:
        view_changed(PAGE)


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


class Inputs(NamedTuple):
    """What the model is asked about.

    Attributes:
        text, pair: the sentences.
        model: the name of the model.
        bare: whether it reads them without special tokens.
    """

    text: str
    pair: str
    model: str
    bare: bool

    @classmethod
    def of_page(cls) -> Self:
        """Read what stands in the session."""
        return cls(*(st.session_state[widget_key(PAGE, name)] for name in ("text", "pair", "model", SPECIAL_FIELD.name)))

    def engine(self) -> Engine:
        """Give the engine of the model; raise ExplorerError where it cannot be had."""
        with memory_checked():
            return cache.engine(self.model, special_tokens=not self.bare)


def show_sentences(example: examples.Example | None, described: bool) -> Engine | None:
    """Ask for the sentences and show what depends on them: where each head looks, and the ways on.

    The boxes stand beside the choice of a model, which is not drawn again; nor are the controls. Where the sentences become an
    example, or are one no more, or the reader leaves the view that its words describe, or comes back to it, the whole page says
    so. Returns the engine; None where it cannot be had.
    """
    st.session_state[widget_key(PAGE, "picture_drawn")] = False
    with first:
        controls.sentence(widget_key(PAGE, "text"), on_change=sentence_changed)
    with second:
        controls.sentence(widget_key(PAGE, "pair"), SECOND_SENTENCE, on_change=sentence_changed)
    if example_on_page()[0] != example:
        st.rerun()
    inputs, engine = Inputs.of_page(), None
    try:
        try:
            with budget, controls.wait_for(inputs.model):
                engine = inputs.engine()
        finally:
            say_reading(engine, inputs.text, inputs.pair, special=not inputs.bare)
        with memory_checked():
            show_pictures(engine, inputs)
        st.session_state[widget_key(PAGE, "picture_drawn")] = True
    except ExplorerError as error:
        explain(error)
        if isinstance(error, ModelUnavailable | CheckpointProblem):
            controls.offer_default_model(widget_key(PAGE, "model"))
        empty(places.wall, places.map)
    with ways_on:
        page_links(inputs.text, inputs.pair, "fill_mask", "compare", "summaries", "self_attention", "heads_and_blocks", "masks")
    write_view(PAGE, FIELDS, FIRST_VIEW)
    if controls.is_only_part():
        runs.clear()
    if link_status_changed() or is_shown(example) != described:
        st.rerun()
    return engine


def empty(*containers: DeltaGenerator) -> None:
    """Leave places empty. A part may write only where it wrote when the whole page ran: hence also where it shows nothing."""
    for container in containers:
        container.empty()


def show_pictures(engine: Engine, inputs: Inputs) -> None:
    """Show the wall of all heads and the map of the chosen ones, and what is to be said of the text."""
    plain = cache.trace_with(engine, inputs.text, inputs.pair)
    if plain.notice:
        st.info(plain.notice)
    warn_of_unknown([plain.attention.key_tokens], inputs.model, widget_key(PAGE, "model"))
    messages = drop_missing_changes(PAGE, plain)
    number = view_options.ask_stack(PAGE, [stack.kind for stack in plain.stacks])
    for missing in [*messages, *view_options.drop_missing(PAGE, *plain.stacks[number].weights.shape[:3])]:
        st.info(missing)
    _, _, panel = read_stack(engine, inputs)
    with places.wall:
        draw_wall(panel) if has_wall() else st.empty()
    with places.map:
        draw_map(panel)


def read_stack(engine: Engine, inputs: Inputs) -> tuple[Trace, int, StackView]:
    """Run the sentences with the reader's changes; give the run, the number of the stack that is shown, and its view."""
    changes = active_changes(PAGE)
    plain = trace = cache.trace_with(engine, inputs.text, inputs.pair)
    if changes:
        trace = cache.trace_with(engine, inputs.text, inputs.pair, interventions=changes)
    runs.extend((plain, trace))
    number = [stack.kind for stack in trace.stacks].index(st.session_state[widget_key(PAGE, "stack")])
    identity = (inputs.model, trace.device, not inputs.bare, inputs.text, inputs.pair, write_interventions(changes))
    return trace, number, stack_view(PAGE, trace.stacks[number], identity, plain.stacks[number] if changes else None)


def show_controls() -> None:
    """Let the reader choose heads, change the run, and take away what is shown; nothing where the sentences cannot be shown."""
    drawn, inputs = widget_key(PAGE, "controls_drawn"), Inputs.of_page()
    st.session_state[drawn] = False
    if not st.session_state[widget_key(PAGE, "picture_drawn")]:
        empty(places.controls, places.above_map)
        return
    try:
        trace, number, panel = read_stack(inputs.engine(), inputs)
    except ExplorerError:
        empty(places.controls, places.above_map)
        raise
    with places.controls:
        choose_head(panel, lambda: change_bar(PAGE, trace, number))
        choose_options(panel)
    with places.above_map:
        change_chips(PAGE, trace)
    weights_table(panel.shown, key=widget_key(PAGE, "table"))
    export_menu(PAGE, attention_exports(PAGE, trace, panel.shown))
    token_table(list(dict.fromkeys(stack.key_tokens for stack in trace.stacks)), key=widget_key(PAGE, "tokens"))
    st.session_state[drawn] = True
    runs.clear()


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
runs: list[Trace] = []  # held until both parts are drawn: one that is larger than the cache would be computed again
notices = st.container(key=widget_key(PAGE, "notices"))
places = panel_places(PAGE)
below, ways_on = st.container(), st.container()
with notices:
    engine = live_part(PAGE, FIELDS, show_sentences, example, described, part="picture")
with below:
    live_part(PAGE, FIELDS, show_controls, part="controls")
if engine:
    show_engine(badge, engine.title, engine.device)
else:
    badge.empty()
    notice.empty()
share_link()
