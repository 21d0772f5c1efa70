"""A page on which a click changes one line of text: what Streamlit and the browser take by themselves."""

import streamlit as st


@st.fragment
def click() -> None:
    number = st.session_state.get("number", 0)
    if st.button("Next"):
        number = st.session_state["number"] = number + 1
    st.text(f"Number {number}")


click()
