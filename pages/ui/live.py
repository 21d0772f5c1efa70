"""The part of a page that follows a control: the smallest that can be drawn anew, so that a change is seen at once.

What a browser has to draw again costs it a few milliseconds an element, whatever stands in it: texts, equations, code and
links that a control does not change stay outside.
"""

from collections.abc import Callable, Sequence
from typing import ParamSpec

import streamlit as st

from pages.ui import controls
from pages.ui.address import Field, keep_view, key, write_view
from pages.ui.frame import explain
from pages.ui.link_length import told_otherwise
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable

Arguments = ParamSpec("Arguments")


@st.fragment
def live(
    page: str, fields: Sequence[Field], draw: Callable[Arguments, None], *arguments: Arguments.args, **named: Arguments.kwargs
) -> None:
    """Draw what the reader changes; a change in it runs nothing but this, and the address of the page follows.

    Where a text typed in it no longer fits into the address, or fits again, the whole page runs, which says so at its end.
    What cannot be shown is explained in its place; where the page has a choice of models, the built-in one is offered.
    """
    from tx_core.device import use_all_cores, use_one_core
    from tx_core.models import DEFAULT

    # The built-in model is small: a second core, which the browser may be using, would only be waited for.
    small = st.session_state.get(key(page, "model"), DEFAULT) == DEFAULT
    use_one_core() if small else use_all_cores()
    keep_view(page, fields)
    try:
        draw(*arguments, **named)
    except ExplorerError as problem:
        explain(problem)
        if isinstance(problem, ModelUnavailable | CheckpointProblem) and any(field.name == "model" for field in fields):
            controls.offer_default_model(key(page, "model"))
    write_view(page, fields, {})
    if told_otherwise():
        st.rerun()
