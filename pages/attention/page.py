"""Where does each head look? A sentence, all heads of the model on it, and any of them in detail."""

from typing import NamedTuple, Self

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "attention"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.ui.export.attention import attention_exports
from pages.ui.export.menu import export_menu
from pages.ui.panels import view_options
from pages.ui.panels.attention_panel import choose_head, choose_options, draw_map, draw_wall, has_wall, panel_places
from pages.ui.panels.change_controls import change_heads, change_panel, hide_focused
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
from pages.ui.shell.controls import live_part, view_changed, will_run
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
EXAMPLES_DRAWN = widget_key(PAGE, "examples_drawn")
"""Where the session keeps what `example_on_page` said when the examples were drawn."""


def show_example(example: examples.Example) -> None:
    """Load an example's text and view into the page, its text boxes included."""
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
    """Return whether the page shows the heads that an example is about, with nothing changed."""
    if example is None:
        return False
    view = view_options.ViewOptions.of(PAGE)
    unchanged = not active_changes(PAGE) and not st.session_state[widget_key(PAGE, SPECIAL_FIELD.name)]
    return (view.heads, view.stack) == (example.heads, "self") and unchanged


def forget_focus() -> None:
    """Clear the focused token: positions change with the tokenization."""
    st.session_state[widget_key(PAGE, "focus")] = None


def sentence_changed() -> None:
    """Clear the focused token; rerun the page's other parts where they depend on the text."""
    forget_focus()
    about_text = active_changes(PAGE) or any(st.session_state.get(widget_key(PAGE, name)) for name in BOXES_ABOUT_TEXT)
    others = {
        "examples": example_on_page() != st.session_state.get(EXAMPLES_DRAWN),
        "controls": about_text or not st.session_state.get(widget_key(PAGE, "controls_drawn")),
    }
    if any(others.values()):
        view_changed(PAGE, ["picture", *(part for part, has_changed in others.items() if has_changed)])


def example_on_page() -> tuple[examples.Example | None, examples.Example | None, bool]:
    """Return the example whose sentences are typed, its entry in the list, and whether the page shows its view."""
    text, pair = (st.session_state[widget_key(PAGE, name)] for name in ("text", "pair"))
    example, origin = examples.find(EXAMPLES, lambda one: (one.text, one.pair) == (text, pair))
    return example, origin, is_shown(example)


def show_notice(example: examples.Example, origin: examples.Example, model: str, *, described: bool) -> None:
    """Show what to notice in an example, and offer its counter-examples. origin: the example of the list that it belongs to."""
    st.markdown(examples.notice(example, model, shown=described))
    examples.offer_counters(widget_key(PAGE, "counter_example"), origin, example if described else None, show_example)


def show_examples() -> None:
    """Offer the examples; for the one on the page, show what to notice, or a way back to its view.

    A fragment may write outside itself only where it also wrote when the whole page ran: so it writes empty elements, too.
    """
    st.session_state[EXAMPLES_DRAWN] = example, origin, described = example_on_page()
    examples.offer(widget_key(PAGE, "example"), EXAMPLES, origin if described else None, show_example)
    if example and origin and is_offered("examples"):
        with notice.container(gap="xsmall"):
            show_notice(example, origin, st.session_state[widget_key(PAGE, "model")], described=described)
    else:
        notice.empty()
    if example and not described:
        again.button(
            texts.SHOW_EXAMPLE,
            key=widget_key(PAGE, "example_again"),
            type="tertiary",
            on_click=show_example,
            args=(example,),
        )
    else:
        again.empty()


def say_reading(engine: Engine | None, text: str, pair: str, *, special: bool) -> None:
    """Show how many of the model's tokens the text uses and which special tokens are omitted; nothing without the engine."""
    budget.caption(controls.budget(engine, text, pair) if engine else "", width="content")
    with beside:
        note_special_tokens(engine, special, pair) if engine and not special else st.empty()


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
        """Return the engine of the model; raise ExplorerError where it is not available."""
        with memory_checked():
            return cache.engine(self.model, special_tokens=not self.bare)


def show_sentences() -> Engine | None:
    """Ask for the sentences and show what depends on them: where each head looks, and the ways on.

    The boxes stand beside the choice of a model, which is not drawn again; nor are the controls. Returns the engine; None where
    it cannot be had.
    """
    st.session_state[widget_key(PAGE, "picture_drawn")] = False
    with first:
        controls.sentence(widget_key(PAGE, "text"), on_change=sentence_changed)
    with second:
        controls.sentence(widget_key(PAGE, "pair"), SECOND_SENTENCE, on_change=sentence_changed)
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
        empty_pictures()
    with ways_on:
        page_links(inputs.text, inputs.pair, "fill_mask", "compare", "summaries", "self_attention", "heads_and_blocks", "masks")
    write_view(PAGE, FIELDS, FIRST_VIEW)
    if not will_run(PAGE, "controls"):
        runs.clear()
    if link_status_changed() or example_on_page() != st.session_state[EXAMPLES_DRAWN]:
        st.rerun()
    return engine


def empty_pictures() -> None:
    """Show no picture. A part may write only where it wrote when the whole page ran: hence also where it shows nothing."""
    for place in (places.wall, places.hide_focused, places.map):
        place.empty()


def empty_controls() -> None:
    """Show no control."""
    for place in (places.head, places.change_heads, places.options, places.above_map):
        place.empty()


def show_pictures(engine: Engine, inputs: Inputs) -> None:
    """Show the wall of all heads, the map of the chosen ones, and notes on the text."""
    plain = cache.trace_with(engine, inputs.text, inputs.pair)
    if plain.notice:
        st.info(plain.notice)
    warn_of_unknown([plain.attention.key_tokens], inputs.model, widget_key(PAGE, "model"))
    messages = drop_missing_changes(PAGE, plain)
    number = view_options.ask_stack(PAGE, [stack.kind for stack in plain.stacks])
    for missing in [*messages, *view_options.drop_missing(PAGE, *plain.stacks[number].weights.shape[:3])]:
        st.info(missing)
    trace, number, panel = read_stack(engine, inputs)
    with places.wall:
        draw_wall(panel) if has_wall() else st.empty()
    with places.hide_focused:
        hide_focused(PAGE, trace.stacks[number])
    with places.map:
        draw_map(panel)


def read_stack(engine: Engine, inputs: Inputs) -> tuple[Trace, int, StackView]:
    """Run the sentences with the reader's changes; return the run, the index of the stack that is shown, and its view."""
    changes = active_changes(PAGE)
    plain = trace = cache.trace_with(engine, inputs.text, inputs.pair)
    if changes:
        trace = cache.trace_with(engine, inputs.text, inputs.pair, interventions=changes)
    runs.extend((plain, trace))
    number = [stack.kind for stack in trace.stacks].index(st.session_state[widget_key(PAGE, "stack")])
    identity = (inputs.model, trace.device, not inputs.bare, inputs.text, inputs.pair, write_interventions(changes))
    return trace, number, stack_view(PAGE, trace.stacks[number], identity, plain.stacks[number] if changes else None)


def show_controls() -> None:
    """Draw the choice of heads, the changes of the run and the export; nothing where the sentences cannot be shown."""
    drawn, inputs = widget_key(PAGE, "controls_drawn"), Inputs.of_page()
    st.session_state[drawn] = False
    if not st.session_state[widget_key(PAGE, "picture_drawn")]:
        empty_controls()
        return
    try:
        trace, number, panel = read_stack(inputs.engine(), inputs)
    except ExplorerError:
        empty_controls()
        raise
    with places.head:
        choose_head(panel)
    with places.change_heads:
        change_heads(PAGE, trace, number)
    with places.options:
        change_panel(PAGE, trace, number)
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
offered = st.container()
beside, reading = st.columns([3, 1])
notice = beside.empty()
with reading, st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
    ask_special_tokens(PAGE, forget_focus)
    budget, again = st.empty(), st.empty()
with offered:
    live_part(PAGE, FIELDS, show_examples, part="examples")
runs: list[Trace] = []  # held until pictures and controls are drawn: one that is larger than the cache would be computed again
notices = st.container(key=widget_key(PAGE, "notices"))
places = panel_places(PAGE)
below, ways_on = st.container(), st.container()
with notices:
    engine = live_part(PAGE, FIELDS, show_sentences, part="picture")
with below:
    live_part(PAGE, FIELDS, show_controls, part="controls")
if engine:
    show_engine(badge, engine.title, engine.device)
else:
    badge.empty()
    notice.empty()
share_link()
