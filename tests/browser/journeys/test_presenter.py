"""Shown to a room: the stage fills the screen, nothing is too small to be read from the last row, and keys do the rest."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages.compare import texts as compare_texts
from pages.ui.panels import lesson
from pages.ui.shell.level import ADVANCED
from pages.ui.stage import browser_texts
from tests.browser.conftest import DARK, go_by_history
from tests.support.seen import address, answered, button, drawn, picture, sentence, until

pytestmark = pytest.mark.ci

SMALLEST_TEXT = 28
"""Pixels on a screen of 1080 rows; signs within a formula may be smaller."""
NOTE_WRITING = """
  const fill = CanvasRenderingContext2D.prototype.fillText
  const clear = CanvasRenderingContext2D.prototype.clearRect
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    const { a, b } = this.getTransform()
    const size = Number(this.font.match(/([\\d.]+)px/)[1]) * Math.hypot(a, b)
    ;(this.canvas.written ??= []).push([text, size])
    return fill.call(this, text, ...rest)
  }
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    this.canvas.written = []
    return clear.apply(this, box)
  }"""
"""Notes on every canvas what is written on it, and how large."""
SHOWN = """() => {
  const found = []
  const seen = (box) => box.width > 2 && box.height > 2 && box.bottom > 0 && box.top < innerHeight
  const note = (node) => {
    const range = document.createRange()
    range.selectNodeContents(node)
    const style = getComputedStyle(node.parentElement)
    if (!seen(range.getBoundingClientRect()) || style.visibility === 'hidden') return
    if (node.parentElement.closest('style, script, sup')) return
    found.push([node.textContent.trim(), parseFloat(style.fontSize) * (node.parentElement.currentCSSZoom || 1)])
  }
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE && node.textContent.trim()) note(node)
    if (node.written && seen(node.getBoundingClientRect())) {
      const shown = node.getBoundingClientRect().width / node.width
      found.push(...node.written.filter(([text]) => text.trim()).map(([text, size]) => [text, size * shown]))
    }
    for (const child of [...node.childNodes, ...(node.shadowRoot ? [node.shadowRoot] : [])]) walk(child)
  }
  walk(document.querySelector('body [data-presented]').shadowRoot)
  return found
}"""
"""Every text of the stage, on its pictures and beside them, with its size on the screen."""
BLANKED = "() => getComputedStyle(document.documentElement, '::after').backgroundColor"
KEYS = "/attention?text=Mary+lost+her+keys.&heads=2-8&focus=4"


def fills_the_screen(page: Page) -> None:
    """Assert that the stage is all that is seen, that no letter of it is too small, and that it is no larger than the screen."""
    expect(page.locator("body [data-presented]")).to_have_count(1)
    answered(page)
    size, small = page.viewport_size, []
    stage = page.get_by_test_id("stage")
    expect(page.get_by_role("heading", level=1)).to_be_hidden()

    def is_large() -> bool:
        found = page.evaluate(SHOWN)
        small[:] = [one for one in found if one[1] < SMALLEST_TEXT * size["height"] / 1080 - 0.1]
        return found and not small

    until(page, lambda: stage.bounding_box() == {"x": 0, "y": 0, **size}, "a stage as large as the screen")
    until(page, is_large, "large letters", small)
    assert stage.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_keys_begin_and_end_the_view_and_blank_the_screen_in_the_colours_of_the_device(page_at):
    page = page_at(KEYS, prepare=lambda page: page.add_init_script(NOTE_WRITING), dark=True)
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.keyboard.press("p")
    page.wait_for_url(re.compile(r"[?&]present=1"))
    fills_the_screen(page)
    drawn(picture(page, "^Heatmap"))
    expect(page.get_by_test_id("stage")).to_have_css("background-color", DARK)
    expect(page.get_by_text(re.compile("Tiny BERT.* · Layer 2, head 8 · “Mary lost her keys.”")).first).to_be_visible()
    page.keyboard.press("b")
    assert page.evaluate(BLANKED) == "rgb(0, 0, 0)"
    page.keyboard.press("b")
    assert page.evaluate(BLANKED) != "rgb(0, 0, 0)"
    page.set_viewport_size({"width": 1280, "height": 720})
    fills_the_screen(page)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("present=1"))
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    sentence(page).click()
    page.keyboard.type("pbr")  # a letter that is typed is a letter
    answered(page)
    assert "present" not in address(page)
    expect(sentence(page)).to_have_value(re.compile("pbr"))
    button(page, browser_texts.CONTROLS["present"]).click()
    fills_the_screen(page)
    page.evaluate("document.exitFullscreen()")  # what Escape does there
    expect(page).not_to_have_url(re.compile("present=1"))


PRESENTED = {
    "/patching": "[data-testid=chart] canvas[role=img]",
    "/encoder_decoder": "[data-testid=training] canvas[role=img]",
    "/fill_mask": "[data-testid=attention-heatmap]",
    "/compare": "[data-testid=attention-heatmap]",
    "/masks?part=one": "[data-testid=matrix-weights]",
    "/self_attention": "[data-testid=matrix-matches]",
}
"""Pages, and the pictures of each that a room sees."""
IN_SIGHT = """(root, pictures) => {
  const leave = document.querySelector('button.leave').getBoundingClientRect()
  const title = document.createRange()
  title.selectNodeContents(root.querySelector('.stage-title'))
  const isClear = [...title.getClientRects()].every(({ right, top }) => right <= leave.left || top >= leave.bottom)
  const shown = [...root.querySelectorAll(pictures)].map((one) => one.getBoundingClientRect()).filter(({ width }) => width)
  const isSeen = ({ top, bottom, right }) => top >= 0 && bottom <= innerHeight + 1 && right <= innerWidth
  return isClear && shown.length && shown.every(isSeen)
}"""


def test_what_a_room_is_shown_is_in_sight_beside_the_way_back_and_asks_for_nothing_that_is_not(page_at):
    page = page_at("/masks?part=one&present=1")
    page.set_viewport_size({"width": 1920, "height": 1080})
    for path, pictures in PRESENTED.items():
        go_by_history(page, f"{path}{'&' if '?' in path else '?'}present=1")
        stage = page.get_by_test_id("stage")
        until(page, lambda found=stage, seen=pictures: found.evaluate(IN_SIGHT, seen), f"{path} in sight")
        expect(page.get_by_text(re.compile("Press “Switch off”"))).to_be_hidden()
    expect(stage.get_by_test_id("stage-sum")).to_be_in_viewport(ratio=1)
    go_by_history(page, "/compare?present=1")
    similarity = page.get_by_role("heading", name=compare_texts.PICTURE["similarity"])
    expect(similarity).to_be_hidden()
    page.keyboard.press("PageDown")
    expect(similarity).to_be_visible()
    expect(page.get_by_test_id("attention-heatmap")).to_be_hidden()
    page.keyboard.press("PageUp")
    expect(page.get_by_test_id("attention-heatmap")).to_be_visible()


def test_a_lesson_is_led_by_keys_from_its_words_to_its_picture_and_r_reveals(page_at):
    steps = lesson.shipped_lesson(lesson.LEARNING_PATH).steps
    page = page_at(f"/fill_mask?lesson={lesson.LEARNING_PATH}&step=2&present=1&level={ADVANCED}")
    page.set_viewport_size({"width": 1920, "height": 1080})
    expect(page.get_by_role("heading", name=steps[1].title, exact=True)).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_have_text("")
    answered(page)
    page.keyboard.press("r")
    expect(verdict).to_contain_text("yesterday")
    answered(page)
    page.evaluate("document.querySelector('main').scrollTop = 1e6")  # words that do not fit are turned through first
    page.keyboard.press("PageDown")
    expect(verdict).to_be_hidden()
    expect(page.get_by_test_id("stage")).to_be_visible()
    page.keyboard.press("PageDown")
    page.wait_for_url(re.compile(r"[?&]step=3(&|$)"))
    assert address(page)["present"] == "1"
    expect(page.get_by_role("heading", name=steps[2].title, exact=True)).to_be_visible()
    answered(page)
    page.keyboard.press("PageUp")
    page.wait_for_url(re.compile(r"[?&]step=2(&|$)"))
