"""The view of a page in its address, where runs overtake each other."""

import pytest
from streamlit.runtime.state import QueryParamsProxy
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from pages.ui.shell.address import number_field, read_view, text_field, write_view

    fields = (text_field("text"), number_field("layer", 1, 1, 9))
    read_view("page", fields, {})
    if st.session_state.get("overtaken"):
        st.stop()
    write_view("page", fields, {})


def test_back_pressed_twice_goes_back_twice_though_the_second_overtakes_the_run_of_the_first():
    app = AppTest.from_function(page)
    app.query_params.update(text="tea", layer="4")
    app.run()
    app.query_params["layer"] = "2"
    app.session_state["overtaken"] = True
    app.run()
    assert app.session_state["page_layer"] == 2
    del app.query_params["layer"]
    app.session_state["overtaken"] = False
    app.run()
    assert app.session_state["page_layer"] == 1
    assert app.query_params == {"text": "tea"}


def test_a_control_wins_over_an_address_that_is_not_up_to_date_yet():
    app = AppTest.from_function(page)
    app.query_params.update(text="tea", layer="4")
    app.run()
    app.session_state["page_layer"] = 5
    app.query_params["layer"] = "3"
    app.run()
    assert app.session_state["page_layer"] == 5
    assert app.query_params == {"text": "tea", "layer": "5"}


def test_an_address_that_an_earlier_run_wrote_is_overwritten_though_the_browser_is_not_there_yet(monkeypatch):
    written: list[dict[str, str]] = []
    write = QueryParamsProxy.from_dict
    monkeypatch.setattr(QueryParamsProxy, "from_dict", lambda self, view: (written.append(dict(view)), write(self, view))[1])
    app = AppTest.from_function(page)
    app.query_params.update(text="tea", layer="4")
    app.run()
    app.session_state["page_layer"] = 5
    app.run()
    app.session_state["page_layer"] = 4
    app.query_params["layer"] = "4"  # where the browser still is
    app.run()
    assert written == [{"text": "tea", "layer": "5"}, {"text": "tea", "layer": "4"}]
    app.run()
    assert len(written) == 2, "an address that stands was written once more: a step more for Back"


def taken_over_page() -> None:
    import streamlit as st

    from pages.ui.shell.address import KNOWN, number_field, read_view, take_over, text_field, write_view

    fields = (text_field("text"), number_field("layer", 1, 1, 9))
    st.session_state["held"] = take_over(st.session_state.pop("reported", None))
    st.session_state[KNOWN] = True
    read_view("page", fields, {})
    write_view("page", fields, {})


def test_what_stood_in_a_box_comes_back_and_the_rest_comes_from_the_address():
    app = AppTest.from_function(taken_over_page)
    app.query_params.update(text="tea", layer="4")
    app.session_state["reported"] = {"texts": {"page_text": "coffee", "page_layer": "7", "other_text": "milk"}, "held": True}
    app.run()
    assert (app.session_state["page_text"], app.session_state["page_layer"], app.session_state["held"]) == ("coffee", 4, True)
    assert app.query_params == {"text": "coffee", "layer": "4"}
    app.query_params.update(text="tea")  # sent before the browser knew the new address
    app.run()
    assert app.session_state["page_text"] == "coffee" and app.query_params == {"text": "coffee", "layer": "4"}
    app.run()  # the browser has caught up: from now on, an address that changes is a step of the reader
    app.query_params.update(text="milk")
    app.run()
    assert app.session_state["page_text"] == "milk"


@pytest.mark.parametrize("reported", [None, "text", 3, [], {}, {"texts": 3, "held": "yes"}, {"texts": {"page_text": ["x"]}}])
def test_a_report_that_makes_no_sense_changes_nothing(reported):
    app = AppTest.from_function(taken_over_page)
    app.query_params.update(text="tea", layer="4")
    app.session_state["reported"] = reported
    app.run()
    assert not app.exception
    assert (app.session_state["page_text"], app.session_state["page_layer"], app.session_state["held"]) == ("tea", 4, False)


def test_a_session_that_knows_the_page_ignores_such_a_report():
    app = AppTest.from_function(taken_over_page)
    app.query_params.update(text="tea")
    app.run()
    app.session_state["reported"] = {"texts": {"page_text": "coffee"}, "held": True}
    app.run()
    assert app.session_state["page_text"] == "tea" and app.session_state["held"] is False
