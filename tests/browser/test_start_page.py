"""The start page in a browser: a picture to play with, and three doors."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.start import looks, texts

INK = """canvas => {
  const { width, height } = canvas
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height)
  let [above, below] = [0, 0]
  for (let at = 3; at < data.length; at += 4) if (data[at] > 100) at / 4 / width < height / 2 ? above++ : below++
  return [above, below]
}"""
"""How many pixels with clear ink the upper and the lower half of a canvas have."""


def word(page: Page, name: str):
    return page.get_by_test_id("arcs").get_by_role("button", name=name, exact=True)


def said(page: Page):
    return page.get_by_test_id("arcs-readout")


def grown(page: Page) -> None:
    """Wait until the arcs have been drawn in full."""
    expect(page.get_by_test_id("arcs")).to_have_attribute("data-painted", re.compile(r"\d"))
    page.wait_for_timeout(1200)


def test_a_word_under_the_pointer_shows_its_arcs_and_where_it_looks(view_at):
    page = view_at("/")
    shown = looks.sentence_looks(texts.SENTENCE)
    expect(page.get_by_test_id("arcs")).to_have_attribute("data-painted", str(len(shown.edges)))
    expect(said(page)).to_have_text(texts.HINT)
    grown(page)
    canvas = page.get_by_test_id("arcs").locator("canvas")
    for name in ("were", "The"):
        place = shown.words.index(name)
        word(page, name).hover()
        expect(said(page)).to_have_text(looks.describe_word(shown, place))
        ahead = any(edge.key > place for edge in shown.edges if edge.query == place)
        above, below = canvas.evaluate(INK)
        assert (above == 0, below == 0) == (ahead, not ahead)
    page.mouse.move(5, 5)
    expect(said(page)).to_have_text(texts.HINT)


def test_by_keyboard_every_word_is_reached_and_escape_leaves(view_at):
    page = view_at("/")
    shown = looks.sentence_looks(texts.SENTENCE)
    word(page, shown.words[0]).focus()
    page.keyboard.press("ArrowRight")
    expect(word(page, shown.words[1])).to_be_focused()
    expect(word(page, shown.words[1])).to_have_attribute("aria-pressed", "true")
    expect(said(page)).to_have_text(looks.describe_word(shown, 1))
    page.keyboard.press("Escape")
    expect(said(page)).to_have_text(texts.HINT)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_picture_fits_every_screen_and_the_page_is_accessible_in_light_and_dark(view_at, axe, darken, width: int):
    page = view_at("/", width=width)
    grown(page)
    for is_dark in (False, True):
        if is_dark:
            page.mouse.move(5, 5)
            page.keyboard.press("Escape")
            expect(said(page)).to_have_text(texts.HINT)
            darken(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        for name in ("The", "hungry"):
            expect(word(page, name)).to_be_in_viewport(ratio=1)
        word(page, "they").click()
        expect(said(page)).to_contain_text("“cats”")
        axe(page)


def test_a_door_is_one_link_as_large_as_its_frame(view_at, settle):
    page = view_at("/")
    heading = page.get_by_role("heading", level=1)
    for door in texts.DOORS:
        frame = page.get_by_text(door.promise).bounding_box()
        page.mouse.click(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
        if door.settings:
            page.wait_for_url(re.compile(rf"/{door.page}\?.*step=1"))
            expect(heading).to_be_visible()
        else:
            expect(heading).to_have_text(contents.page(door.page).question)
        settle(page)
        page.go_back()
        expect(heading).to_have_text(contents.page(contents.HOME).question)
        settle(page)
        expect(page.get_by_text(door.promise)).to_be_visible()
