"""The widgets that the attention page sends for a new sentence, and nothing else: Streamlit's own share of a run.

The same kinds of elements in the same containers, with labels, options and data of about the same length.
"""

from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

LABEL = "A label of some words"
HELP = "What this does, in a sentence or two, as long as those of the explorer are. It is sent with every run."
HEADS = [f"Layer {layer}, head {head}" for layer in range(1, 5) for head in range(1, 13)]
PAGES = [f"How does page {number} answer its question?" for number in range(6)]
STYLE = "div { color: currentColor; }" * 200
draw = st.components.v2.component("drawing", html="<div></div>", css=STYLE, js="export default () => {}")


@st.fragment
def about_sentence(first: DeltaGenerator, second: DeltaGenerator, budget: DeltaGenerator) -> None:
    """Send the boxes and what depends on the sentence."""
    first.text_input("Sentence", key="text")
    second.text_input(LABEL, key="pair")
    budget.caption("14 of 128 tokens", width="content")
    look()
    st.expander(LABEL, key="tokens", on_change="rerun")
    links = "".join(
        f'<a data-page="widgets" href="./widgets?{urlencode({"text": st.session_state["text"]})}">{page}</a>' for page in PAGES
    )
    st.html(f"<nav>{links}</nav>")


@st.fragment
def look() -> None:
    """Send what a click draws anew."""
    with st.container(key="wall_and_map"):
        with st.container(key="rail"):
            draw(key="wall", data=bytes(5000))
            st.selectbox(LABEL, HEADS, key="head")
            with st.container(horizontal=True):
                st.button(LABEL, key="off", icon=":material/toggle_off:")
                st.button(LABEL, key="change", icon=":material/science:")
            st.container(key="changes")
            with st.container(horizontal=True):
                st.toggle(LABEL, help=HELP, key="words")
                st.toggle(LABEL, help=HELP, key="hide")
                st.popover(LABEL, key="drawing_options", on_change="rerun").container(height=260, border=False)
        with st.container(key="stage"):
            st.container(horizontal=True, key="chips")
            st.text(f"{LABEL}: {st.session_state['text']}")
            draw(key="map", data=bytes(1500))
            st.caption(HELP * 3)
    st.expander(LABEL, key="table", on_change="rerun")
    st.expander(LABEL, key="export", on_change="rerun")
    st.query_params["text"] = st.session_state["text"]


def show() -> None:
    """Show the page."""
    about_sentence(*st.columns(2), st.empty())


here = st.Page(show, title="Widgets", url_path="widgets", default=True)
st.navigation([here], position="hidden").run()
