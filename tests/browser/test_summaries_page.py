"""The page of summaries in a real browser: a head is chosen by a click or by keys, and every part fits a phone."""

import re

import pytest
from playwright.sync_api import expect

from pages import contents
from pages.summaries import texts
from pages.summaries.parts import PARTS

PATH = "/summaries?text=A+cup+of+%5BMASK%5D+in+the+morning."
NAMES_AND_MARKS = """() => {
  const map = document.querySelector(".js-plotly-plot");
  const box = (node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    return { text: node.textContent, left, right, top, bottom };
  };
  return {
    told: map.closest("[aria-label]").ariaLabel,
    names: [...map.querySelectorAll(".annotation-text")].map(box),
    marks: [...map.querySelectorAll(".scatterlayer .point")].map(box),
  };
}"""
"""The names on the map of heads and the marks of its points: where they are on the screen."""


def test_a_click_on_a_head_tells_of_it_and_leads_to_it(view_at, settle):
    page = view_at(PATH)
    page.get_by_role("gridcell", name=re.compile("^Layer 2, head 3:")).click()
    page.wait_for_url(re.compile("heads=2-3"))
    settle(page)
    expect(page.get_by_text(re.compile(r"^Layer 2, head 3 .+\d\.\d"))).to_be_visible()
    page.get_by_role("link", name=texts.SEE_HEAD).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("attention").question)
    page.wait_for_url(re.compile("heads=2-3"))


def test_arrow_keys_move_through_the_table_and_enter_chooses(view_at, settle):
    page = view_at(f"{PATH}&heads=1-1")
    page.get_by_role("gridcell", name=re.compile("^Layer 1, head 1:")).focus()
    for pressed in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(pressed)
    page.wait_for_url(re.compile("heads=2-2"))
    settle(page)
    chosen = page.get_by_role("gridcell", name=re.compile("^Layer 2, head 2:"))
    expect(chosen).to_have_attribute("aria-selected", "true")
    expect(page.locator("[data-testid='head-table'] [aria-selected='true']")).to_have_count(1)


def test_another_colouring_writes_numbers_on_the_heads(view_at, settle):
    page = view_at(PATH)
    page.get_by_role("radio", name=texts.COLOURS["distance"]).click()
    page.wait_for_url(re.compile("colour=distance"))
    settle(page)
    expect(page.get_by_role("gridcell", name=re.compile(r"^Layer 1, head 1: \d+\.\d tokens$"))).to_be_visible()


@pytest.mark.parametrize(("part", "dark"), [(part, number % 2 == 0) for number, part in enumerate(PARTS)])
def test_a_part_fits_a_phone_and_is_open_to_everyone(view_at, axe, part, dark):
    page = view_at(f"{PATH}&part={part}", width=390, dark=dark)
    expect(page.locator("[data-testid='stSkeleton']")).to_have_count(0, timeout=60_000)
    page.get_by_role("button", name="Share this view").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate("document.fonts.ready")
    axe(page)


def test_the_table_is_open_to_everyone_on_a_wide_screen_in_light_and_dark(view_at, axe, darken):
    page = view_at(PATH)
    page.get_by_role("gridcell", name=re.compile("^Layer 1, head 1:")).wait_for(timeout=60_000)
    page.evaluate("document.fonts.ready")
    axe(page)
    darken(page)
    axe(page)


def test_the_buttons_of_the_parts_stand_in_one_line_on_a_laptop(view_at):
    page = view_at("/summaries", width=1280)
    buttons = [page.get_by_role("radio", name=part.title, exact=True) for part in PARTS.values()]
    buttons[-1].wait_for(timeout=60_000)
    assert len({round(button.bounding_box()["y"]) for button in buttons}) == 1


HEADS = ("1-2", "2-6", "3-5", "4-7", "5-3", "6-2")


@pytest.mark.parametrize("heads", HEADS)
def test_the_map_names_the_chosen_head_and_its_nearest_where_nothing_else_stands(view_at, resize, heads: str):
    page = view_at(f"/summaries?part=alike&heads={heads}")
    layer, head = heads.split("-")
    alt = texts.SIMILARITY_ALT.partition(":")[0].format(head=f"layer {layer}, head {head}")
    page.locator(f"[aria-label^='{alt}:'] .annotation-text").first.wait_for(timeout=60_000)
    wide = page.evaluate(NAMES_AND_MARKS)
    check_names(wide, heads)
    resize(page, 390)
    narrow = page.evaluate(NAMES_AND_MARKS)
    assert max(mark["right"] for mark in narrow["marks"]) <= 390 < max(mark["right"] for mark in wide["marks"])
    check_names(narrow, heads)


def check_names(found: dict, heads: str) -> None:
    """Assert that six heads are named, the chosen one among them, and that no name stands on another or on a mark."""
    nearest = {"-".join(head) for head in re.findall(r"layer (\d+), head (\d+)", found["told"])}
    assert len(nearest) == 6
    assert heads in nearest
    assert nearest == {name["text"] for name in found["names"]}
    assert len(found["names"]) == 6
    assert len(found["marks"]) == 48
    for name in found["names"]:
        assert not [other for other in found["names"] + found["marks"] if other is not name and on_each_other(name, other)]


def on_each_other(one: dict[str, float], other: dict[str, float], leeway: float = 1.5) -> bool:
    """Tell whether two boxes share more than a hair."""
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return min(across, down) > leeway
