"""Links from elsewhere: texts that mean harm, values that do not exist, links from long ago, pages that are not there."""

from urllib.parse import urlencode

from playwright.sync_api import expect

from pages import contents
from tests.browser.conftest import go_by_history
from tests.support.seen import fits, in_sight, sentence, write

HARMFUL = (
    "<img src=x onerror=alert(1)></script><script>alert(2)</script> [x](javascript:alert(3)) :red[y] **b** \u202eabc 💥 שלום ___"
)
"""Markup, Markdown, a right-to-left override, an emoji and a blank at once."""
MARKUP = "<img src=x onerror=alert(4)>"
BOXES = {"attention": "Sentence", "heads_and_blocks": "Sentence", "classifier": "Your sentence"}
"""Pages with a sentence, each with a picture of another kind, and what its box is called."""


def test_whatever_is_typed_is_only_text(arrive):
    page = None
    for path, name in BOXES.items():
        link = f"/{path}?{urlencode({'text': HARMFUL, 'text_b': HARMFUL, 'pair': MARKUP})}"
        if page:
            go_by_history(page, link)
        else:
            page = arrive(link)
        box = sentence(page, name)
        expect(box).to_have_value(HARMFUL)
        for text in (f"🏴‍☠️ ﷺ 日本語 שלום مرحبا {'x' * 10_000}", "Back again."):
            write(page, text, name)
            expect(box).to_have_value(text)
            assert page.get_by_test_id("stException").count() == 0, path
        assert in_sight(page) == [], path
        assert page.locator("img[src='x'], a[href^='javascript']").count() == 0, path
        fits(page)


def test_a_page_that_does_not_exist_says_so_beside_the_first_page(page_at):
    missing = "The page that you have requested does not seem to exist"
    page = page_at("/no-such-page", expect=(missing, "404 (Not Found)"))  # Streamlit first looks for its server there
    expect(page.get_by_role("dialog").get_by_text(missing)).to_be_visible()
    expect(page.get_by_text(contents.page(contents.HOME).question).first).to_be_visible()
