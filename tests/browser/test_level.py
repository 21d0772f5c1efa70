"""Basic and Advanced in a browser: one switch on every page, remembered in the link and by the browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.ui.panels import texts as panel_texts
from pages.ui.shell import texts
from pages.ui.shell.level import ADVANCED, ADVANCED_PARTS, BASIC, COOKIE
from tests.browser.test_layout_shift import MAX_SHIFT, OBSERVE, cumulative_shift, error_boxes, wait_until_settled

PAIR = panel_texts.SECOND_SENTENCE


def switch(page: Page, name: str):
    """One side of the switch."""
    return page.locator(".st-key-level").get_by_role("radio", name=name, exact=True)


def choose(page: Page, name: str) -> None:
    """Choose a level, and wait until the page and its address show it."""
    switch(page, name).click()
    page.wait_for_url(re.compile(f"level={name.lower()}"))
    expect(switch(page, name)).to_be_checked()


def expect_level(page: Page, name: str) -> None:
    """Wait until the attention page shows this level."""
    expect(switch(page, name)).to_be_checked()
    expect(page.get_by_label(PAIR)).to_have_count(0 if name == texts.BASIC else 1)


def test_the_switch_is_remembered_by_the_browser_and_in_the_link(page_at, server):
    page = page_at("/attention")
    expect_level(page, texts.ADVANCED)
    choose(page, texts.BASIC)
    expect_level(page, texts.BASIC)
    page.reload()
    expect_level(page, texts.BASIC)
    page.goto(f"{server}/attention")  # its link says nothing: the browser remembers
    expect_level(page, texts.BASIC)
    page.goto(f"{server}/attention?level=advanced")
    expect_level(page, texts.ADVANCED)
    page.goto(f"{server}/attention")  # somebody else's link is not the visitor's choice
    expect_level(page, texts.BASIC)


def wait_for_memory(page: Page, level: str) -> None:
    """Wait until the browser remembers a level."""
    page.wait_for_function("sought => document.cookie.includes(sought)", arg=f"{COOKIE}={level}")


def test_a_newer_choice_in_another_tab_is_not_overwritten(page_at, server, settle):
    page = page_at("/attention")
    choose(page, texts.BASIC)
    wait_for_memory(page, BASIC)
    other = page.context.new_page()
    other.goto(f"{server}/attention")
    choose(other, texts.ADVANCED)
    wait_for_memory(page, ADVANCED)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Masks", exact=True).click()  # the page mounts its list again
    page.wait_for_url(re.compile("masks.*level=basic"))
    expect(switch(page, texts.BASIC)).to_be_checked()
    settle(page)
    assert page.evaluate("document.cookie").count(f"{COOKIE}={ADVANCED}") == 1
    choose(page, texts.ADVANCED)
    choose(page, texts.BASIC)
    wait_for_memory(page, BASIC)


def test_back_leads_to_the_level_of_before(page_at):
    page = page_at("/attention")
    choose(page, texts.BASIC)
    expect_level(page, texts.BASIC)
    page.go_back()
    expect_level(page, texts.ADVANCED)
    page.go_forward()
    expect_level(page, texts.BASIC)


def test_the_level_goes_along_to_other_pages_and_back(page_at):
    page = page_at("/attention?level=basic")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Masks", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(next(one.question for one in contents.PAGES if one.key == "masks"))
    expect(switch(page, texts.BASIC)).to_be_checked()
    page.wait_for_url(re.compile("masks.*level=basic"))
    page.go_back()
    expect_level(page, texts.BASIC)


def test_a_link_that_is_shared_shows_another_browser_the_same_level(page_at):
    page = page_at("/attention?text=Mary+lost+her+keys.&level=basic")
    page.get_by_role("button", name=texts.SHARE).click()
    link = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    other = page_at(link[link.index("/attention") :])
    expect_level(other, texts.BASIC)
    expect(other.get_by_label(texts.SENTENCE, exact=True)).to_have_value("Mary lost her keys.")


@pytest.mark.parametrize("width", [1280, 390])
def test_by_keyboard_the_switch_is_in_sight_and_changes_the_page(page_at, width):
    page = page_at("/attention", width=width)
    box = page.locator(".st-key-level").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["y"] + box["height"] < 120
    switch(page, texts.ADVANCED).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    expect_level(page, texts.BASIC)


READ = ("attention?pair=It+was+red.", "fill_mask", "self_attention")
"""Pages that are read by axe-core in Basic, too."""
LOADED = [contents.page(key).address or key for key, parts in ADVANCED_PARTS.items() if parts]


def load_in_basic(page_at, path: str, width: int) -> Page:
    """Open a page in Basic: nothing of it moves, and nothing is wider than the screen."""
    page = page_at(
        f"/{path}{'&' if '?' in path else '?'}level=basic", width=width, prepare=lambda page: page.add_init_script(OBSERVE)
    )
    wait_until_settled(page)
    shifts = page.evaluate("window.shifts")
    assert error_boxes(page) == []
    assert cumulative_shift(shifts) < MAX_SHIFT, shifts
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    return page


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", READ)
def test_basic_is_accessible_and_fits_the_screen(page_at, axe, darken, path, width):
    page = load_in_basic(page_at, path, width)
    expect(switch(page, texts.BASIC)).to_be_checked()
    axe(page)
    darken(page)
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", [path for path in LOADED if path not in READ])
def test_nothing_moves_while_a_page_loads_in_basic(page_at, path: str, width: int):
    expect(switch(load_in_basic(page_at, path, width), texts.BASIC)).to_be_checked()


COVERED = """x => {
  const box = document.querySelector('.st-key-level').getBoundingClientRect()
  return Boolean(document.elementFromPoint(x, box.y + box.height / 2)?.closest('[data-testid="stSidebar"]'))
}"""


def test_on_a_phone_the_open_list_of_pages_lies_over_the_switch(page_at):
    page = page_at("/attention", width=390)
    page.get_by_test_id("stExpandSidebarButton").click()
    close = page.get_by_test_id("stSidebarCollapseButton").get_by_role("button")
    expect(close).to_be_in_viewport(ratio=1)
    page.wait_for_function("() => document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().x === 0")
    listed = page.get_by_test_id("stSidebar").bounding_box()
    left = page.locator(".st-key-level").bounding_box()["x"]
    assert left < listed["width"]
    assert page.evaluate(COVERED, (left + listed["width"]) / 2)
    close.click()
    choose(page, texts.BASIC)
    expect_level(page, texts.BASIC)
