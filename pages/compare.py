"""What differs between A and B? Two runs side by side, their difference word by word, and a word's vectors in both."""

from contextlib import suppress

import streamlit as st

from pages.ui import compare_examples, compare_state, examples
from pages.ui.address import key, read_view, tell_not_understood, write_view
from pages.ui.attention_table import warn_of_unknown
from pages.ui.carry_away import carry_away
from pages.ui.compare_controls import ask_look, ask_sides
from pages.ui.compare_likeness import word_through_layers
from pages.ui.compare_maps import maps
from pages.ui.compare_run import Run, run
from pages.ui.compare_state import FIELDS, Side
from pages.ui.frame import engine_of, explain, open_page, share_link, show_engine, ways_on
from tx_core.errors import ExplorerError

PAGE = "compare"
FIRST_VIEW = compare_examples.first_view()


def attempt(name: str, side: Side) -> Run | None:
    """Run a side; give nothing, and why on the page, where it cannot be run."""
    try:
        return run(side, hide=st.session_state[key(PAGE, "hide")])
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
        from pages.ui import compare_exhibit

        warn_of_unknown([mine.trace.attention.key_tokens, yours.trace.attention.key_tokens])
        found = maps(PAGE, mine, yours)
        followed = word_through_layers(PAGE, mine, yours)
        carry_away(PAGE, compare_exhibit.comparison_views(PAGE, mine, yours, found, followed))
    write_view(PAGE, FIELDS, FIRST_VIEW)
    ways_on(one.text, one.pair or (other.text if other.text != one.text else ""), "attention", "fill_mask", "bert")
    share_link()


badge = open_page(PAGE)
read_view(PAGE, FIELDS, FIRST_VIEW)
tell_not_understood(PAGE)
example = compare_examples.shown_example(PAGE)
choices = compare_examples.curated()
examples.offer(key(PAGE, "example"), choices, example, lambda one: compare_examples.show_example(PAGE, one))
if example:
    st.markdown(f":material/lightbulb: {example.notice}")
if taken_back := compare_state.forget_places(PAGE):
    st.info(taken_back)
ask_sides(PAGE)
ask_look(PAGE)
one, other = compare_state.sides(PAGE)
with suppress(ExplorerError):  # it is told where the map would stand
    engine = engine_of(badge, one.model)
    show_engine(badge, engine.title, engine.device)
look(one, other)
