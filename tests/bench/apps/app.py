"""The page `one_head.py` beside this file, served together with the scripts of its drawings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import streamlit as st

from pages.ui.canvas import component

app = st.App(Path(__file__).parent / "one_head.py", routes=[component.ROUTE])
