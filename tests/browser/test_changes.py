"""Changing something in a real browser: before and after, chips, links, a scan, two visitors, a phone, the dark."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages.fill_mask.texts import SCAN
from pages.ui.panels import texts
from tests.support.messages import name_everywhere, name_in_head, token_name

TEXT = "The+old+man+saw+a+dog."
BLANK = "The+old+man+saw+a+___+in+the+house."


def three_maps(page: Page):
    """The canvases of before, after and difference of the chosen heads, once they are painted."""
    view = page.get_by_test_id("before-after").last
    expect(view).to_have_attribute("data-paints", re.compile("[1-9]"))
    return [view.get_by_test_id(f"attention-{name}") for name in ("before", "after", "difference")]


def chip(page: Page, name: str):
    return page.get_by_role("button", name=re.compile(f"^(close )?{re.escape(name)}"))


def changes_of(page: Page, written: str) -> None:
    page.wait_for_url(re.compile(rf"changes={re.escape(written)}(&|$)"))


def test_what_is_looked_at_is_changed_shown_before_and_after_linked_and_taken_back_by_its_chip(view_at, page_at, settle, axe):
    page = view_at(f"/attention?text={TEXT}&heads=2-3&focus=3")
    page.get_by_role("button", name=texts.SWITCH_OFF_HEAD.format(layer=2, head=3)).click()
    before, after, difference = three_maps(page)
    changes_of(page, "off~2-3")
    settle(page)
    first, second, third = (part.bounding_box()["y"] for part in (before, after, difference))
    assert abs(first - second) < 2 < third - first
    page.get_by_role("button", name=texts.HIDE_FOCUSED.format(token="old")).click()
    changes_of(page, "off~2-3_hide~3")
    expect(page.get_by_test_id("moved-links").last.get_by_role("listitem").first).to_be_visible()
    settle(page)
    axe(page)
    again = page_at(f"/{page.url.split('/', 3)[3]}")
    three_maps(again)
    expect(chip(again, name_everywhere("hidden", key=token_name("old", 3)))).to_be_visible()
    chip(again, name_in_head("off", 2, 3)).click()
    changes_of(again, "hide~3")
    expect(chip(again, name_in_head("off", 2, 3))).to_have_count(0)
    again.get_by_role("button", name=texts.RESET_CHANGES).click()
    expect(again.get_by_test_id("attention-heatmap")).to_be_visible()
    expect(again.get_by_test_id("before-after")).to_have_count(0)


def test_a_change_of_a_blank_moves_its_bars_where_they_are_with_an_arrow(view_at, settle):
    page = view_at(f"/fill_mask?text={BLANK}&heads=2-3")
    switch = page.get_by_role("button", name=texts.SWITCH_OFF_HEAD.format(layer=2, head=3))
    chart = page.get_by_test_id("bars")
    expect(chart.get_by_role("listitem")).to_have_count(8)
    chart.evaluate("chart => chart.classList.add('the-very-same')")
    height = chart.bounding_box()["height"]
    switch.click()
    expect(chart).to_have_class(re.compile("the-very-same.*moved"))
    expect(chart.get_by_role("listitem")).to_have_count(8)
    expect(chart.locator(".number").first).to_have_text(re.compile(" → "))
    settle(page)
    assert abs(chart.bounding_box()["height"] - height) < 2
    page.get_by_role("button", name=texts.RESET_CHANGES).click()
    expect(chart).not_to_have_class(re.compile("moved"))


SEEN = """node => {
  const main = document.querySelector("[data-testid=stMain]")
  return [main.scrollTop, node.getBoundingClientRect().top]
}"""


def clicked_in_place(page: Page, settle, control, after=None) -> None:
    """Click a control: neither the page nor the control, or what stands there afterwards, may move."""
    control.scroll_into_view_if_needed()
    control.hover()  # whatever scrolling a click needs is done before the measurement
    scrolled, top = control.evaluate(SEEN)
    control.click()
    settle(page)
    page.wait_for_timeout(600)  # drawings of another height come after the script has run
    scrolled_after, top_after = (after or control).evaluate(SEEN)
    assert abs(scrolled_after - scrolled) < 2
    assert abs(top_after - top) < 2


NARROW_PANEL = """() => {
  const right = (name) => document.querySelector(`.st-key-attention_${name}`).getBoundingClientRect().right
  return Math.max(right('change_key'), right('change_query')) <= right('change_panel')
}"""


def test_the_boxes_of_the_panel_of_changes_stand_within_it(page_at, resize):
    page = page_at("/attention")
    page.get_by_role("button", name=texts.CHANGE_SOMETHING).click()
    page.locator(".st-key-attention_change_query").wait_for()
    for width in (1280, 1024, 390):
        resize(page, width)
        assert page.evaluate(NARROW_PANEL), width


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", ["/attention?text=Mary+lost+her+keys.&heads=2-3&focus=2", f"/fill_mask?text={BLANK}&heads=2-3"])
def test_no_control_moves_the_page_under_its_reader(page_at, settle, path: str, width: int):
    page = page_at(path, width=width)

    def button(name: str):
        return page.get_by_role("button", name=name, exact=False)

    off = button(texts.SWITCH_OFF_HEAD.format(layer=2, head=3))
    on = button(texts.SWITCH_ON_HEAD.format(layer=2, head=3))
    off.wait_for()
    page.wait_for_timeout(600)
    clicked_in_place(page, settle, off, on)
    clicked_in_place(page, settle, page.get_by_role("gridcell", name=re.compile("^Layer 3, head 2")).first)
    clicked_in_place(page, settle, button(texts.CHANGE_SOMETHING), button(texts.CLOSE_CHANGES))
    clicked_in_place(page, settle, button(texts.SET_TO_UNIFORM).first)
    clicked_in_place(page, settle, page.get_by_role("radio", name=texts.NORMALISER_LABELS["sparse"]))
    clicked_in_place(page, settle, button(texts.CLOSE_CHANGES), button(texts.CHANGE_SOMETHING))
    clicked_in_place(page, settle, page.get_by_text(texts.WHOLE_WORDS, exact=True))


@pytest.mark.parametrize("width", [1280, 390])
def test_the_prediction_stays_in_sight_while_the_heads_are_changed(view_at, settle, width: int):
    page = view_at(f"/fill_mask?text={BLANK}&heads=2-3", width=width)
    toggle = page.get_by_text(texts.WHOLE_WORDS, exact=True)
    toggle.scroll_into_view_if_needed()
    first = page.get_by_test_id("bars").get_by_role("listitem").first
    expect(first).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name=texts.SWITCH_OFF_HEAD.format(layer=2, head=3)).click()
    settle(page)
    expect(first).to_be_in_viewport(ratio=1)
    expect(first.locator(".delta")).to_have_text(re.compile("[+−]"))


@pytest.mark.parametrize(("width", "below"), [(1280, False), (390, True)])
def test_the_changes_open_beside_the_map_or_from_below_and_never_over_it(page_at, settle, width: int, below: bool):
    page = page_at(f"/attention?text={TEXT}&heads=2-3", width=width)
    page.get_by_role("button", name=texts.CHANGE_SOMETHING).click()
    uniform = page.get_by_role("button", name=texts.SET_TO_UNIFORM)
    uniform.wait_for()
    settle(page)
    panel = page.locator("[class*=_change_panel] > *").first.bounding_box()
    if below:
        assert (panel["x"], round(panel["y"] + panel["height"])) == (0, 900)
        assert panel["height"] <= 0.46 * 900
    else:
        canvas = page.get_by_test_id("attention-heatmap").bounding_box()
        assert panel["x"] + panel["width"] <= canvas["x"]


def test_one_pointer_and_one_focus_for_all_three_maps(view_at):
    page = view_at(f"/attention?text={TEXT}&heads=2-3&changes=off~1")
    before, _, difference = three_maps(page)
    shape = before.evaluate("canvas => JSON.parse(canvas.dataset.shape)")
    at = {"x": shape["left"] + 1.5 * shape["cell"], "y": shape["top"] + 2.5 * shape["cell"]}
    difference.hover(position=at)
    expect(page.get_by_test_id("attention-tooltip")).to_have_text(re.compile(r"^old → the0\.\d{3} → 0\.\d{3} \([+−]0\.\d{3}\)$"))
    before.click(position=at)
    expect(page.get_by_test_id("before-after")).to_have_attribute("data-focus", "2")
    page.wait_for_url("**focus=3**")
    page.get_by_role("group", name=re.compile("^Difference")).press("ArrowDown")
    page.wait_for_url("**focus=4**")


def test_the_panel_changes_the_normaliser(view_at, settle, axe):
    page = view_at(f"/attention?text={TEXT}&heads=2-3")
    page.get_by_role("button", name=texts.CHANGE_SOMETHING).click()
    page.get_by_role("radio", name=texts.NORMALISER_LABELS["sparse"]).click()
    changes_of(page, "sparse")
    settle(page)
    expect(page.get_by_role("radio", name=texts.NORMALISER_LABELS["sparse"])).to_be_checked()  # so it is open still
    axe(page)


def test_two_visitors_at_once_with_different_changes_see_each_their_own(page_at, settle):
    first = page_at(f"/attention?text={TEXT}&heads=2-1")
    second = page_at(f"/attention?text={TEXT}&heads=2-1")
    for _ in range(2):
        first.get_by_role("button", name=texts.SWITCH_OFF_HEAD.format(layer=2, head=1)).click()
        second.get_by_role("button", name=texts.CHANGE_SOMETHING).click()
        second.get_by_role("button", name=texts.SET_TO_UNIFORM).click()
        changes_of(first, "off~2-1")
        changes_of(second, "even~2-1")
        second.get_by_role("button", name=texts.CLOSE_CHANGES).click()
        expect(chip(first, name_in_head("off", 2, 1))).to_be_visible()
        expect(chip(second, name_in_head("uniform", 2, 1))).to_be_visible()
        expect(chip(first, name_in_head("uniform", 2, 1))).to_have_count(0)
        expect(chip(second, name_in_head("off", 2, 1))).to_have_count(0)
        for page in (first, second):
            settle(page)
            page.get_by_role("button", name=texts.RESET_CHANGES).click()
            expect(page.get_by_test_id("before-after")).to_have_count(0)


def test_on_a_phone_the_three_maps_stand_below_each_other_and_nothing_is_wider_than_the_screen(view_at, axe, darken):
    page = view_at(f"/attention?text={TEXT}&heads=2-1&changes=off~1_hide~3_temperature~0.5~2&focus=2", width=390)
    before, after, difference = (part.bounding_box() for part in three_maps(page))
    assert before["y"] + before["height"] <= after["y"] < after["y"] + after["height"] <= difference["y"]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    axe(page)
    darken(page)
    axe(page)


def test_a_scan_is_a_wall_whose_cells_switch_their_head_off_in_the_view(view_at, settle, axe, darken):
    page = view_at(f"/fill_mask?text={BLANK}")
    page.get_by_text(SCAN).click()
    expect(page.get_by_test_id("wall-legend").last).to_be_visible()
    cell = page.get_by_role("gridcell", name=re.compile("^Layer 2, head 3: .*top prediction"))
    cell.click()
    changes_of(page, "off~2-3")
    expect(cell).to_have_attribute("aria-selected", "true")
    expect(page.get_by_test_id("bars").first.get_by_role("listitem").first).to_be_in_viewport()
    cell.press("ArrowRight")
    changes_of(page, "off~2-4")
    three_maps(page)
    settle(page)
    axe(page)
    darken(page)
    axe(page)


def test_a_clicked_blank_comes_back_as_its_word_for_whoever_opens_the_link(view_at, page_at, settle):
    page = view_at("/fill_mask?text=The+cat+sat+on+the+mat.")
    page.get_by_test_id("stButtonGroup").get_by_role("button", name="cat", exact=True).click()
    page.wait_for_url("**text_behind=cat**")
    again = page_at(f"/{page.url.split('/', 3)[3]}")
    settle(again)
    again.get_by_test_id("stButtonGroup").get_by_role("button", name="cat", exact=True).click()
    expect(again.get_by_label("Sentence", exact=True)).to_have_value("The cat sat on the mat.")
