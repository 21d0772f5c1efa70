"""The view of a page in its address, where runs overtake each other; the sentence that comes along to the page opened next."""

from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from pages.ui.shell.address import hand_over, read_stage_address
    from pages.ui.shell.fields import StageFields, number_field, text_field

    fields = StageFields((text_field("text"), number_field("layer", 1, 1, 9)), ())
    read_stage_address("page", fields)
    if not st.session_state.get("overtaken"):
        st.session_state["own"] = hand_over("page", fields)["address"]["own"]


def own(app: AppTest) -> dict[str, str]:
    return app.session_state["own"]


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
    assert own(app) == {"text": "tea"}


MINE = "The bird sang a song."


def go(app: AppTest, page: str) -> AppTest:
    """Open a page as the list at the side does: in the same visit, without an address of its own."""
    app.query_params = {}
    return app.switch_page(f"{page}/page.py").run()


def sentence(app: AppTest, page: str, name: str = "text") -> str:
    return app.session_state[f"{page}_{name}"]


def test_a_page_takes_the_sentence_unless_something_was_typed_there(open_app):
    app = open_app("self_attention")
    assert sentence(go(app, "masks"), "masks") == "The cat sat on the mat."
    app.text_input(key="masks_text").set_value("A dog sleeps.").run()
    go(app, "summaries").text_input(key="summaries_text").set_value(MINE).run()
    assert sentence(go(app, "masks"), "masks") == "A dog sleeps."
    assert sentence(go(app, "self_attention"), "self_attention") == MINE  # looked at, but not typed on


def test_a_sentence_begins_before_its_blank_where_a_model_writes(open_app):
    app = open_app("fill_mask", text="The capital of France is ___.")
    assert sentence(go(app, "next_word"), "next_word") == "The capital of France is"
    assert sentence(go(app, "masks"), "masks") == "The capital of France is ___."


def test_sentence_b_comes_along_to_the_next_page_that_takes_a_pair_and_not_with_another_sentence(open_app):
    app = go(open_app("fill_mask", text="The keys are [MASK]."), "patching")
    app.text_input(key="patching_text_b").set_value("The key is [MASK].").run()
    assert sentence(go(app, "explanations"), "explanations", "text_b") == "The key is [MASK]."
    go(app, "attention").text_input(key="attention_text").set_value(MINE).run()
    assert sentence(go(app, "compare"), "compare") == MINE
    assert not sentence(app, "compare", "text_b")
