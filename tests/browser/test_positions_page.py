"""The page of positions in a real browser: live controls, the address, phones, both themes."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages.positions.encodings import ENCODING_VIEWS

LOOKS = (
    "scheme=sinusoidal",
    "look=waves",
    "scheme=learned&look=effect",
    "scheme=shaw&look=waves",
    "part=demands",
    "part=shuffle",
)


def painted(page: Page) -> str:
    canvas = page.locator("canvas[data-shape]").last
    expect(canvas).to_be_visible(timeout=60_000)
    return canvas.evaluate("canvas => canvas.toDataURL()")


def test_a_slider_changes_the_picture_and_the_address(view_at, settle):
    page = view_at("/positions")
    before = painted(page)
    page.get_by_role("slider", name="Length: positions").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("length=49"))
    settle(page)
    assert painted(page) != before


def test_a_cell_tells_its_position_dimension_and_number(view_at):
    page = view_at("/positions?length=8&width=8")
    painted(page)
    page.get_by_test_id("matrix-0").hover()
    expect(page.get_by_test_id("matrix-readout")).to_contain_text(re.compile(r"position \d · dimension \d"))


def test_a_legend_names_the_ends_of_the_scale(view_at):
    page = view_at("/positions?length=8&width=8")
    painted(page)
    expect(page.get_by_test_id("legend-0")).to_have_text("−11")  # from −1 to 1, with the colours between
    page.get_by_role("radio", name="Effect on scores").click()
    expect(page.get_by_test_id("legend-1")).to_contain_text("01", timeout=60_000)


def test_a_way_chosen_by_name_is_in_the_link_and_comes_back(view_at, settle):
    page = view_at("/positions")
    page.get_by_test_id("stMain").get_by_role("radio", name="ALiBi").click()
    page.wait_for_url(re.compile("scheme=alibi"))
    page.reload()
    settle(page)
    expect(page.get_by_text(ENCODING_VIEWS["alibi"].map_title)).to_have_count(1, timeout=60_000)


@pytest.mark.parametrize("look", LOOKS)
def test_no_look_is_wider_than_its_screen_or_breaks_the_rules_of_access(view_at, axe, darken, resize, look):
    page = view_at(f"/positions?{look}")
    for width in (1280, 390):
        if width == 390:
            resize(page, width)
            darken(page)
        if "waves" not in look and "demands" not in look:
            painted(page)
            assert page.locator("[data-testid^=legend-]:visible").count() == page.locator("canvas[data-shape]:visible").count()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
        axe(page)


def test_a_control_that_one_way_lacks_is_as_it_was_when_a_way_has_it_again(page_at, settle):
    page = page_at("/positions?scheme=sinusoidal&base=100")
    for choice in ("ALiBi", "Effect on scores", "T5", "Waves", "Learned", "By distance", "Sinusoids"):
        page.get_by_role("radio", name=choice, exact=True).click()
        expect(page.get_by_role("radio", name=choice, exact=True)).to_be_checked()
        settle(page)
        assert page.get_by_text("This app has encountered an error").count() == 0
    assert "base=100" in page.url
