"""The page `page.py` beside this file, served together with the scripts of its drawings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4]))

import streamlit as st

from pages.ui.canvas import component

app = st.App(Path(__file__).parent / "page.py", routes=[component.ROUTE])
