"""What differs between A and B? Two runs side by side, their difference word by word, and a word's vectors in both."""

from contextlib import suppress

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "compare"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.compare import pairs, state
from pages.compare.maps import maps
from pages.compare.run import Run, run
from pages.compare.sides_controls import ask_look, ask_sides
from pages.compare.state import FIELDS, Side
from pages.compare.word_similarity import word_through_layers
from pages.ui.export.menu import export_menu
from pages.ui.panels.tokens import warn_of_unknown
from pages.ui.shell import examples
from pages.ui.shell.address import read_view, widget_key, write_view
from pages.ui.shell.controls import engine_of
from pages.ui.shell.frame import explain, page_links, share_link, show_engine
from tx_core.errors import ExplorerError

FIRST_VIEW = pairs.first_view()


def attempt(name: str, side: Side) -> Run | None:
    """Run a side; give nothing, and why on the page, where it cannot be run."""
    try:
        return run(side, hide=st.session_state[widget_key(PAGE, "hide")])
    except ExplorerError as problem:
        st.markdown(f"**{name} cannot be shown:**")
        explain(problem)
        return None


@st.fragment
def look(one: Side, other: Side) -> None:
    """Show both sides and what differs; what is clicked here runs nothing but this."""
    mine = attempt("A", one)
    yours = mine if other == one else attempt("B", other)
    if mine and yours:
        from pages.compare import export

        warn_of_unknown([mine.trace.attention.key_tokens, yours.trace.attention.key_tokens])
        found = maps(PAGE, mine, yours)
        followed = word_through_layers(PAGE, mine, yours)
        export_menu(PAGE, export.comparison_exports(PAGE, mine, yours, found, followed))
    write_view(PAGE, FIELDS, FIRST_VIEW)
    page_links(one.text, one.pair or (other.text if other.text != one.text else ""), "attention", "fill_mask", "bert")
    share_link()


read_view(PAGE, FIELDS, FIRST_VIEW)
example = pairs.shown_example(PAGE)
choices = pairs.curated()
examples.offer(widget_key(PAGE, "example"), choices, example, lambda one: pairs.show_example(PAGE, one))
if example:
    st.markdown(f":material/lightbulb: {example.notice}")
if taken_back := state.forget_places(PAGE):
    st.info(taken_back)
ask_sides(PAGE)
ask_look(PAGE)
one, other = state.sides(PAGE)
with suppress(ExplorerError):  # it is told where the map would stand
    engine = engine_of(badge, one.model)
    show_engine(badge, engine.title, engine.device)
look(one, other)
