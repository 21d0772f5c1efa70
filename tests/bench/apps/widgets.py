"""The widgets that the attention page sends for a new sentence, and nothing else: Streamlit's own share of a run.

The same kinds of elements in the same containers, with labels, options and data of about the same length.
"""

from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

LABEL = "A label of some words"
HELP = "What this does, in a sentence or two, as long as those of the explorer are. It is sent with every run."
PAGES = [f"How does page {number} answer its question?" for number in range(6)]
SCRIPT = "export default () => {}\n" + "// two kilobytes of script\n" * 80
draw = st.components.v2.component("drawing", html="<div></div>", css="div { color: currentColor; }", js=SCRIPT)


@st.fragment
def about_sentence(places: list[DeltaGenerator]) -> None:
    """Send the boxes and what depends on the sentence, each in its place."""
    first, second, budget, wall, shown, ways = places
    first.text_input("Sentence", key="text")
    second.text_input(LABEL, key="pair")
    budget.caption("14 of 128 tokens", width="content")
    with wall:
        draw(key="wall", data=bytes(5000))
    with shown:
        st.text(f"{LABEL}: {st.session_state['text']}")
        draw(key="map", data=bytes(1500))
        st.caption(HELP * 3)
    links = "".join(
        f'<a data-page="widgets" href="./widgets?{urlencode({"text": st.session_state["text"]})}">{page}</a>' for page in PAGES
    )
    ways.html(f"<nav>{links}</nav>")
    st.query_params["text"] = st.session_state["text"]


def show() -> None:
    """Show the page."""
    columns = st.columns(2)
    about_sentence([*columns, st.empty(), *(st.container() for _ in range(3))])


here = st.Page(show, title="Widgets", url_path="widgets", default=True)
st.navigation([here], position="hidden").run()
