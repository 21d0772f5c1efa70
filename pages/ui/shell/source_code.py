"""Show code on a page, read from the core when it is shown: what a reader sees is what ran."""

import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st

from pages.ui.shell import texts

ROOT = Path(__file__).parents[3]


@st.fragment
def show_source(*parts: Callable[..., object], label: str = texts.SOURCE_CODE) -> None:
    """Show functions or classes of the core, each below the name of its file; nothing is sent while the box is folded."""
    folded = st.expander(label, icon=":material/code:", key="source_code", on_change="rerun")
    if not folded.open:
        return
    with folded:
        for part in parts:
            st.caption(f"`{home_of(part)}`")
            st.code(source_of(part), language="python", wrap_lines=True)


@cache
def source_of(part: Callable[..., object]) -> str:
    """Return the source of a function or class as it stands in its file."""
    return textwrap.dedent(inspect.getsource(part)).rstrip()


@cache
def home_of(part: Callable[..., object]) -> str:
    """Return the file of a function or class, relative to the root of the project."""
    return Path(inspect.getfile(inspect.unwrap(part))).relative_to(ROOT).as_posix()
