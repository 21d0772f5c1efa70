"""From page to page: the list of pages, the sentence that follows, Basic and Advanced, the glossary, paper."""

import re
import time
from html import unescape
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, Route, expect

from pages import contents
from pages.summaries import texts as summary_texts
from pages.ui.shell import texts as shell_texts
from pages.ui.shell.glossary import GROUPS
from pages.ui.shell.level import ADVANCED
from pages.ui.stage import browser_texts
from pages.ui.stage import texts as stage_texts
from tests.browser.conftest import IN_PLACE, SHOWN
from tests.support.seen import (
    MAX_SHIFT,
    NOTE_SHIFTS,
    address,
    answered,
    button,
    check_arrival,
    choose,
    comes_first,
    fits,
    largest_burst,
    linked,
    listed,
    main,
    says,
    sentence,
    until,
    write,
)

MEANINGS = {name: term.meaning.replace("*", "") for group in GROUPS for term in group.terms for name in term.marked_names}


def on_page(page: Page, key: str) -> None:
    """Wait until a page is there, by its question and its name in the tab."""
    headings = page.get_by_role("heading", level=1)  # of the page that is left, too, until this one has run
    expect(headings.first).to_have_text(contents.page(key).question)
    expect(page).to_have_title(contents.page(key).name)
    answered(page)
    expect(headings).to_have_count(1)


def go_to(page: Page, key: str) -> None:
    """Follow the link of a page in the list at the side."""
    listed(page, contents.page(key).name).click()
    on_page(page, key)


LOADED = ("attention", "fill_mask", "positions", "next_word", "bertviz_page")
"""Pages with a picture of each kind that comes late: sent with the page, computed first, in a frame. Others load like them; that
their picture comes first on a phone is held in tests/browser/test_stages.py."""


@pytest.mark.ci
def test_on_a_phone_the_list_of_pages_opens_leads_on_and_is_folded_away(arrive, axe):
    page = arrive("/", width=390, dark=True)
    fits(page)
    page.get_by_test_id("stExpandSidebarButton").click()
    lists = page.get_by_role("navigation").get_by_role("list")
    expect(lists).to_have_count(len(contents.SECTIONS))
    names = [re.compile(f"{re.escape(entry.name)}$") for entry in contents.PAGES]  # after their icons
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(names)
    axe(page)
    link = listed(page, contents.page("masks").name)
    assert link.bounding_box()["height"] >= 44
    link.click()
    on_page(page, "masks")
    expect(link).not_to_be_in_viewport()
    assert page.evaluate("document.querySelector('link[rel~=icon]').href").startswith("data:")  # not its sign, from elsewhere
    fits(page)


@pytest.mark.ci
def test_pages_stand_still_on_a_phone_their_picture_in_sight(arrive, server):
    page = arrive("/", cold=True, width=390)
    comes_first(page)
    for entry in contents.PAGES[1:]:
        if entry.key in LOADED or not entry.computes:
            page.goto(f"{server}/{entry.address or entry.key}")
            page.wait_for_function(SHOWN)
            check_arrival(page)
            comes_first(page) if entry.computes else fits(page)


@pytest.mark.ci
def test_what_stands_below_a_picture_is_shown_with_it_however_late_scripts_come(page_at):
    def come_late(route: Route) -> None:
        time.sleep(2)  # the page has been run by then
        route.continue_()

    def prepare(page: Page) -> None:
        page.add_init_script(NOTE_SHIFTS)
        for name in ("navigation", "pictures"):
            page.route(re.compile(rf"/{name}\.js$"), come_late)

    page = page_at("/bertviz", width=390, prepare=prepare)
    expect(main(page).locator("iframe").content_frame.locator("svg line").first).to_be_attached()
    page.evaluate(IN_PLACE)
    assert largest_burst(page.evaluate("window.shifts")) <= MAX_SHIFT / 3


def test_the_visitor_s_own_sentence_follows_to_other_pages_and_back(arrive):
    page = arrive("/attention")
    box = main(page).get_by_role("textbox").first
    first = box.input_value()
    main(page).get_by_role("link", name=contents.page("fill_mask").question).click()
    on_page(page, "fill_mask")
    expect(box).to_have_value(first)  # of the page that it came from
    page.go_back()
    on_page(page, "attention")
    write(page, "The dog barked.")
    seen = [(page.url, "attention")]
    for key in ("masks", "self_attention"):
        go_to(page, key)
        expect(box).to_have_value("The dog barked.")
        assert address(page)["text"] == "The dog barked."
        seen.append((page.url, key))
    for url, key in reversed(seen[:-1]):
        page.go_back()
        on_page(page, key)
        expect(box).to_have_value("The dog barked.")
        assert page.url == url
    main(page).get_by_role("link", name=contents.page("fill_mask").question).click()
    on_page(page, "fill_mask")
    linked(page, text="The dog barked.")


def test_basic_hides_what_a_beginner_need_not_know_and_is_remembered(arrive, server, for_everybody):
    page = arrive("/attention")
    second = sentence(page, stage_texts.SECOND_SENTENCE)
    expect(second).to_be_visible()
    choose(page, shell_texts.BASIC)
    linked(page, level="basic")
    expect(second).to_have_count(0)
    page.goto(f"{server}/attention")  # the link says nothing: the browser remembers
    expect(page.get_by_role("radio", name=shell_texts.BASIC)).to_be_checked()
    expect(second).to_have_count(0)
    page.goto(f"{server}/attention?pair=It+was+red.")
    expect(second).to_have_count(0)
    expect(page.get_by_text(shell_texts.HIDDEN_VALUES.format(names=shell_texts.SETTING_NAMES["pair"]))).to_be_visible()
    answered(page)
    for_everybody(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    button(page, shell_texts.SHOW_HIDDEN, exact=False).click()
    expect(second).to_have_value("It was red.")


@pytest.mark.ci
def test_a_view_is_shared_by_a_link_that_shows_it_to_somebody_else(arrive):
    page = arrive(f"/summaries?text={quote_plus('A link & more')}&level=advanced&heads=2-3")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button(page, browser_texts.EXPORT["menu"], exact=False).click()
    button(page, browser_texts.EXPORT["copyLink"]).click()
    until(page, lambda: "/summaries" in page.evaluate("navigator.clipboard.readText()"), "the link")
    shared = page.evaluate("navigator.clipboard.readText()")
    other = arrive(shared[shared.index("/summaries") :])
    expect(sentence(other)).to_have_value("A link & more")
    says(other, "Layer 2, head 3")
    see_head = main(other).get_by_role("link", name=summary_texts.SEE_HEAD)
    expect(see_head).to_have_attribute("href", re.compile("/attention.*heads=2-3"))
    assert address(other)["level"] == ADVANCED
    button(page, browser_texts.EXPORT["copyFrame"]).click()
    until(page, lambda: "<iframe" in page.evaluate("navigator.clipboard.readText()"), "the frame")
    other.goto(unescape(page.evaluate("navigator.clipboard.readText()").partition('src="')[2].partition('"')[0]))
    says(other, "Layer 2, head 3")
    expect(other.get_by_test_id("stSidebar")).to_have_count(0)
    expect(other.get_by_role("heading", level=1)).to_have_count(0)
    page.keyboard.press("Escape")
    write(page, "word " * 1300)
    says(page, shell_texts.LINK_TOO_LONG_FOR_ADDRESS)


@pytest.mark.ci
def test_a_term_is_explained_in_place_and_the_glossary_leads_to_its_view(arrive, axe, for_everybody):
    page = arrive("/masks")
    marks = main(page).get_by_role("button", name=re.compile(shell_texts.EXPLAIN_TERM.partition("{")[0]))
    marks.nth(1).wait_for()
    labels = marks.evaluate_all("marks => marks.map((mark) => mark.getAttribute('aria-label'))")
    names = [label.split("“")[1].rstrip("”?") for label in labels]
    assert len(set(names)) == len(names)
    before = page.url
    marks.first.focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("dialog")
    expect(box).to_contain_text(MEANINGS[names[0]])
    expect(box).to_be_in_viewport(ratio=1)
    axe(page)
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(marks.first).to_be_focused()
    assert page.url == before
    go_to(page, "words")
    for group in GROUPS:
        expect(page.get_by_role("heading", name=group.title)).to_be_visible()
    for_everybody(page)
    expect(marks).to_have_count(0)  # by now terms would be underlined
    settings = next(group.views["self_attention"] for group in GROUPS if "self_attention" in group.views)
    page.get_by_role("link", name=contents.page("self_attention").question).click()
    on_page(page, "self_attention")
    expect(sentence(page)).to_have_value(settings["text"])
