"""Code on a page, read from the core itself at the moment it is shown: what a reader sees is what ran."""

import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).parents[3]


@st.fragment
def show_source(*parts: Callable[..., object], label: str = "The code that computes this") -> None:
    """Show functions or classes of the core, each under the file that it stands in; what is folded away is not sent."""
    folded = st.expander(label, icon=":material/code:", key="source_code", on_change="rerun")
    if not folded.open:
        return
    with folded:
        for part in parts:
            st.caption(f"`{home_of(part)}`")
            st.code(source_of(part), language="python", wrap_lines=True)


@cache
def source_of(part: Callable[..., object]) -> str:
    """Give the source of a function or class as it stands in its file."""
    return textwrap.dedent(inspect.getsource(part)).rstrip()


@cache
def home_of(part: Callable[..., object]) -> str:
    """Give the file of a function or class, as seen from the root of the project."""
    return Path(inspect.getfile(inspect.unwrap(part))).relative_to(ROOT).as_posix()
