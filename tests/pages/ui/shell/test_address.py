"""The view of a page in its address, where runs overtake each other."""

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
