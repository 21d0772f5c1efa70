"""What differs between A and B? Two runs side by side, their difference word by word, and a word's vectors in both."""

from contextlib import suppress

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "compare"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.compare import state, texts
from pages.compare.controls import ask_look, ask_sides
from pages.compare.drawings import show_maps, show_word
from pages.compare.export import comparison_exports
from pages.compare.runs import Run, run
from pages.compare.state import FIELDS, Side
from pages.ui.export.menu import export_menu
from pages.ui.panels.tokens import note_special_tokens, warn_of_unknown
from pages.ui.shell import cache, controls
from pages.ui.shell.address import is_offered, read_view, widget_key, write_view
from pages.ui.shell.controls import engine_of
from pages.ui.shell.examples import find, offer, offer_counters
from pages.ui.shell.frame import explain, page_links, share_link, show_engine
from pages.ui.shell.level import is_hidden
from pages.ui.shell.metrics import page_run
from tx_core.errors import ExplorerError

FIRST_VIEW = state.first_view()


def try_run(name: str, side: Side) -> Run | None:
    """Run a side; where it cannot be run, show the reason and return None."""
    try:
        return run(side, hide=st.session_state[widget_key(PAGE, "hide")])
    except ExplorerError as problem:
        st.markdown(texts.NOT_SHOWN[name])
        explain(problem)
        return None


def note_reading(one: Run, other: Run) -> None:
    """Show which special tokens the texts of both sides are read without, once per model."""
    models, special = dict.fromkeys((one.side.model, other.side.model)), one.side.special
    for model in models:
        whose = controls.model_title(model) if len(models) > 1 else ""
        engine = cache.engine(model, special_tokens=special)
        note_special_tokens(engine, special, one.side.pair or other.side.pair, whose=whose)


@st.fragment
@page_run(PAGE)
def show_sides(one: Side, other: Side) -> None:
    """Show both sides and what differs; a click in here reruns only this."""
    mine = try_run("A", one)
    yours = mine if other == one else try_run("B", other)
    if mine and yours:
        read = [mine.trace.attention.key_tokens, yours.trace.attention.key_tokens]
        warn_of_unknown(read, one.model, widget_key(PAGE, "model"))
        note_reading(mine, yours)
        comparison = show_maps(PAGE, mine, yours)
        followed = show_word(PAGE, mine, yours)
        export_menu(PAGE, comparison_exports(PAGE, mine, yours, comparison, followed))
    write_view(PAGE, FIELDS, FIRST_VIEW)
    page_links(one.text, one.pair or (other.text if other.text != one.text else ""), "attention", "fill_mask", "bert")
    share_link()


read_view(PAGE, FIELDS, FIRST_VIEW)
curated = [example for example in state.curated() if not is_hidden(f"vary={example.vary}")]
example, origin = find(curated, lambda one: state.is_shown(PAGE, one))
offer(widget_key(PAGE, "example"), curated, origin, lambda one: state.show_example(PAGE, one))
if example and origin and is_offered("examples"):
    st.markdown(f":material/lightbulb: {example.notice}")
    offer_counters(widget_key(PAGE, "counter_example"), origin, example, lambda one: state.show_example(PAGE, one))
if dropped := state.drop_token_changes(PAGE):
    st.info(dropped)
ask_sides(PAGE)
ask_look(PAGE)
one, other = state.sides(PAGE)
with suppress(ExplorerError):  # explained where the map would be
    engine = engine_of(badge, one.model)
    show_engine(badge, engine.title, engine.device)
show_sides(one, other)
