"""A head pressed on the wall is drawn before the page has answered, and the page's own answer has the last word."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.held_line import Line

PICTURE = "node => node.toDataURL()"
HEATMAP = "canvas[data-testid=attention-heatmap]"


@pytest.fixture
def held_page(page_at: Callable[..., Page], settle: Callable[[Page], None]) -> tuple[Page, Line]:
    """The attention page, whose clicks its server does not hear of until the line is released."""
    page = page_at("/?text=Mary+lost+her+keys.&heads=1-1")
    line = Line(page)
    expect(page.locator("[data-testid=attention-map][data-paints]")).to_be_visible(timeout=30_000)
    settle(page)
    line.held = []
    return page, line


def head(page: Page, layer: int, number: int) -> Locator:
    return page.get_by_role("gridcell", name=f"Layer {layer}, head {number}", exact=True)


def shows(page: Page, told: str) -> None:
    expect(page.locator(HEATMAP)).to_have_attribute("aria-label", re.compile(re.escape(told)))


def said(page: Page, told: str) -> None:
    expect(page.get_by_test_id("stText").filter(has_text=re.compile("^(Layer|Mean)"))).to_contain_text(told)


def test_the_map_is_there_before_the_answer_and_is_the_very_same_picture(held_page):
    page, line = held_page
    before = page.locator(HEATMAP).evaluate(PICTURE)
    head(page, 3, 4).click()
    shows(page, "Layer 3, head 4.")
    maps_path = page.locator(HEATMAP).evaluate(PICTURE)
    said(page, "Layer 1, head 1.")
    assert maps_path != before
    line.release()
    said(page, "Layer 3, head 4.")
    shows(page, "Layer 3, head 4. The strongest")
    assert page.locator(HEATMAP).evaluate(PICTURE) == maps_path
    page.wait_for_url(re.compile("heads=3-4"))


def test_of_two_quick_clicks_the_last_one_stays_through_the_answer_to_the_first(held_page):
    page, line = held_page
    head(page, 3, 4).click()
    shows(page, "Layer 3, head 4.")
    head(page, 2, 7).click()
    shows(page, "Layer 2, head 7.")
    last = page.locator(HEATMAP).evaluate(PICTURE)
    page.evaluate(
        """([selector]) => {
      const canvas = [...document.querySelectorAll('*')].map(node => node.shadowRoot?.querySelector(selector)).find(Boolean)
      window.seen = []
      new MutationObserver(() => window.seen.push(canvas.getAttribute('aria-label')))
        .observe(canvas, { attributes: true, attributeFilter: ['aria-label'] })
    }""",
        [HEATMAP],
    )
    line.release_one()
    said(page, "Layer 3, head 4.")  # the answer to the first click is there
    page.wait_for_timeout(300)
    shows(page, "Layer 2, head 7.")
    line.release()
    said(page, "Layer 2, head 7.")
    shows(page, "Layer 2, head 7. The strongest")
    assert page.locator(HEATMAP).evaluate(PICTURE) == last
    assert page.evaluate("window.seen.filter(label => label.includes('Layer 3, head 4'))") == []


def test_arrow_keys_draw_at_once_too_and_a_box_chooses_after_them(held_page):
    page, line = held_page
    head(page, 1, 1).press("ArrowDown")
    shows(page, "Layer 2, head 1.")
    line.release()
    said(page, "Layer 2, head 1.")
    page.get_by_label("Hide special tokens").locator("xpath=ancestor::label").click()
    expect(page.locator(HEATMAP)).to_have_attribute("data-shape", re.compile('"queries":5'))
    line.held = []
    head(page, 4, 2).click()
    shows(page, "Layer 4, head 2.")  # of the view without special tokens, which has a path of its own
    assert page.locator(HEATMAP).get_attribute("data-shape").count('"queries":5') == 1
    line.release()
    said(page, "Layer 4, head 2.")


def test_without_its_maps_the_page_answers_as_ever(page_at):
    page = page_at("/?text=Mary+lost+her+keys.&heads=1-1", expect=("Failed to load resource",))
    asked = []
    page.route("**/prefetch/**", lambda route: (asked.append(route.request.url), route.abort()))
    head(page, 3, 4).click()
    said(page, "Layer 3, head 4.")
    shows(page, "Layer 3, head 4. The strongest")
    assert asked


def test_a_map_that_comes_late_does_not_cover_what_was_chosen_since(page_at, settle):
    page, late = page_at("/?text=Mary+lost+her+keys.&heads=1-1"), []
    page.route("**/prefetch/**", lambda route: late.append(route))
    head(page, 3, 4).click()
    shows(page, "Layer 3, head 4. The strongest")
    page.wait_for_url(re.compile("heads=3-4"))
    page.go_back()
    shows(page, "Layer 1, head 1. The strongest")
    settle(page)
    for route in late:
        route.continue_()
    page.wait_for_timeout(500)
    assert late
    shows(page, "Layer 1, head 1. The strongest")


def test_several_heads_wait_for_the_page_which_has_their_mean(held_page):
    page, line = held_page
    head(page, 3, 4).click(modifiers=["Shift"])
    expect(head(page, 3, 4)).to_have_attribute("aria-selected", "true")
    page.wait_for_timeout(300)
    shows(page, "Layer 1, head 1.")
    line.release()
    shows(page, "Mean of 2 heads.")
