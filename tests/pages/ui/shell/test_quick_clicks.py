"""What a browser sends before it has the last answer: the label of an option that is gone, a level of before."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from pages.ui.shell.level import ADVANCED, BASIC, LEVEL, LEVEL_NOW, SWITCH

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


def test_a_click_before_the_browser_has_the_address_of_the_chosen_level_keeps_it(open_app):
    app = open_app("words", level=BASIC)
    for chosen, other in ((ADVANCED, BASIC), (BASIC, ADVANCED)):  # there and back
        app.button_group(key=SWITCH).set_value(chosen).run()
        app.query_params[LEVEL] = other
        app.run()
        assert app.session_state[LEVEL_NOW] == chosen
