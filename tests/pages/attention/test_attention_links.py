"""The attention page and its address: a link and another page bring the view back; nonsense in a link is told."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from pages.attention import inputs
from pages.ui.shell import controls
from pages.ui.stage import texts as stage_texts
from tests.support.drawings import says
from tests.support.messages import unknown_parameters
from tests.support.staged import staged

Open = Callable[..., AppTest]
LOOKS = {"heads": "1-8_4-3", "words": "1", "hide": "1", "show": "lines", "lines": "7", "scale": "cividis", "focus": "3"}
LOOKED = {
    "stack": "self",
    "heads": [[0, 7], [3, 2]],
    "words": True,
    "hide": True,
    "show": "lines",
    "lines": 7,
    "scale": "cividis",
    "focus": 2,
    "compared": "after",
}


def test_a_link_brings_what_is_computed_and_how_it_is_looked_at(open_app: Open):
    app = open_app(text="A <b>bird</b> & a half", pair="% + ü 日本", nospecial="1", changes="off~1-2", **LOOKS)
    sent = staged(app)
    assert not app.exception
    assert (sent["text"], sent["pair"], sent["bare"]) == ("A <b>bird</b> & a half", "% + ü 日本", True)
    assert sent["view"] == LOOKED
    assert sent["address"]["own"] == {
        "text": "A <b>bird</b> & a half",
        "pair": "% + ü 日本",
        "nospecial": "1",
        "changes": "off~1-2",
    }


def test_python_writes_nothing_into_the_address(open_app: Open):
    app = open_app(text="A bird sings.", **LOOKS)
    before = dict(app.query_params)
    app.text_input(key="attention_text").set_value("A fish swims.").run()
    assert dict(app.query_params) == before
    assert staged(app)["address"]["own"] == {"text": "A fish swims."}
    assert staged(open_app())["address"]["isFirst"]


def test_how_the_browser_looks_is_found_in_its_address_and_no_arrival_is_made_of_it(open_app: Open):
    app = open_app(text="A bird sings.")
    arrivals = staged(app)["arrival"]["number"]
    app.query_params = {"text": "A bird sings.", **LOOKS}
    app.run()
    assert staged(app)["view"] == LOOKED
    assert app.session_state["attention_heads"] == [(0, 7), (3, 2)]
    app.text_input(key="attention_text").set_value("A fish swims.").run()
    app.query_params = {"text": "A bird sings.", "heads": "1-1"}  # the browser has not written the new sentence yet
    app.run()
    assert staged(app)["text"] == "A fish swims."
    assert staged(app)["arrival"]["number"] == arrivals


def test_a_link_to_another_view_of_the_open_page_is_an_arrival(open_app: Open):
    app = open_app(text="A bird sings.")
    arrivals = staged(app)["arrival"]["number"]
    app.query_params = {"text": "Somebody else's sentence.", "heads": "3-3"}
    app.run()
    assert staged(app)["text"] == "Somebody else's sentence."
    assert staged(app)["view"]["heads"] == [[2, 2]]
    assert staged(app)["arrival"]["number"] > arrivals


def test_the_view_is_still_there_after_a_visit_to_another_page(open_app: Open):
    app = open_app(text="A bird sings.", **LOOKS)
    app.query_params = {}
    app.switch_page("fill_mask/page.py").run()
    app.query_params = {}
    app.switch_page("attention/page.py").run()
    sent = staged(app)
    assert (sent["text"], sent["view"]) == ("A bird sings.", LOOKED)
    assert sent["arrival"]["restored"]


NONSENSE = "<script>alert(1)</script>"


def test_nonsense_in_every_parameter_falls_back_and_says_so(open_app: Open):
    names = ("model", "changes", "stack", "heads", "words", "hide", "show", "lines", "scale", "focus", "compared")
    app = open_app(text="A bird", **dict.fromkeys(names, NONSENSE), unheard_of="1")
    assert not app.exception
    assert unknown_parameters(*names) in says(app)
    assert staged(app)["view"]["heads"] == [list(head) for head in inputs.EXAMPLES[0].view["heads"]]
    assert staged(app)["address"]["own"] == {"text": "A bird"}


def test_heads_and_tokens_that_do_not_exist_are_reported(open_app: Open):
    app = open_app(text="A bird", heads="99-1_2-2", focus="77")
    layers, heads = controls.embedded_sizes()
    tokens = len(staged(app)["stacks"][0]["keys"]["tokens"])
    assert [info.value for info in app.info] == [
        stage_texts.HEADS_MISSING.format(layers=layers, heads=heads),
        stage_texts.TOKEN_MISSING.format(tokens=tokens, position=77),
    ]
    assert staged(app)["view"]["heads"] == [[1, 1]]


def test_a_link_that_gives_a_parameter_twice_is_read(open_app: Open):
    assert not open_app(text=["A bird", "A fish"], heads=["1-1", "2-2"]).exception
