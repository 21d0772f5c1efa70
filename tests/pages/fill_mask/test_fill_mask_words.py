"""What is typed on the fill-mask page: what is behind a blank, what is a guess, what is unknown, too long or hostile."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.fill_mask import texts
from tests.support.blanks import ask, click_word, predicts, words
from tests.support.staged import staged
from tx_core.fill_mask.predictions import TOO_MANY_BLANKS
from tx_core.fill_mask.word_scores import TOO_MANY_WORDS
from tx_core.settings import host_settings


def text_of(app: AppTest) -> str:
    return app.text_input(key="fill_mask_text").value


def test_a_clicked_word_becomes_a_blank_and_a_clicked_blank_the_word_again(open_app):
    app = open_app("fill_mask", text="The cat saw the dog.")
    click_word(app, 4)
    assert text_of(app) == "The cat saw the [MASK]."
    click_word(app, 1)
    assert text_of(app) == "The [MASK] saw the [MASK]."
    click_word(app, 4)
    assert text_of(app) == "The [MASK] saw the dog."
    app.text_input(key="fill_mask_text").set_value("The [MASK] saw the dog today.").run()
    click_word(app, 1)
    assert text_of(app) == "The cat saw the dog today."
    app.text_input(key="fill_mask_text").set_value("[MASK] you very much.").run()  # typed: the model's favourite stands behind it
    click_word(app, 0)
    assert text_of(app) == "thank you very much."


def test_a_blank_that_was_typed_just_before_one_is_made_stays_as_it_is(open_app):
    app = open_app("fill_mask", text="I drink tea")
    app.text_input(key="fill_mask_text").set_value("I drink a ___")  # sent together with the click
    app.button(key="fill_mask_text_last").click().run()
    assert not app.exception
    assert text_of(app) == "I drink a ___"
    assert predicts(app)


def test_without_a_blank_there_is_a_hint_and_one_click_makes_one(open_app):
    app = open_app("fill_mask", text="The cat sleeps.")
    assert any(texts.NO_BLANK in markdown.value for markdown in app.markdown)
    assert not predicts(app)
    app.button(key="fill_mask_text_last").click().run()
    assert text_of(app) == "The cat [MASK]."
    assert predicts(app)


def test_a_word_behind_a_blank_travels_in_the_link(open_app):
    app = click_word(click_word(open_app("fill_mask", text="The cat sat on ___ mat."), 1), 5)
    link = staged(app)["address"]["own"]
    assert link["text_behind"] == "cat,,mat"
    again = click_word(click_word(open_app("fill_mask", **link), 1), 5)
    assert text_of(again) == "The cat sat on ___ mat."
    assert "text_behind" not in staged(again)["address"]["own"]


@pytest.mark.parametrize("behind", ["a,b,c,d", "<b>" + "x" * 3000])
def test_words_of_a_link_that_do_not_fit_its_blanks_bring_nothing_down(open_app, behind: str):
    app = open_app("fill_mask", text="The ___ and the ___ sleep.", text_behind=behind)
    assert not app.exception
    assert len(words(app)) == 6


def test_the_models_guess_at_a_typed_blank_is_called_one(open_app):
    app = click_word(open_app("fill_mask", text="The cat ___ on the mat."), 2)
    assert text_of(app) != "The cat ___ on the mat."
    (told,) = [info.value for info in app.info if info.value.startswith(texts.GUESS.partition("{")[0])]
    assert text_of(app).split()[2] in told.replace("\\", "")
    assert not [info for info in app.run().info if info.value.startswith(texts.GUESS.partition("{")[0])]


def test_a_text_beyond_all_measure_is_refused_before_its_words_are_read(open_app, monkeypatch):
    from tx_core.fill_mask import blanks

    def refuse(text: str):
        raise AssertionError("the words of a far too long text were read")

    app = open_app("fill_mask", text="A ___ bird.")
    monkeypatch.setattr(blanks, "text_parts", refuse)
    text = "___ " * (host_settings().max_text_characters // 4 + 1)
    app.text_input(key="fill_mask_text").set_value(text).run()
    assert not app.exception
    assert text_of(app) == text
    assert not predicts(app)


BAD = (
    ("", "There is no text yet"),
    ("___", ""),
    ("___ " + "tea " * 125, ""),
    ("___ " + "tea " * 126, "129 tokens long and the model reads at most 128"),
    ("___ " + "tea " * 2_500, "shorten it by"),
    ("[MASK] " * 100, TOO_MANY_BLANKS.format(count=100, maximum=10, excess=90)),
    ("👩‍👩‍👧 אני e\u0301\u0302\u0303 ___ nul\x00 🍕", ""),
    ("<script>alert(1)</script> <img src=x onerror=alert(1)> ___", ""),
    ("**bold** [a](javascript:alert(1)) :material/home: $x$ ___", ""),
)


def test_bad_input_is_answered_or_explained_stays_in_its_box_and_is_no_markup(open_app):
    app = open_app("fill_mask", named="<b>x</b>, **y**")
    for text, message in BAD:
        app.text_input(key="fill_mask_text").set_value(text).run()
        assert not app.exception
        assert app.text_input(key="fill_mask_text").value == text
        assert any(message in element.value for kind in (app.markdown, app.text) for element in kind)
        assert predicts(app) == (not message)
        assert not any("<script" in markdown.value or "**bold" in markdown.value for markdown in app.markdown)


def test_too_many_words_to_ask_for_are_explained_and_stay(open_app):
    many = ", ".join(f"word{number}" for number in range(30))
    app = open_app("fill_mask", named=many)
    assert TOO_MANY_WORDS.format(count=30, maximum=20) in app.text[0].value
    assert app.session_state["fill_mask_named"] == many
    assert predicts(app)


@pytest.mark.parametrize("typed", [True, False])
def test_the_words_of_an_example_go_with_its_sentence_and_ones_own_stay(open_app, typed: bool):
    app = open_app("fill_mask")
    assert app.session_state["fill_mask_named"]
    if typed:
        app.text_input(key="fill_mask_text").set_value("I drink a ___ of tea.").run()
    else:
        click_word(app, 0)
    assert not app.exception
    assert staged(app)["prediction"]["named"] == ""
    assert "named" not in staged(app)["address"]["own"]
    ask(app, named="cup, glass")
    app.text_input(key="fill_mask_text").set_value("I drink a ___ of milk.").run()
    assert staged(app)["prediction"]["named"] == "cup, glass"
    assert staged(app)["address"]["own"]["named"] == "cup, glass"
