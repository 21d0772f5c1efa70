"""Run the part of a page that follows a control by itself, so that a change is seen at once.

Every element that is drawn again costs the browser a few milliseconds, whatever is in it: texts, equations, code and links
that a control does not change stay outside.
"""

from collections.abc import Callable, Sequence
from typing import ParamSpec

import streamlit as st

from pages.ui.shell import controls
from pages.ui.shell.address import Field, link_status_changed, restore_hidden_fields, widget_key, write_view
from pages.ui.shell.frame import explain
from tx_core.engine.catalogue import DEFAULT
from tx_core.engine.device import use_all_cores, use_one_core
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable, memory_checked

Arguments = ParamSpec("Arguments")


@st.fragment
def live(
    page: str, fields: Sequence[Field], draw: Callable[Arguments, None], *arguments: Arguments.args, **named: Arguments.kwargs
) -> None:
    """Draw what the reader changes, as a fragment: a change in it runs nothing else, and the address follows.

    Where a text typed in it no longer fits into the address, or fits again, the whole page runs and says so at its end.
    What cannot be shown is explained in its place; where the page has a choice of models, the built-in one is offered.
    """
    # The built-in model is small: a second core, which the browser may be using, does not help.
    small = st.session_state.get(widget_key(page, "model"), DEFAULT) == DEFAULT
    use_one_core() if small else use_all_cores()
    restore_hidden_fields(page, fields)
    try:
        with memory_checked():
            draw(*arguments, **named)
    except ExplorerError as problem:
        explain(problem)
        if isinstance(problem, ModelUnavailable | CheckpointProblem) and any(field.name == "model" for field in fields):
            controls.offer_default_model(widget_key(page, "model"))
    write_view(page, fields, st.session_state[f"{page}_fields"][1])
    if link_status_changed():
        st.rerun()
