"""The smallest app: what a visitor waits for whatever the explorer does."""

import streamlit as st

st.title("A title")
