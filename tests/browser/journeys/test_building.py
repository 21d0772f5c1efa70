"""Self-attention, and heads and blocks: the sums behind the numbers of a head and of a block, as the core computes them."""

import math
import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from pages.heads_and_blocks import texts as block_texts
from pages.self_attention import texts
from pages.ui.stage import browser_texts
from pages.ui.stage import texts as stage_texts
from tests.browser.test_stages import step
from tests.support.seen import answered, button, drawn, linked, main, picture, stage
from tests.support.serving import wait_until
from tx_core.engine import catalogue
from tx_core.lessons.self_attention import AttentionTensors, HeadChoice, head_run

ARROW = "time flies like an arrow"
PATH = f"/self_attention?text={quote_plus(ARROW)}&layer=1&head=8"
ROUNDING = 0.0051


def tensors_of(text: str, layer: int, head: int, **how: object) -> AttentionTensors:
    """The tensors of a head, counted from 1, on a sentence."""
    engine = catalogue.load(catalogue.DEFAULT)
    return head_run(engine, engine.trace(text, keep=("hidden",)), HeadChoice(layer - 1, head - 1, **how)).tensors


def sum_of(page: Page) -> str:
    """How the chosen cell came about, as it is written below the matrices."""
    return main(page).get_by_role("region", name=browser_texts.MATRICES["sum"]).first.inner_text().replace("−", "-")


def number_is(page: Page, expected: float) -> None:
    """Wait until the sum of the chosen cell ends with a number."""

    def is_there() -> bool:
        found = re.findall(r"(?:=|stays) (-?\d+\.?\d*)", sum_of(page))
        return bool(found) and math.isclose(float(found[-1]), expected, abs_tol=ROUNDING)

    wait_until(is_there, 30, f"a sum of {expected:.3f}, written as such")


def press(page: Page, matrix: str, *keys: str) -> None:
    """Go to a matrix and press keys."""
    box = main(page).get_by_role("group", name=re.compile(f"^{matrix}\\.")).first
    box.focus()
    for key in keys:
        page.keyboard.press(key)


def test_a_cell_tells_the_sum_behind_it_to_pointer_and_keyboard(arrive, for_everybody):
    page = arrive(f"{PATH}&cell=matches-4-3")
    found = tensors_of(ARROW, 1, 8)
    drawn(picture(page, "^Dot products, 7 by 7"))
    number_is(page, float(found.scores[3, 2]))  # the sum goes on to the score
    assert f"= {float(found.matches[3, 2]):.2f}" in sum_of(page)
    terms = (found.query[3] * found.key[2]).abs().argsort(descending=True)[:6] + 1
    assert [int(place) for place in re.findall(r"dimension (\d+)", sum_of(page))] == terms.tolist()
    button(page, browser_texts.MATRICES["allTerms"].format(count=32)).first.click()
    assert len(re.findall(r"dimension (\d+)", sum_of(page))) == 32
    step(page, texts.TITLES["context"])
    linked(page, cell="context-4-1")
    press(page, "Context", "ArrowUp", "ArrowUp", "ArrowRight", "ArrowRight")
    linked(page, cell="context-2-3")
    number_is(page, float(found.context[1, 2]))
    step(page, texts.TITLES["scores"])
    linked(page, cell="scores-2-3")
    number_is(page, float(found.scores[1, 2]))
    shown = picture(page, "^Scores, 7 by 7")
    shown.click(position={"x": shown.bounding_box()["width"] - 10, "y": shown.bounding_box()["height"] - 10})
    linked(page, cell="scores-7-7")
    number_is(page, float(found.scores[6, 6]))
    page.reload()
    number_is(page, float(found.scores[6, 6]))
    press(page, "Scores", "Escape")
    linked(page, cell="none")
    for_everybody(page)


@pytest.mark.ci
def test_the_longest_sentence_scrolls_in_its_own_box_and_keeps_its_sum_in_sight(arrive):
    page = arrive(f"/self_attention?text={'+'.join(['dog', 'cat'] * 63)}&cell=weights-1-1")
    shown = drawn(picture(page, "^Weights, 128 by 128"))
    press(page, "Weights", "ArrowDown", "End")
    page.wait_for_url(re.compile(r"cell=weights-2-128(&|$)"))
    answered(page)
    box = shown.bounding_box()
    assert 0 <= box["x"] + box["width"] <= 1320  # the end of the row was scrolled to
    expect(button(page, browser_texts.MATRICES["clear"]).first).to_be_in_viewport()


@pytest.mark.ci
def test_a_click_on_a_box_or_a_block_chooses_it_and_arrow_keys_walk_the_architecture(page_at):
    page = page_at("/heads_and_blocks?text=A+cat+sat+on+the+%5BMASK%5D.")
    box = lambda name: page.get_by_test_id("architecture").get_by_role("button", name=name, exact=True)  # noqa: E731
    box(block_texts.FEED_FORWARD).click()
    expect(box(block_texts.FEED_FORWARD)).to_have_attribute("aria-pressed", "true")
    page.wait_for_url(re.compile("part=feed.*cell=widened-4-2"))
    box("Block 3").click()
    expect(box("Block 3")).to_have_count(0)  # it is open now
    page.wait_for_url(re.compile("layer=3"))
    box(block_texts.FEED_FORWARD).focus()
    page.keyboard.press("ArrowRight")
    expect(box(stage_texts.RESIDUAL.format(part=block_texts.FEED_FORWARD))).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("part=depth"))
    stage(page).get_by_label(stage_texts.SEED).fill("3")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("seed=3"))
    box(block_texts.PATH_SAID).click()
    stage(page).get_by_role("button", name="cat", exact=True).click()
    page.wait_for_url(re.compile("words=3-4-7-9"))
    page.reload()
    expect(stage(page).get_by_role("button", name="cat", exact=True)).to_have_attribute("aria-pressed", "true")


@pytest.mark.ci
def test_in_basic_the_reader_adds_the_products_and_what_is_mixed(page_at):
    page = page_at("/self_attention?text=Mary+lost+her+keys.&layer=2&head=8&cell=matches-4-2&level=basic")
    left, total = stage(page).get_by_role("group", name=browser_texts.MATRICES["add"]), stage(page).get_by_test_id("stage-sum")
    expect(total).to_have_text(browser_texts.MATRICES["addFirst"])
    expect(stage(page).get_by_role("button", name=browser_texts.MATRICES["allSteps"])).to_have_count(0)
    left.get_by_role("button").first.click()
    expect(total).to_contain_text(re.compile(r"dimension 3: 2\.14 × 2\.03 = 4\.34 so far"))
    box = stage(page).get_by_role("textbox")
    one, other = re.findall(r"\d\.\d+", box.get_attribute("aria-label"))
    box.fill("99")
    box.press("Enter")
    expect(stage(page).get_by_text(browser_texts.MATRICES["wrong"].format(typed="99"))).to_be_visible()
    box.fill(f"{float(one) * float(other):.1f}".replace(".", ","))
    box.press("Enter")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    expect(stage(page).get_by_text(re.compile(f"^Right: .*{one} × .*{other}"))).to_be_visible()
    left.get_by_role("button", name="all 30 that are left").click()
    expect(total).to_contain_text("= 24.75 ÷ √32 = 4.37")
    step(page, "Context")
    left.get_by_role("button").first.click()
    expect(total).to_contain_text("mary: ")
