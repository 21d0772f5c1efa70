"""The list at the side takes the visitor's own sentence along, and Back brings it back, in real Chromium."""

import re

from playwright.sync_api import Locator, Page, expect

from pages import contents
from pages.contents import PAGES


def test_the_list_at_the_side_takes_the_sentence_along_and_back_finds_it_too(page_at):
    page = page_at("/attention")
    box = page.get_by_role("textbox", name="Sentence", exact=True)
    box.fill("The bird sang a song.")
    box.press("Enter")
    expect(page).to_have_url(re.compile("bird"))
    sidebar = page.get_by_test_id("stSidebar")
    sidebar.get_by_role("link", name="Summaries").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("summaries").question)
    expect(box).to_have_value("The bird sang a song.")
    sidebar.get_by_role("link", name="Attention", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("attention").question)
    expect(box).to_have_value("The bird sang a song.")


def view(page: Page) -> tuple[str, str, str]:
    """What stands in the address, in the title and in the box of the page."""
    return page.url, page.get_by_role("heading", level=1).inner_text(), first_box(page).input_value()


def first_box(page: Page) -> Locator:
    """The box of the sentence, which is the first of two on some pages."""
    return page.get_by_test_id("stMain").get_by_role("textbox").first


def test_five_pages_there_and_back_and_there_again_show_the_sentences_that_were_there(page_at, settle):
    page = page_at("/attention")
    expect(first_box(page)).not_to_have_value("")
    seen = [view(page)]

    def follow(name: str) -> None:
        page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(next(one.question for one in PAGES if one.name == name))
        look()

    def write(sentence: str) -> None:
        box = first_box(page)
        box.fill(sentence)
        box.press("Enter")
        expect(page).to_have_url(re.compile(sentence.split()[1]))
        look()

    def look() -> None:
        settle(page)
        page.wait_for_timeout(300)
        expect(first_box(page)).not_to_have_value("")
        seen.append(view(page))

    write("The dog barked.")
    follow("Masks")
    follow("Summaries")
    write("Two birds sang.")
    follow("Self-attention")
    follow("Heads and blocks")
    assert [sentence for _, _, sentence in seen[1:]] == ["The dog barked."] * 3 + ["Two birds sang."] * 3
    assert all("text=" in address for address, _, _ in seen[1:])
    for leave, views in ((page.go_back, seen[-2::-1]), (page.go_forward, seen[1:])):
        for address, title, sentence in views:
            leave()
            expect(page.get_by_role("heading", level=1)).to_have_text(title)
            expect(first_box(page)).to_have_value(sentence)
            settle(page)
            assert view(page) == (address, title, sentence)


LEAVE_WITH_EARLY_PARAMETERS = """link => {
  const before = [location.href, history.length]
  link.addEventListener("click", event => { event.stopPropagation(); event.preventDefault() }, { once: true })
  link.click()
  history.pushState({}, "", location.pathname + "?text=early")
  const between = [location.href, history.length]
  history.pushState({}, "", link.pathname + "?text=early")
  history.pushState({}, "", link.pathname + "?text=early&row=1")
  return [before, between, [location.pathname + location.search, history.length]]
}"""
"""What Streamlit does where a page writes its view before its address is there: a step on the old page, then two on the new."""


def test_a_page_that_answers_at_once_is_one_step_of_the_history(page_at):
    page = page_at("/summaries")
    link = page.get_by_test_id("stSidebar").get_by_role("link", name="Masks", exact=True)
    before, between, after = link.evaluate(LEAVE_WITH_EARLY_PARAMETERS)
    assert between == before
    assert after == ["/masks?text=early&row=1", before[1] + 1]
    page.keyboard.press("Shift")
    assert page.evaluate("history.pushState({}, '', '?text=later'), history.length") == before[1] + 2
