"""Masks and positions: who may look at whom, and how a model knows the order, with numbers computed again by the core."""

import math
import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from pages.masks import texts
from pages.positions import texts as position_texts
from pages.positions.encodings import ENCODING_VIEWS
from pages.ui.stage.browser_texts import CONTROLS
from tests.browser.conftest import go_by_history
from tests.browser.test_stages import allows, charts, may_look
from tests.support.seen import answered, drawn, linked, main, picture, press, says, silent, stage

CAT = "The cat sat on the mat."
PATH = f"/masks?text={quote_plus(CAT)}"


def shown(page: Page, part: str) -> None:
    """Choose a part or a view of the stage."""
    press(page, part)
    answered(page)


def test_an_encoding_of_positions_is_drawn_from_its_formula(arrive, for_everybody):
    page = arrive("/positions?length=8&width=8")
    picture_of = drawn(picture(page, "8 positions down, 8 dimensions across"))
    box = picture_of.bounding_box()
    picture_of.hover(position={"x": box["width"] * 0.6, "y": box["height"] * 0.6})
    readout = main(page).get_by_text(re.compile(r"^position \d · dimension \d$")).first
    expect(readout).to_be_visible()
    position, dimension = (int(one) for one in re.search(r"position (\d) · dimension (\d)", readout.inner_text()).groups())
    angle = position / 10_000 ** (2 * (dimension // 2) / 8)
    expected = math.cos(angle) if dimension % 2 else math.sin(angle)
    says(page, f"position {position} · dimension {dimension}", f"{expected:.2f}".replace("-", "−"))
    page.get_by_role("slider", name=position_texts.LENGTH).press("ArrowRight")
    linked(page, length="9", width="8")
    drawn(picture(page, "9 positions down, 8 dimensions across"))
    shown(page, "ALiBi")
    linked(page, scheme="alibi")
    expect(main(page).get_by_text(ENCODING_VIEWS["alibi"].map_title).first).to_be_visible()
    for_everybody(page)


@pytest.mark.ci
def test_a_mask_is_painted_by_finger_and_in_a_long_sentence_and_is_found_again_after_something_was_computed(page_at):
    page = page_at(f"{PATH}&part=one", width=390)
    may_look(page, "cat", "the").dispatch_event("click")  # as a tap does, without a mouse before it
    page.wait_for_url(re.compile("kind=painted&mask=9-"))
    press(page, CONTROLS["headAfter"])
    page.wait_for_url(re.compile("head=2.*kind=painted&mask=9-"))
    expect(stage(page)).to_have_attribute("data-run", re.compile("2"))
    page.reload()
    expect(may_look(page, "cat", "the")).to_have_attribute("aria-selected", "false")
    allows(page, 44)
    stage(page).get_by_role("combobox", name=texts.MASK, exact=True).select_option("padding")
    page.wait_for_url(re.compile("padding=3.*kind=padding"))
    expect(may_look(page, "cat", "[PAD]")).to_have_attribute("aria-selected", "false")
    page.set_viewport_size({"width": 1280, "height": 900})
    go_by_history(page, f"/masks?part=one&text={'+'.join(['old'] * 27)}+man.")
    for row, column in ((2, 1), (30, 30)):
        cell = stage(page).locator(f"[data-row='{row}'][data-column='{column}']")
        cell.click()
        expect(cell).to_have_attribute("aria-selected", "false")


@pytest.mark.ci
def test_what_is_no_list_of_dimensions_is_explained_and_kept_and_computes_nothing(page_at):
    page = page_at("/positions?part=ways&look=waves&width=20")
    box = stage(page).get_by_role("textbox", name=position_texts.DIMENSIONS)
    expect(box).to_have_value("0 8 16")
    with silent(page):
        for written in ("20", "1 1", "0 1 2 3 4 5 6 7 8", "³"):
            box.fill(written)
            expect(stage(page).get_by_role("alert").filter(has_text="0 to 19")).to_be_visible()
            assert box.input_value() == written
    box.fill("7, 2 19")
    linked(page, dims="2-7-19")
    expect(charts(page).get_by_role("img", name="dimension 2, dimension 7, dimension 19")).to_be_visible()
    assert box.input_value() == "2 7 19"
