"""The page of masks in a real browser: a mask painted with mouse, keyboard and link, on a screen and on a phone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from pages import contents
from pages.masks import texts
from pages.ui.canvas.texts import AXES_OF_MATRIX, MATRICES, QUERY_KEY_AXES

NOTE_TEXTS = """
  const write = CanvasRenderingContext2D.prototype.fillText
  window.written = []
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    window.written.push(text)
    return write.call(this, text, ...rest)
  }"""
"""Notes what is written on canvases."""


def cell(page: Page, query: int, key: int) -> Locator:
    return page.locator(f"[data-row='{query}'][data-column='{key}']")


def readout(page: Page) -> Locator:
    return page.get_by_test_id("matrix-readout")


def test_a_click_forbids_a_cell_and_the_weights_and_the_link_follow(view_at, settle):
    page = view_at("/masks?part=one")
    cell(page, 2, 1).click()
    page.wait_for_url(re.compile(r"kind=painted&mask=9-"))
    expect(readout(page)).to_contain_text("cat → the")
    expect(readout(page)).to_contain_text(MATRICES["hidden"])
    expect(readout(page)).to_contain_text(f"{texts.SCORES_AFTER.lower()} −∞")
    expect(readout(page)).to_contain_text(f"{texts.WEIGHTS_AFTER.lower()} 0.000")
    expect(cell(page, 2, 1)).to_have_attribute("aria-selected", "false")
    page.reload()
    settle(page)
    cell(page, 2, 1).wait_for(timeout=60_000)
    expect(cell(page, 2, 1)).to_have_attribute("aria-selected", "false")
    expect(cell(page, 2, 2)).to_have_attribute("aria-selected", "true")


def test_dragging_paints_along_and_a_name_empties_its_row(view_at):
    page = view_at("/masks?part=one&kind=none")
    cell(page, 1, 2).hover()
    page.mouse.down()
    for key in (3, 4, 5):
        cell(page, 1, key).hover()
    page.mouse.up()
    for key, allowed in enumerate([True, True, False, False, False, False, True]):
        expect(cell(page, 1, key)).to_have_attribute("aria-selected", str(allowed).lower())
    page.get_by_role("button", name=MATRICES["wholeRow"].format(name="sat")).click()
    row = texts.EMPTY_ROW.format(token="sat", row=4)
    expect(page.get_by_text(texts.EMPTY_ROWS.format(tokens=row))).to_be_visible()


def test_the_keyboard_walks_and_paints(view_at):
    page = view_at("/masks?part=one")
    cell(page, 0, 0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(cell(page, 1, 1)).to_be_focused()
    page.keyboard.press("Space")
    expect(cell(page, 1, 1)).to_have_attribute("aria-selected", "false")
    page.keyboard.press("Shift+ArrowDown")
    expect(cell(page, 2, 1)).to_have_attribute("aria-selected", "false")
    page.wait_for_url(re.compile("kind=painted"))


def test_a_control_changes_the_picture_and_the_address(view_at, settle):
    page = view_at("/masks?part=one")
    page.get_by_text(texts.WINDOW, exact=True).click()
    page.wait_for_url(re.compile("kind=window"))
    settle(page)
    expect(cell(page, 0, 1)).to_have_attribute("aria-selected", "true")
    expect(cell(page, 0, 2)).to_have_attribute("aria-selected", "false")


def test_the_sentence_goes_along_to_another_page(view_at):
    page = view_at("/masks?text=Birds+%26+bees")
    page.get_by_role("link", name=contents.page("fill_mask").question).click()
    page.wait_for_url(re.compile(r"fill_mask\?.*text=Birds\+%26\+bees"))


@pytest.mark.parametrize("part", texts.PARTS)
def test_no_part_is_wider_than_its_screen_or_breaks_the_rules_of_access(view_at, axe, darken, resize, part):
    page = view_at(f"/masks?part={part}&padding=2")
    expect(page.get_by_test_id("matrices")).to_have_attribute("data-paints", re.compile("."))
    axe(page)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    resize(page, 390)
    darken(page)
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    axe(page)


def test_numbers_before_and_after_stand_in_one_line(view_at):
    numbers = view_at("/masks").get_by_test_id("bars").locator(".plot .number")
    expect(numbers.filter(has_text=re.compile(r"1 in .* → .*\s%"))).not_to_have_count(0)
    assert len({numbers.nth(place).bounding_box()["height"] for place in range(numbers.count())}) == 1


@pytest.mark.parametrize(
    ("path", "axes"),
    [
        ("/masks?part=one", QUERY_KEY_AXES),
        ("/masks?part=penalty", QUERY_KEY_AXES),
        ("/positions", ("position", "dimension")),
        ("/positions?scheme=alibi", QUERY_KEY_AXES),
        ("/positions?look=effect", QUERY_KEY_AXES),
    ],
)
def test_every_map_names_its_axes(page_at, path, axes):
    page = page_at(path, prepare=lambda page: page.add_init_script(NOTE_TEXTS))
    page.locator("[data-testid=matrices][data-paints]").wait_for(timeout=60_000)
    assert AXES_OF_MATRIX.format(down=axes[0], across=axes[1]) in page.evaluate("window.written")


def test_on_a_phone_each_sentence_of_a_batch_is_a_paragraph_of_its_own(view_at):
    page = view_at("/masks", width=390)
    batch = page.locator(".st-key-masks_batch pre")
    first, second = (line.bounding_box() for line in batch.locator("> span").all())
    assert "  " not in batch.inner_text().replace("\n", "")
    assert second["y"] > first["y"] + first["height"]
    page.set_viewport_size({"width": 1280, "height": 900})
    assert "the cat  sat" in batch.inner_text()  # in columns
