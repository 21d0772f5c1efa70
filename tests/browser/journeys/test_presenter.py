"""The presenter view: the picture fills the screen, nothing is too small to be read from the last row, and keys do the rest."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.ui.panels import lesson
from pages.ui.shell.level import ADVANCED
from tests.browser.conftest import go_by_history
from tests.support.seen import PATIENCE, address, answered, drawn, main, picture, sentence
from tests.support.serving import wait_until

pytestmark = pytest.mark.ci

SMALLEST_TEXT, LEAST_SHARE = 24, 0.7
"""Pixels on a screen of 1080 rows, and the share of its height that the picture fills."""
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
    if (node.parentElement.closest('style, script, [data-testid=stHeading]')) return
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
  walk(document.querySelector('[data-testid=stMain]'))
  return found
}"""
"""Every text of the page that is shown, on pictures and beside them, with its size on the screen."""
STAGED = "() => document.querySelector('[data-staged]')?.className"
"""The picture that is shown on the projector."""
BLANKED = "() => getComputedStyle(document.documentElement, '::after').backgroundColor"
KEYS = "/attention?text=Mary+lost+her+keys.&heads=2-8&focus=4"
VIEWS = (
    "/next_word?text=Once+upon+a",
    "/fill_mask?text=Yesterday+I+%5BMASK%5D+to+school.",
    "/compare?text=Mary+lost+her+keys.&text_b=John+lost+his+keys.",
    "/summaries?part=glance",
    "/summaries?part=lens",
    "/many_sentences?",
    "/self_attention?",
    "/heads_and_blocks?part=heads",
    "/masks?part=one",
    "/positions?part=ways",
    "/encoder_decoder?part=train",
    "/bert?part=compare",
    "/classifier?",
)
"""A view of each page that computes, beside that of the attention page."""


def readable(page: Page) -> None:
    """Assert that every text can be read: none is smaller than it may be, and nothing is wider than the screen."""
    height = page.viewport_size["height"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = page.evaluate(SHOWN)
    assert found
    assert [one for one in found if one[1] < SMALLEST_TEXT * height / 1080 - 0.1] == []


def fitted(page: Page) -> None:
    """Wait until the picture in sight has the size that the screen has space for."""
    size = page.viewport_size
    ending = f" {size['width']} {size['height']}"
    page.wait_for_function("ending => document.documentElement.dataset.fitted?.endsWith(ending)", arg=ending, timeout=PATIENCE)


def fills_the_screen(page: Page) -> None:
    """Wait until one picture fills most of the height of the screen, and is no wider."""
    fitted(page)
    size, staged = page.viewport_size, page.locator("[data-staged]")

    def is_filled() -> bool:
        box = staged.bounding_box() if staged.count() == 1 else None
        if not box or box["x"] < 0 or box["x"] + box["width"] > size["width"]:
            return False
        return min(size["height"], box["y"] + box["height"]) - max(0, box["y"]) >= LEAST_SHARE * size["height"]

    wait_until(is_filled, 120, f"a picture that fills the screen of {page.url}")


def turn_by(page: Page, arrow: str) -> None:
    """Press an arrow key until another picture is shown: one that is taller than the screen is gone through first."""
    before = page.evaluate(STAGED)
    for _ in range(12):
        page.keyboard.press(arrow)
        page.wait_for_timeout(200)
        if page.evaluate(STAGED) != before:
            return
    raise AssertionError(f"{arrow} shows no other picture")


def test_keys_begin_and_end_the_view_walk_through_its_pictures_and_blank_the_screen(page_at):
    page = page_at(KEYS, prepare=lambda page: page.add_init_script(NOTE_WRITING))
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.keyboard.press("p")
    page.wait_for_url(re.compile(r"[?&]present=1"))
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    fills_the_screen(page)
    readable(page)
    drawn(picture(page, "^Heatmap"))
    expect(page.get_by_text(re.compile("Tiny BERT.* · Layer 2, head 8 · “Mary lost her keys.”")).first).to_be_visible()
    page.keyboard.press("b")
    assert page.evaluate(BLANKED) == "rgb(0, 0, 0)"
    page.keyboard.press("b")
    assert page.evaluate(BLANKED) != "rgb(0, 0, 0)"
    page.set_viewport_size({"width": 1280, "height": 720})
    fills_the_screen(page)
    readable(page)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("present=1"), timeout=PATIENCE)
    answered(page)
    sentence(page).click()
    page.keyboard.type("pbr")  # a letter that is typed is a letter
    answered(page)
    assert "present" not in address(page)
    expect(sentence(page)).to_have_value(re.compile("pbr"))


def test_arrow_keys_walk_through_the_pictures_of_a_page(page_at):
    page = page_at("/self_attention?q1=2.5&present=1", prepare=lambda page: page.add_init_script(NOTE_WRITING))
    page.set_viewport_size({"width": 1920, "height": 1080})
    answered(page)
    fills_the_screen(page)
    first = page.evaluate(STAGED)
    turn_by(page, "ArrowDown")
    fills_the_screen(page)
    readable(page)
    turn_by(page, "ArrowUp")
    assert page.evaluate(STAGED) == first


@pytest.mark.parametrize("half", [VIEWS[::2], VIEWS[1::2]], ids=["even", "odd"])
def test_the_first_picture_of_every_page_fills_the_screen_of_a_projector(page_at, half: tuple[str, ...]):
    page = page_at(f"{half[0]}&present=1&level={ADVANCED}", prepare=lambda page: page.add_init_script(NOTE_WRITING))
    page.set_viewport_size({"width": 1920, "height": 1080})
    for view in half:
        if view != half[0]:
            go_by_history(page, f"{view}&present=1&level={ADVANCED}")
        answered(page)
        fills_the_screen(page)
        readable(page)


def test_every_page_that_computes_shows_a_picture_on_a_projector():
    shown = {view.partition("?")[0].strip("/") for view in (*VIEWS, KEYS, "/bertviz")}  # bertviz writes as it likes
    assert {page.address or page.key for page in contents.PAGES if page.computes} == shown


def test_a_lesson_is_led_by_keys_and_r_reveals(page_at):
    steps = lesson.shipped_lesson(lesson.LEARNING_PATH).steps
    page = page_at(f"/fill_mask?lesson={lesson.LEARNING_PATH}&step=2&present=1&level={ADVANCED}")
    expect(page.get_by_role("heading", name=steps[1].title, exact=True)).to_be_visible()
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_have_text("")
    answered(page)
    page.keyboard.press("r")
    expect(verdict).to_contain_text("yesterday", timeout=PATIENCE)
    fills_the_screen(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"[?&]step=3(&|$)"))
    assert address(page)["present"] == "1"
    expect(page.get_by_role("heading", name=steps[2].title, exact=True)).to_be_visible(timeout=PATIENCE)
    answered(page)
    page.keyboard.press("PageUp")
    page.wait_for_url(re.compile(r"[?&]step=2(&|$)"))


def test_a_dark_device_presents_on_white_and_is_dark_again_afterwards(page_at):
    page = page_at(f"{KEYS}&present=1", dark=True)
    ground = page.get_by_test_id("stApp")
    expect(ground).to_have_css("background-color", "rgb(255, 255, 255)")
    fitted(page)
    page.keyboard.press("p")
    expect(ground).to_have_css("background-color", "rgb(16, 21, 27)", timeout=PATIENCE)
    expect(page.get_by_test_id("stSidebar")).to_be_visible(timeout=PATIENCE)
    drawn(main(page).get_by_role("img", name=re.compile("^Heatmap")).first)
