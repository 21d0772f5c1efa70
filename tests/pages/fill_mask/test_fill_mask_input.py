"""Whatever is typed on the fill-mask page is answered or explained, stays in its box and is never markup."""

import pytest

from pages.fill_mask import texts
from tests.support.drawn_bars import bars_told
from tx_core.fill_mask.predictions import TOO_MANY_BLANKS
from tx_core.fill_mask.word_scores import TOO_MANY_WORDS

BAD = {
    "empty": ("", "There is no text yet"),
    "spaces": ("   ", "There is no text yet"),
    "one token": ("cat", texts.NO_BLANK),
    "one blank": ("___", ""),
    "exactly the budget": ("___ " + "tea " * 125, ""),
    "one over": ("___ " + "tea " * 126, "129 tokens long and the model reads at most 128"),
    "ten thousand characters": ("___ " + "x" * 10_000, ""),
    "ten thousand characters of words": ("___ " + "tea " * 2_500, "shorten it by"),
    "a hundred blanks": ("[MASK] " * 100, TOO_MANY_BLANKS.format(count=100, maximum=10, excess=90)),
    "emoji": ("👩‍👩‍👧 I ___ 🍕", ""),
    "right to left": ("אני ___ אותך", ""),
    "combining": ("e\u0301\u0302\u0303 ___ a\u030a", ""),
    "NUL": ("nul\x00 ___ \x00", ""),
    "markup": ("<script>alert(1)</script> <img src=x onerror=alert(1)> ___", ""),
    "markdown": ("**bold** [a](javascript:alert(1)) :material/home: $x$ ___", ""),
    "a formula": ("=1+1 ___", ""),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_answered_or_explained_stays_in_its_box_and_is_no_markup(open_app, text, message):
    app = open_app("fill_mask", named="<b>x</b>, **y**")
    app.text_input(key="fill_mask_text").set_value(text).run()
    assert not app.exception
    assert app.text_input(key="fill_mask_text").value == text
    assert any(message in element.value for kind in (app.markdown, app.text) for element in kind)
    assert bool(bars_told(app)) == (not message)
    assert not any("<script" in markdown.value or "**bold" in markdown.value for markdown in app.markdown)


def test_too_many_words_to_ask_for_are_explained_and_stay(open_app):
    many = ", ".join(f"word{number}" for number in range(30))
    app = open_app("fill_mask", named=many)
    assert TOO_MANY_WORDS.format(count=30, maximum=20) in app.text[0].value
    assert app.text_input(key="fill_mask_named").value == many
    assert texts.TOP_WORDS in bars_told(app)
