"""The entry for Streamlit Community Cloud, which installs the requirements.txt that lies beside an app's entry."""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from app import MAIN, OPTIONS

app = st.App(MAIN, **OPTIONS)
