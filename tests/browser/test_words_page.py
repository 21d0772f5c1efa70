"""The glossary in a browser: readable on a phone, and its links lead to what they promise."""

from playwright.sync_api import expect

from pages import contents
from pages.ui.shell.glossary import GROUPS


def test_a_phone_in_the_dark_shows_the_words_and_a_link_leads_to_its_view(page_at, axe, settle):
    page = page_at("/words", width=390, dark=True)
    page.get_by_role("heading", name=GROUPS[-1].title).wait_for()
    settle(page)
    assert page.get_by_test_id("stMain").evaluate("({scrollWidth, clientWidth}) => scrollWidth <= clientWidth")
    axe(page)
    view = next(view for group in GROUPS for view in group.views if view.page == "self_attention")
    page.get_by_role("link", name=contents.page(view.page).question).click()
    page.get_by_role("heading", level=1, name=contents.page(view.page).question).wait_for()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(view.settings["text"])
