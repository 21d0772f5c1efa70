"""The attention page and its address: a link, Back and another page bring the view back; nonsense in a link is told."""

from collections.abc import Callable

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.ui.panels import texts
from pages.ui.shell import controls, examples
from tests.support.drawings import drawn, says
from tests.support.messages import unknown_parameters

Open = Callable[..., AppTest]
FIRST = examples.curated()[0]


def test_a_copied_link_brings_exactly_the_view_back(open_app: Open):
    app = open_app()
    app.text_input(key="attention_text").set_value("A <b>bird</b> & a half").run()
    app.text_input(key="attention_pair").set_value("% + ü 日本").run()
    app.session_state["attention_heads"] = [(0, 7), (3, 2)]
    app.run()
    app.toggle(key="attention_hide").set_value(True).run()
    app.session_state["attention_drawing_opened"] = True
    app.run()
    app.slider(key="attention_lines").set_value(7).run()
    app.selectbox(key="attention_scale").set_value("cividis").run()
    again = open_app(**app.query_params)
    assert not again.exception
    for name in ("attention_map", "head_wall"):
        (header, cells), (header_again, cells_again) = drawn(app)[name], drawn(again)[name]
        assert header == header_again
        np.testing.assert_array_equal(cells, cells_again)
    assert again.query_params == app.query_params
    assert again.text[0].value == app.text[0].value


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


NONSENSE = "<script>alert(1)</script>"


def test_nonsense_in_every_parameter_falls_back_and_says_so(open_app: Open):
    names = ("model", "stack", "heads", "words", "hide", "show", "lines", "scale", "focus")
    app = open_app(text="A bird", **dict.fromkeys(names, NONSENSE), unheard_of="1")
    assert not app.exception
    assert unknown_parameters(*names) in says(app)
    assert drawn(app)["head_wall"][0]["chosen"] == [list(head) for head in FIRST.heads]
    assert app.query_params == {"text": "A bird"}


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
