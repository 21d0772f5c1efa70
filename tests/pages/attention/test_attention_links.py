"""The attention page and its address: a link, Back and another page bring the view back; nonsense in a link is told."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from pages.ui.panels import texts
from pages.ui.shell import controls
from tests.support.drawings import drawn

Open = Callable[..., AppTest]


def test_what_is_chosen_in_a_popover_stays_when_it_is_closed_again(open_app: Open):
    app = open_app(text="A small dog barks.", heads="2-3", lines="7", scale="greys")
    assert not app.slider
    for name in ("drawing", "change"):
        app.session_state[f"attention_{name}_opened"] = True
    app.run()
    assert app.slider(key="attention_lines").value == 7
    app.slider(key="attention_lines").set_value(9).run()
    app.selectbox(key="attention_change_key").set_value(4).run()
    app.selectbox(key="attention_change_scope").set_value("head").run()
    for opened in (False, False, True):
        for name in ("drawing", "change"):
            app.session_state[f"attention_{name}_opened"] = opened
        app.run()
        assert drawn(app)["attention_map"][0]["strongest"] == 9
        assert app.query_params["scale"] == "greys"
        assert bool(app.slider) is opened
    assert app.slider(key="attention_lines").value == 9
    assert app.selectbox(key="attention_change_key").value == 4
    assert app.selectbox(key="attention_change_scope").value == "head"
    assert not app.exception


def test_the_view_is_still_there_after_a_visit_to_another_page(open_app: Open):
    app = open_app(text="A bird sings.", heads="1-2", words="1")
    app.query_params = {}
    app.switch_page("fill_mask/page.py").run()
    app.query_params = {}
    app.switch_page("attention/page.py").run()
    assert app.text_input(key="attention_text").value == "A bird sings."
    assert app.session_state["attention_heads"] == [(0, 1)]
    assert app.toggle(key="attention_words").value is True
    assert app.query_params == {"text": "A bird sings.", "heads": "1-2", "words": "1"}


def test_heads_and_tokens_that_do_not_exist_are_reported(open_app: Open):
    app = open_app(text="A bird", heads="99-1_2-2", focus="77")
    layers, heads = controls.embedded_sizes()
    tokens = len(drawn(app)["attention_map"][0]["queries"])
    assert [info.value for info in app.info] == [
        texts.HEADS_MISSING.format(layers=layers, heads=heads),
        texts.TOKEN_MISSING.format(tokens=tokens, position=77),
    ]
    assert app.session_state["attention_heads"] == [(1, 1)]


def test_a_link_that_gives_a_parameter_twice_is_read(open_app: Open):
    assert not open_app(text=["A bird", "A fish"], heads=["1-1", "2-2"]).exception
