"""The page of summaries: a link brings the view back, any text is shown or explained, and limits are told."""

import pytest

from pages.summaries import texts
from pages.summaries.parts import PARTS, SUMMARIES
from pages.ui.panels.texts import EXPLANATION_DEBATE, HEADS_MISSING
from pages.ui.shell import controls
from pages.ui.shell.texts import CHECK_INPUT
from tests.support.drawings import problems, says
from tests.support.messages import unknown_parameters
from tx_core.fill_mask.predictions import NO_BLANK

PAGE = "summaries"
TEXT = "She [MASK] the letter, and then the [MASK] came."
HOSTILE = "<img src=x onerror=alert(1)> **bold** :smile: [MASK] [link](https://evil.example)"


@pytest.mark.parametrize("part", ["glance", "alike"])
def test_a_text_of_special_tokens_only_is_told_to_need_a_word(open_app, part):
    app = open_app(PAGE, text="[SEP]", part=part)
    assert not app.exception
    assert texts.SPECIAL_TOKENS_ONLY in says(app)
    assert "nan" not in says(app)


def test_the_head_goes_along_to_the_attention_page(open_app):
    app = open_app(PAGE, text="Time flies.", pair="So it does.", heads="2-3")
    queries = {link.proto.query_string for link in app.get("page_link")}
    assert "text=Time+flies.&pair=So+it+does.&model=embedded&heads=2-3" in queries


def test_a_prediction_needs_a_blank_and_a_single_sentence(open_app):
    assert NO_BLANK in says(open_app(PAGE, text="No blank.", part="owed"))
    assert texts.SINGLE_SENTENCE in says(open_app(PAGE, text=TEXT, pair="Two.", part="owed"))


@pytest.mark.parametrize("part", PARTS)
def test_every_part_says_what_it_cannot_tell(open_app, part):
    told = says(open_app(PAGE, text=TEXT, part=part))
    assert (EXPLANATION_DEBATE if part != "lens" else texts.LENS_CAVEAT) in told


@pytest.mark.parametrize("part", PARTS)
def test_a_hostile_text_is_shown_as_it_is_and_an_empty_one_explained(open_app, part):
    app = open_app(PAGE, text=HOSTILE, part=part)
    assert not app.exception
    assert app.text_input(key=f"{PAGE}_text").value == HOSTILE
    app.text_input(key=f"{PAGE}_text").set_value("  ").run()
    assert not app.exception
    assert CHECK_INPUT in says(app)


@pytest.mark.parametrize("part", [part for part in PARTS if part != "owed"])
def test_one_word_is_enough(open_app, part):
    app = open_app(PAGE, text="a", part=part)
    assert not app.exception
    assert not problems(app)


def test_a_link_brings_the_view_back(open_app):
    app = open_app(PAGE, text=TEXT, part="owed", token="3", rank="2", heads="4-1", colour="distance")
    address = {name: str(value[0] if isinstance(value, list) else value) for name, value in app.query_params.items()}
    again = open_app(PAGE, **address)
    assert again.query_params == app.query_params
    assert [chart.proto.spec for chart in again.get("plotly_chart")] == [chart.proto.spec for chart in app.get("plotly_chart")]


def test_what_the_text_or_the_model_lacks_is_left_out(open_app):
    app = open_app(PAGE, text="A bird.", part="values", heads="90-1", token="400")
    assert not app.exception
    layers, heads = controls.embedded_sizes()
    assert HEADS_MISSING.format(layers=layers, heads=heads) in says(app)
    assert not open_app(PAGE, text="A bird.", part="layers", token="400").exception


@pytest.mark.parametrize(("name", "written"), [("part", "x"), ("colour", "red"), ("heads", "a"), ("token", "-"), ("rank", "6")])
def test_nonsense_in_a_link_is_told(open_app, name, written):
    app = open_app(PAGE, text=TEXT, **{name: written})
    assert not app.exception
    assert unknown_parameters(name) in says(app)


def test_old_links_find_their_part():
    assert {"glance", "layers", "values", "alike", "lens", "owed"} <= set(PARTS)


def test_no_two_parts_have_one_title():
    assert len({summary.title for summary in SUMMARIES}) == len({summary.key for summary in SUMMARIES}) == len(SUMMARIES)
