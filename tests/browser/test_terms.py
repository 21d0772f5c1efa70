"""Terms of the glossary, explained where a page first uses them, by pointer, keyboard and finger; and the glossary's own page."""

import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.ui.shell import texts
from pages.ui.shell.glossary import GROUPS

TERMS = [term for group in GROUPS for term in group.terms]
MEANINGS = {name: term.meaning for term in TERMS for name in term.marked_names}
EVERYDAY = {name for term in TERMS for name in term.everyday}
OVER_ITS_WORD = """mark => {
  const box = mark.getBoundingClientRect()
  mark.style.visibility = "hidden"
  const range = document.caretRangeFromPoint(box.left + 3, box.bottom - 10)
  mark.style.visibility = ""
  const text = range.startContainer.data.slice(Math.max(0, range.startOffset - 2))
  return text.toLowerCase().includes(mark.dataset.term.toLowerCase())
}"""


def marks(page: Page):
    return page.locator("button.term")


def box(page: Page):
    return page.get_by_role("dialog")


def plain(meaning: str) -> str:
    return meaning.replace("*", "")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_each_term_is_underlined_once_and_explained_in_place(view_at, axe, width: int, dark: bool):
    page = view_at("/masks", width=width, dark=dark)
    expect(marks(page).nth(1)).to_be_visible()
    names = marks(page).evaluate_all("marks => marks.map((mark) => mark.dataset.term)")
    meanings = [MEANINGS[name] for name in names]
    assert len(set(meanings)) == len(meanings)
    for number in range(2):
        assert marks(page).nth(number).evaluate(OVER_ITS_WORD)
    before = page.url
    marks(page).first.click()
    expect(box(page)).to_contain_text(plain(meanings[0]))
    expect(box(page)).to_be_in_viewport(ratio=1)
    axe(page)
    page.keyboard.press("Escape")
    expect(box(page)).to_have_count(0)
    assert page.url == before
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_words_of_everyday_language_and_parts_of_longer_terms_are_not_explained(view_at):
    page = view_at("/attention?level=basic&text=Mary+lost+her+keys.")
    expect(page.get_by_test_id("stMain")).to_contain_text("keys")
    expect(marks(page).first).to_be_visible()
    assert not EVERYDAY & set(marks(page).evaluate_all("marks => marks.map((mark) => mark.dataset.term)"))
    page = view_at("/bert?part=labels")
    expect(page.locator("button.term[data-term='classification head']")).to_be_visible()
    expect(page.locator("button.term[data-term='head']")).to_have_count(0)


def test_by_keyboard_a_term_opens_and_gives_the_focus_back(view_at):
    page = view_at("/masks")
    expect(marks(page).first).to_be_visible()
    marks(page).first.focus()
    page.keyboard.press("Enter")
    expect(box(page)).to_be_focused()
    page.keyboard.press("Tab")
    expect(box(page).get_by_role("button", name=texts.CLOSE_TERM)).to_be_focused()
    page.keyboard.press("Enter")
    expect(box(page)).to_have_count(0)
    expect(marks(page).first).to_be_focused()


def test_the_glossary_itself_and_its_button_in_a_locked_lesson(view_at):
    page = view_at("/words")
    page.wait_for_timeout(1500)
    expect(marks(page)).to_have_count(0)
    page = view_at("/fill_mask?lesson=path&step=2&lock=1")
    marks(page).first.click()
    expect(box(page)).to_be_visible()
    expect(box(page).get_by_role("link")).to_have_count(0)


def test_a_page_that_is_drawn_anew_has_its_terms_underlined_anew(page_at, settle):
    page = page_at("/masks")
    expect(marks(page).first).to_be_visible()
    page.get_by_test_id("stSidebar").get_by_role("link", name="Positions", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("positions").question)
    settle(page)
    expect(marks(page).first).to_be_visible()
    assert marks(page).first.evaluate(OVER_ITS_WORD)


def test_a_phone_in_the_dark_shows_the_words_and_a_link_leads_to_its_view(view_at, axe, settle):
    page = view_at("/words", width=390, dark=True)
    page.get_by_role("heading", name=GROUPS[-1].title).wait_for()
    settle(page)
    assert page.get_by_test_id("stMain").evaluate("({scrollWidth, clientWidth}) => scrollWidth <= clientWidth")
    axe(page)
    view = next(view for group in GROUPS for view in group.views if view.page == "self_attention")
    page.get_by_role("link", name=contents.page(view.page).question).click()
    page.get_by_role("heading", level=1, name=contents.page(view.page).question).wait_for()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(view.settings["text"])
