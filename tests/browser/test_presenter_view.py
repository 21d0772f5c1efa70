"""The presenter view: the picture fills the screen, no text is too small to be read from the last row, and keys do the rest."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.ui.panels import lesson
from pages.ui.shell.texts import SENTENCE

HAIR = re.compile(r"^(1|0\.\d+)px$")
"""The width of what a screen reader finds and nobody sees."""
BLANKED = "() => getComputedStyle(document.documentElement, '::after').backgroundColor"
SMALLEST_TEXT, LEAST_SHARE = 24, 0.7
RECORD = """
  window.drawnTexts = []
  const fill = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    const size = Number(this.font.match(/([\\d.]+)px/)[1])
    const { a, b } = this.getTransform()
    const box = this.canvas.getBoundingClientRect()
    const shown = box.width ? box.width / this.canvas.width : 0
    const { x, y } = this.getTransform().transformPoint({ x: rest[0], y: rest[1] })
    if (shown) window.drawnTexts.push([text, size * Math.hypot(a, b) * shown, box.left + x * shown, box.top + y * shown])
    return fill.call(this, text, ...rest)
  }"""
"""Notes every text that is drawn on a canvas in the page, with its size and its place on the screen."""
WRITTEN = """() => {
  const found = []
  const note = (node) => {
    const range = document.createRange()
    range.selectNodeContents(node)
    const box = range.getBoundingClientRect()
    const style = getComputedStyle(node.parentElement)
    if (box.width <= 2 || box.height <= 2 || style.visibility === 'hidden' || node.parentElement.closest(HIDDEN)) return
    found.push([node.textContent.trim(), parseFloat(style.fontSize) * (node.parentElement.currentCSSZoom || 1)])
  }
  const HIDDEN = 'style, script, [data-testid=stHeading]'
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE && node.textContent.trim()) note(node)
    for (const child of [...node.childNodes, ...(node.shadowRoot ? [node.shadowRoot] : [])]) walk(child)
  }
  walk(document.querySelector('[data-testid=stMain]'))
  return found
}"""
"""Every text of the page that is shown, within drawings, too, with its size on the screen."""
VIEWS = {
    "attention": ("/attention?text=Mary+lost+her+keys.&heads=2-8&focus=3", ".st-key-attention_map"),
    "fill_mask": ("/fill_mask?text=Yesterday+I+%5BMASK%5D+to+school.", ".st-key-fill_mask_map"),
    "masks": ("/masks?part=one", ".st-key-masks_grid"),
    "a lesson": (f"/fill_mask?lesson={lesson.LEARNING_PATH}&step=2", ".st-key-fill_mask_map"),
}


def open_view(page_at, settle, name: str, width: int, height: int) -> Page:
    """Open a view for a room, its texts noted as they are drawn; in a lesson, its answer revealed."""
    address, _ = VIEWS[name]
    page = page_at("/words")
    page.add_init_script(RECORD)
    page.set_viewport_size({"width": width, "height": height})
    page.goto(page.url.replace("/words", f"{address}&present=1"))
    page.wait_for_function("() => 'settled' in document.documentElement.dataset")
    settle(page)
    if "lesson=" in address:
        page.keyboard.press("r")
        expect(page.get_by_test_id("verdict")).not_to_have_text("")
        settle(page)
    return page


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1280, 720)])
@pytest.mark.parametrize("name", VIEWS)
def test_the_picture_fills_the_screen(page_at, settle, name: str, width: int, height: int):
    page = open_view(page_at, settle, name, width, height)
    picture = page.locator(VIEWS[name][1]).locator("visible=true").first
    picture.wait_for()
    page.wait_for_timeout(300)
    box = picture.bounding_box()
    seen = min(height, box["y"] + box["height"]) - max(0, box["y"])
    assert seen >= LEAST_SHARE * height, box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    if height == 1080:
        sizes = [*page.evaluate(WRITTEN), *page.evaluate("window.drawnTexts")]
        assert len(sizes) >= 10
        assert [text for text in sizes if text[1] < SMALLEST_TEXT - 0.1] == []


def test_p_begins_and_ends_the_view_and_b_blanks_it(page_at, settle):
    page = page_at("/attention?text=Mary+lost+her+keys.&heads=2-8")
    page.keyboard.press("p")
    page.wait_for_url(re.compile(r"[?&]present=1"))
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_role("heading", name=contents.page("attention").question)).to_have_css("width", HAIR)
    page.keyboard.press("b")
    assert page.evaluate(BLANKED) == "rgb(0, 0, 0)"
    page.keyboard.press("b")
    assert page.evaluate(BLANKED) != "rgb(0, 0, 0)"
    page.keyboard.press("p")
    expect(page.get_by_role("heading", name=contents.page("attention").question)).not_to_have_css("width", HAIR)
    expect(page).not_to_have_url(re.compile(r"present=1"))


def test_a_letter_that_is_typed_is_a_letter(page_at, settle):
    page = page_at("/attention?text=Mary+lost+her+keys.")
    page.get_by_label(SENTENCE, exact=True).click()
    page.keyboard.type("pbr")
    settle(page)
    assert "present=1" not in page.url
    expect(page.get_by_label(SENTENCE, exact=True)).to_have_value(re.compile("pbr"))


def test_arrow_keys_step_through_a_lesson_and_r_reveals(page_at, settle):
    page = open_view(page_at, settle, "a lesson", 1280, 720)
    expect(page.get_by_test_id("verdict")).to_contain_text("yesterday")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"[?&]step=3(&|$)"))
    assert "present=1" in page.url
    steps = lesson.shipped_lesson(lesson.LEARNING_PATH).steps
    expect(page.get_by_role("heading", name=steps[2].title, exact=True)).to_be_visible()
    settle(page)
    page.keyboard.press("PageUp")
    page.wait_for_url(re.compile(r"[?&]step=2(&|$)"))


def test_a_click_in_an_enlarged_map_finds_the_row_under_it(page_at, settle):
    page = open_view(page_at, settle, "attention", 1920, 1080)
    title = page.locator(".st-key-attention_map .readout-title").first
    expect(title).to_contain_text("lost")
    page.wait_for_timeout(500)
    page.evaluate("() => { window.drawnTexts.length = 0 }")
    canvas = page.locator(".st-key-attention_map canvas").first.bounding_box()
    page.mouse.move(canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2)  # draws the map again
    page.wait_for_function("() => window.drawnTexts.length > 10")
    _, _, x, y = min(page.evaluate("() => window.drawnTexts.filter(([text]) => text === 'her')"), key=lambda drawn: drawn[2])
    page.mouse.click(x + 200, y)
    expect(title).to_contain_text("her")


def test_a_dark_device_presents_on_white(page_at, settle):
    page = page_at("/attention?text=Mary+lost+her+keys.&heads=2-8&present=1", dark=True)
    assert (
        page.evaluate("() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    ground = "(map) => getComputedStyle(map).getPropertyValue('--st-background-color').trim()"
    assert page.locator(".st-key-attention_map .map").evaluate(ground) == "#ffffff"
    assert page.locator(".st-key-attention_map .map.dark").count() == 0
