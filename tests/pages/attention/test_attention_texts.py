"""Whatever is typed on the attention page: it is shown as text, kept, and can break nothing."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.panels import texts
from tests.support.drawings import drawn, says
from tx_core.analysis import views
from tx_core.engine import catalogue
from tx_core.engine.tokenizer import NO_SENTENCE, NOTHING_READABLE
from tx_core.transformer.trace import Encoding

Open = Callable[..., AppTest]


@pytest.mark.parametrize("text", ["", "\u00a0\u2003"])
def test_no_text_is_reported_and_the_page_stays_usable(open_app: Open, text: str):
    app = open_app(text=text, heads="2-2")
    assert not app.exception
    assert NO_SENTENCE in says(app)
    app.text_input(key="attention_text").set_value("Now there is.").run()
    assert drawn(app)["head_wall"][0]["chosen"] == [[1, 1]]


@pytest.mark.parametrize("text", ["\x00\x01", "\u200b", "\ufeff"])
def test_text_with_nothing_in_it_for_the_model_never_breaks_the_page(open_app: Open, text: str):
    app = open_app(text=text)
    assert not app.exception
    assert app.text_input(key="attention_text").value == text
    assert NOTHING_READABLE in says(app) or drawn(app)


HOSTILE = [
    "👩‍👩‍👧‍👦 🏳️‍🌈 שלום \u202eRTL override nul \x00 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L",
    "</script><img src=x onerror=alert(1)> {}{0}%s%n\\u0000",
    "**bold** :red[x] $x^2$ [a](javascript:alert(1))",
    "[CLS] [SEP] [MASK] [PAD] [UNK]",
    "___ " * 100,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_shown_as_text_and_kept(open_app: Open, text: str):
    app = open_app(text="A bird", pair="", words="1")
    app.text_input(key="attention_text").set_value(text).run()
    assert not app.exception
    assert app.text_input(key="attention_text").value == text
    encoding: Encoding = catalogue.load(catalogue.DEFAULT).encode(text)
    assert f"{len(encoding)} of 128 tokens" in says(app)
    header, _ = drawn(app)["attention_map"]
    assert len(header["keys"]) == len(views.word_groups(encoding))
    assert all(text not in element.value for element in app.markdown if len(text) > 3)


def test_exactly_the_budget_is_drawn_and_one_over_is_reported_by_how_much(open_app: Open):
    app = open_app(text="tea " * 126)
    assert "128 of 128 tokens" in says(app)
    assert drawn(app)["attention_map"][1].size == 128 * 128
    app.text_input(key="attention_text").set_value("tea " * 127).run()
    assert "129 of 128 tokens" in says(app)
    assert "shorten it by 1 token" in says(app)
    assert app.text_input(key="attention_text").value == "tea " * 127
    assert not drawn(app)


def test_a_text_of_special_tokens_only_is_not_said_to_be_without_them(open_app: Open):
    hidden = texts.SPECIAL_HIDDEN.partition("{")[0]
    app = open_app(text="[SEP] [CLS]", hide="1")
    assert drawn(app)["attention_map"][0]["queries"] == ["[CLS]", "[SEP]", "[CLS]", "[SEP]"]
    assert texts.NOTHING_HIDDEN in says(app)
    assert hidden not in says(app)
    assert hidden in says(open_app(text="A bird", hide="1"))
