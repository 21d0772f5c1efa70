"""The frame around the pages, as a browser shows it."""

import re

import pytest
from playwright.sync_api import expect

from pages import contents
from pages.contents import PAGES
from tests.browser.conftest import go_by_history

CUT = """() => {
  const cuts = (one) => one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1
    && (getComputedStyle(one).overflowX === 'hidden' || one.closest('label, [data-testid=stMetricLabel]'))
    && one.checkVisibility({ visibilityProperty: true })
  const labelled = ':is([data-testid=stMarkdownContainer], a span, input[role=combobox])'
  const labels = [...document.querySelectorAll(`[data-testid=stMain] ${labelled}`)]
  return labels.filter((one) => !one.closest('.katex-mathml') && cuts(one)).map((one) => one.value || one.textContent)
}"""
"""The labels, links and chosen values of a page that do not fit into their places: cut, or over what stands beside them."""


def test_a_page_that_does_not_exist_says_so_and_the_first_page_is_there(page_at):
    missing = "The page that you have requested does not seem to exist"
    page = page_at("/no-such-page", expect=(missing, "404 (Not Found)"))  # Streamlit first looks for its server there
    assert page.get_by_role("dialog").get_by_text(missing).is_visible()
    assert page.get_by_text(contents.page(contents.HOME).question).first.is_visible()


def test_an_old_link_to_the_root_leads_to_the_page_that_was_there_with_its_view(page_at):
    page = page_at("/?text=One+%3Cb%3Ebird%3C%2Fb%3E+%26+a+half&unknown=1")
    assert f"/{contents.FORMER_HOME}?" in page.url
    assert "text=One+%3Cb%3Ebird%3C%2Fb%3E+%26+a+half" in page.url
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("One <b>bird</b> & a half")


def test_an_earlier_address_of_a_page_leads_to_its_own_with_the_view(page_at):
    page = page_at("/bertviz_page?text=One+%26+a+half&picture=model&unknown=1")
    page.wait_for_url(re.compile(r"/bertviz\?text=One\+%26\+a\+half&picture=model"))
    assert page.get_by_role("heading", level=1).inner_text() == contents.page("bertviz_page").question
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("One & a half")


def test_the_shared_link_is_the_address_of_the_page_with_its_parameters(view_at):
    page = view_at("/fill_mask?text=A+link+%26+more")
    page.get_by_role("button", name="Share this view").click()
    shared = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    assert "/fill_mask?" in shared
    assert "text=A+link+%26+more" in shared


def test_a_view_too_long_for_a_link_says_so_instead_of_giving_a_broken_one(view_at):
    page = view_at("/fill_mask?text=" + "word+" * 1300)
    page.get_by_role("button", name="Share this view").click()
    body = page.get_by_test_id("stPopoverBody")
    body.get_by_text("Shorten the text").wait_for()
    assert body.locator("code").count() == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_navigation_on_a_phone_opens_a_page(page_at, settle, axe, dark):
    page = page_at("/", width=390, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_test_id("stExpandSidebarButton").click()
    page.locator("html[data-page]").wait_for(state="attached")
    page.get_by_test_id("stSidebar").get_by_role("link", name=PAGES[2].name, exact=True).click()
    page.get_by_role("heading", name=PAGES[2].question).wait_for()
    expect(page.get_by_test_id("stSidebar").get_by_role("link", name=PAGES[2].name, exact=True)).not_to_be_in_viewport()
    settle(page)
    axe(page)


def test_on_paper_a_page_stands_without_the_list_of_pages_and_the_switch(page_at):
    page = page_at("/masks")
    list_of_pages, switch = page.get_by_test_id("stSidebar"), page.locator(".st-key-level")
    expect(list_of_pages).to_be_visible()
    page.emulate_media(media="print")
    expect(list_of_pages).to_be_hidden()
    expect(switch).to_be_hidden()
    expect(page.get_by_role("heading", level=1).first).to_be_visible()


LABELLED = ("/attention", "/fill_mask", "/summaries", "/many_sentences", "/heads_and_blocks", "/bert", "/lesson_editor")
"""Pages with labels and choices of every kind."""


def test_no_label_and_no_choice_is_cut_in_a_narrow_window(page_at, resize):
    page = page_at(f"{LABELLED[0]}?level=advanced")
    for path in LABELLED:
        if path != LABELLED[0]:
            resize(page, 1280)
            go_by_history(page, f"{path}?level=advanced")
            expect(page.get_by_role("heading", level=1)).to_have_text(contents.page(path.strip("/")).question)
        for width in (1024, 960, 800, 640, 390):
            resize(page, width)
            assert page.evaluate(CUT) == [], (path, width)
