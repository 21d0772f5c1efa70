"""The page on BERT in a real browser: a head chosen on either wall is shown on both, and a phone has space for all."""

import re

import pytest
from playwright.sync_api import expect

from pages.bert import texts
from tests.browser.conftest import go_by_history, wait_for_script

PATH = "/bert?text=A+cup+of+%5BMASK%5D."
GAP = """
  window.gaps = []
  const look = () => {
    const top = document.querySelector(".st-key-bert_compare_part")
    const links = document.querySelectorAll("[data-testid=stMain] nav.ways a")
    if (top && links.length) window.gaps.push(links[0].getBoundingClientRect().top - top.getBoundingClientRect().top)
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
"""
"""Notes in every frame how far the links below the comparison stand from its top."""


def attention_of(model: str, **head: int) -> re.Pattern[str]:
    """Match what stands above the map of a model's head."""
    return re.compile("^" + texts.ATTENTION[model].partition(":")[0].format(**head) + ":")


def test_a_head_chosen_on_one_wall_is_shown_on_both(view_at, settle):
    page = view_at(f"{PATH}&part=random")
    page.get_by_role("gridcell", name="Layer 4, head 5", exact=True).first.click()
    page.wait_for_url(re.compile("layer=4&head=5"))
    settle(page)
    expect(page.get_by_text(attention_of("trained", layer=4, head=5))).to_be_visible()
    expect(page.get_by_text(attention_of("untrained", layer=4, head=5))).to_be_visible()


def test_the_comparison_comes_by_itself_and_what_stands_below_it_keeps_its_place(page_at, elsewhere, resize):
    page = page_at(PATH, width=390, prepare=lambda page: page.add_init_script(GAP))
    for width in (390, 500, 900, 1280, 1600):
        if width > 390:
            go_by_history(page, elsewhere)
            resize(page, width)
            page.evaluate("window.gaps = []")
            go_by_history(page, PATH)
        expect(page.get_by_text(texts.MAX_HIDDEN)).to_be_visible(timeout=60_000)
        expect(page.get_by_test_id("matrices").last).to_be_visible(timeout=60_000)
        wait_for_script(page)
        page.wait_for_timeout(500)
        gaps, links = page.evaluate("[window.gaps, document.querySelectorAll('nav.ways a').length]")
        assert links
        assert min(gaps) > 500
        assert max(gaps) - min(gaps) <= 0.05 * max(gaps), width


@pytest.mark.parametrize("part", texts.PARTS)
def test_a_part_fits_a_phone_and_is_open_to_everyone_in_light_and_dark(view_at, axe, darken, part):
    page = view_at(f"{PATH}&part={part}", width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.locator(".katex-display").last.wait_for()
    page.evaluate("document.fonts.ready")
    choices = page.get_by_test_id("stMain").get_by_test_id("stButtonGroup").get_by_role("radio").all()
    ends = [box["x"] + box["width"] for box in (choice.bounding_box() for choice in choices)]
    assert ends and max(ends) <= 390  # a choice that is cut makes nothing wider
    axe(page)
    darken(page)
    axe(page)
