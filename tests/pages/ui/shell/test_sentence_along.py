"""What a visitor typed last comes along to the pages opened next by the list at the side, and overrides nothing of theirs."""

import pytest
from streamlit.testing.v1 import AppTest

MINE = "The bird sang a song."


def go(app: AppTest, page: str) -> AppTest:
    """Open a page as the list at the side does: in the same visit, without an address of its own."""
    app.query_params = {}
    return app.switch_page(f"{page}/page.py").run()


def sentence(app: AppTest, page: str, name: str = "text") -> str:
    return app.session_state[f"{page}_{name}"]


@pytest.mark.parametrize(
    "page", ["summaries", "self_attention", "heads_and_blocks", "masks", "positions", "bert", "bertviz_page"]
)
def test_a_typed_sentence_is_there_on_the_page_opened_next(open_app, page):
    app = open_app()
    app.text_input(key="attention_text").set_value(MINE).run()
    assert sentence(go(app, page), page) == MINE
    assert not app.exception
    assert app.query_params["text"] == MINE


def test_without_a_typed_sentence_every_page_begins_with_its_own(open_app):
    app = open_app("self_attention")
    assert sentence(go(app, "masks"), "masks") == "The cat sat on the mat."
    assert sentence(go(app, "self_attention"), "self_attention") == "The boy read a very old book."


def test_a_page_where_something_was_typed_keeps_it(open_app):
    app = open_app("masks", text="A dog sleeps.")
    go(app, "summaries").text_input(key="summaries_text").set_value(MINE).run()
    assert sentence(go(app, "masks"), "masks") == "A dog sleeps."
    assert sentence(go(app, "self_attention"), "self_attention") == MINE


def test_a_page_that_was_looked_at_but_not_typed_on_takes_the_sentence(open_app):
    app = open_app("self_attention")
    go(app, "masks").text_input(key="masks_text").set_value(MINE).run()
    assert sentence(go(app, "self_attention"), "self_attention") == MINE


def test_the_sentence_of_a_link_comes_along_too(open_app):
    assert sentence(go(open_app("masks", text=MINE), "self_attention"), "self_attention") == MINE


def test_a_second_sentence_comes_along_where_there_is_a_place_for_one(open_app):
    app = open_app()
    app.text_input(key="attention_pair").set_value("It was late.").run()
    app.text_input(key="attention_text").set_value(MINE).run()
    assert sentence(go(app, "summaries"), "summaries", "pair") == "It was late."
    assert sentence(go(app, "self_attention"), "self_attention") == MINE


def test_a_second_sentence_that_a_page_begins_with_stays_there(open_app):
    app = open_app()
    app.text_input(key="attention_text").set_value(MINE).run()
    assert sentence(go(app, "masks"), "masks", "pair") != ""
    go(app, "summaries")
    assert (sentence(app, "summaries"), sentence(app, "summaries", "pair")) == (MINE, "")


def test_a_sentence_taken_back_is_not_carried_any_more(open_app):
    app = open_app("masks")
    app.text_input(key="masks_text").set_value(MINE).run()
    app.text_input(key="masks_text").set_value("The cat sat on the mat.").run()
    assert sentence(go(app, "self_attention"), "self_attention") == "The boy read a very old book."


def test_numbers_of_the_page_on_sequences_are_no_sentence(open_app):
    app = open_app("encoder_decoder", numbers="1 2 3")
    assert sentence(go(app, "masks"), "masks") == "The cat sat on the mat."
    app.text_input(key="masks_text").set_value(MINE).run()
    assert sentence(go(app, "encoder_decoder"), "encoder_decoder", "numbers") == "1 2 3"
