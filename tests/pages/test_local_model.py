"""What pages say while and after they show a model from the host's own directory, which has other sizes than the built-in one."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.stage.texts import HEADS_MISSING
from tests.support.checkpoints import HEADS, LAYERS
from tests.support.drawings import says
from tx_core.transformer.interventions import Head

TEXT = "The brown fox sleeps."
MISSING = HEADS_MISSING.format(layers=LAYERS, heads=HEADS)
Open = Callable[..., AppTest]


@pytest.mark.parametrize("page", ["attention", "summaries"])
def test_only_heads_that_a_link_names_are_said_not_to_exist(open_app: Open, offer, page: str):
    offer("gpt2")
    view = {"part": "values"} if page == "summaries" else {}
    app = open_app(page, model="local:own", text=TEXT, **view)
    assert not app.exception
    assert MISSING not in says(app)
    assert app.session_state[f"{page}_heads"] == [{"attention": (0, 0), "summaries": (0, 1)}[page]]
    last: Head = (LAYERS - 1, HEADS - 1)
    app = open_app(page, model="local:own", text=TEXT, heads=f"{last[0] + 1}-{last[1] + 1}", **view)
    assert MISSING not in says(app)
    assert app.session_state[f"{page}_heads"] == [last]
    assert MISSING in says(open_app(page, model="local:own", text=TEXT, heads=f"{LAYERS + 1}-1", **view))
