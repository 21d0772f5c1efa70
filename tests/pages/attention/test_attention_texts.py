"""Whatever is typed on the attention page: it is shown as text, kept, and can break nothing."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.stage import texts as stage_texts
from tests.support.drawings import says
from tests.support.messages import TOO_LONG_TO_SHARE
from tests.support.staged import axes, is_staged, staged
from tx_core.analysis import views
from tx_core.engine import catalogue
from tx_core.engine.tokenizer import NO_SENTENCE

Open = Callable[..., AppTest]


@pytest.mark.parametrize("text", ["", "\u00a0\u2003"])
def test_no_text_is_reported_and_the_page_stays_usable(open_app: Open, text: str):
    app = open_app(text=text, heads="2-2")
    assert not app.exception
    assert NO_SENTENCE in says(app)
    app.text_input(key="attention_text").set_value("Now there is.").run()
    assert staged(app)["view"]["heads"] == [[1, 1]]


HOSTILE = [
    "👩‍👩‍👧‍👦 🏳️‍🌈 مرحبا بالعالم \u202eRTL Z͑ͫ̓ͪ̂ͫ̽͏",
    "nul \x00 inside",
    "</script><img src=x onerror=alert(1)> <script>alert(1)</script>",
    "**bold** :red[x] $x^2$ [a](javascript:alert(1))",
    "[CLS] [SEP] [MASK] [PAD] [UNK]",
    "{}{0}%s%n\\u0000 =HYPERLINK(1)",
]


def test_any_text_is_shown_as_text_and_kept(open_app: Open):
    app = open_app(text="A bird", pair="", words="1")
    for text in HOSTILE:
        app.text_input(key="attention_text").set_value(text).run()
        assert not app.exception
        assert app.text_input(key="attention_text").value == text
        encoding = catalogue.load(catalogue.DEFAULT).encode(text)
        assert f"{len(encoding)} of 128 tokens" in says(app)
        assert staged(app)["stacks"][0]["keys"]["groups"] == [list(group) for group in views.word_groups(encoding)]
        assert axes(app)[1] == list(encoding.tokens)
        assert all(text not in element.value for element in app.markdown)


def test_exactly_the_budget_is_drawn_and_one_over_is_reported_by_how_much(open_app: Open):
    app = open_app(text="tea " * 126)
    assert "128 of 128 tokens" in says(app)
    assert len(axes(app)[0]) == 128
    app.text_input(key="attention_text").set_value("tea " * 127).run()
    assert "129 of 128 tokens" in says(app)
    assert "shorten it by 1 token" in says(app)
    assert app.text_input(key="attention_text").value == "tea " * 127
    assert not is_staged(app)


def test_a_far_too_long_text_is_kept_and_explained(open_app: Open):
    text = "word " * 6_000
    app = open_app()
    app.text_input(key="attention_text").set_value(text).run()
    assert not app.exception
    assert app.text_input(key="attention_text").value == text
    assert "horten it" in says(app)
    assert TOO_LONG_TO_SHARE in staged(app)["linkProblem"]


def test_unknown_words_are_counted(open_app: Open):
    assert [warning.value for warning in open_app(text="a 💥 b").warning] == [stage_texts.ONE_UNKNOWN]
    assert [warning.value for warning in open_app(text="💥 and 💥").warning] == [stage_texts.MANY_UNKNOWN.format(count=2)]
    assert not open_app(text="A bird").warning
