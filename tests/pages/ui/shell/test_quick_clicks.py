"""What a browser sends before it has the last answer: the label of an option that is gone, a text beside a hidden control."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from pages.ui.shell.level import ADVANCED, BASIC, SWITCH

GONE = "999 gone"
"""A label that no list of any page has."""


def choose_gone(app: AppTest, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose an option of a list that the page had before; AppTest sends those only that there are."""
    box, sent = app.selectbox(key=key).id, Selectbox._widget_state.fget

    def send(one: Selectbox) -> WidgetState:
        return WidgetState(id=box, string_value=GONE) if one.id == box else sent(one)

    with monkeypatch.context() as patched:
        patched.setattr(Selectbox, "_widget_state", property(send))
        app.run()


def test_an_option_that_is_gone_is_not_chosen_and_what_was_chosen_stays(open_app, monkeypatch: pytest.MonkeyPatch):
    app, key = open_app("compare", vary="changes"), "compare_changes_b"
    before, view = app.selectbox(key=key).value, app.query_params
    choose_gone(app, key, monkeypatch)
    assert not app.exception
    assert (app.selectbox(key=key).value, app.query_params) == (before, view)
    app.text_input(key="compare_text").set_value("").run()  # an error in place of the list
    app.run()
    assert not app.exception


def switch_level(app: AppTest, level: str) -> AppTest:
    next(group for group in app.button_group if group.key == SWITCH).set_value(level)
    return app.run()


def test_what_basic_hides_is_still_there_when_the_next_sentence_is_typed(open_app):
    app = switch_level(open_app("attention", text="abc", pair="def"), BASIC)
    for sentence in ("I drink tea", "I drink green tea"):
        app.text_input(key="attention_text").set_value(sentence).run()
        assert not app.exception
    app = switch_level(app.run(), ADVANCED)
    assert app.text_input(key="attention_pair").value == "def"
