"""The parts of pages that are drawn anew by themselves: a change in one of them runs that part alone, as in a browser."""

from functools import partial

import pytest
from streamlit.testing.v1 import AppTest, local_script_runner

from pages.ui import cache
from tx_core import models
from tx_core.errors import ModelUnavailable

HUB_MODEL = "roberta-base"


def run_part(app: AppTest, widget: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Run what a browser asks for when it sends a widget: the part that the widget stands in, nothing else."""
    known = app._session_state._state._new_widget_state.widget_metadata
    (part,) = {known[name].fragment_id for name in known if name.endswith(f"-{widget}")}
    assert part
    with monkeypatch.context() as patched:
        patched.setattr(local_script_runner, "RerunData", partial(local_script_runner.RerunData, fragment_id=part))
        return app.run()


def said(app: AppTest) -> str:
    return "\n".join(one.value for kind in (app.text, app.caption, app.markdown) for one in kind)


@pytest.fixture
def lost_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of the hub that was there when a page began, and is gone when its part is drawn."""
    asked = []

    def engine(name: str) -> models.Engine:
        if name == HUB_MODEL:
            asked.append(name)
            if len(asked) != 1:
                raise ModelUnavailable("It is gone.")
        return models.load(models.DEFAULT)

    monkeypatch.setattr(cache, "engine", engine)


@pytest.mark.parametrize("part", ["values", "lens", "owed"])
def test_the_built_in_model_can_be_chosen_within_a_part(open_app, part: str, lost_model, monkeypatch: pytest.MonkeyPatch):
    app = open_app("summaries", text="A [MASK] sings.", part=part, model=HUB_MODEL)
    assert not app.exception
    assert "It is gone." in said(app)
    app.button(key="summaries_model_default").click()
    app = run_part(app, "summaries_model_default", monkeypatch)
    assert not app.exception
    assert "It is gone." not in said(app)
    assert app.selectbox(key="summaries_model").value == models.DEFAULT
    assert "model" not in app.query_params
