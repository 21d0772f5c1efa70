"""The attention page as a visitor meets it: type, click, keys, links, a phone, the dark, and texts that mean harm."""

import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.ui.panels import texts
from pages.ui.shell import controls, examples
from pages.ui.shell.level import ADVANCED, LEVEL
from tests.support.messages import HINT_ELSEWHERE, TOO_LONG_TO_SHARE, unknown_parameters
from tests.support.serving import ROOT
from tx_core.analysis.sentences import SHOWN_QUERY_ONE_KEY, STRONGEST_LINK_BETWEEN_WORDS
from tx_core.engine.tokenizer import NO_SENTENCE

FIRST = examples.curated()[0]
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script> [x](javascript:alert(3)) :red[y] \u202eabc 💥 שלום"
"""Markup, Markdown, a right-to-left override and an emoji at once."""


def sentence(page: Page) -> Locator:
    return page.get_by_label("Sentence", exact=True)


def said(page: Page) -> Locator:
    """What the page says about the map, in words."""
    return page.get_by_test_id("stText").filter(has_text=re.compile(r"^(Layer|Mean)"))


def map_label(page: Page) -> Locator:
    return page.get_by_test_id("attention-heatmap")


def head(page: Page, layer: int, number: int) -> Locator:
    return page.get_by_role("gridcell", name=f"Layer {layer}, head {number}", exact=True)


def linked(page: Page, words: str) -> None:
    page.wait_for_url(re.compile(f"{re.escape(words)}(&|$)"))


def shape_of(page: Page) -> dict:
    """Where the heatmap's cells are, and how many."""
    expect(map_label(page)).to_have_attribute("data-shape", re.compile("cell"))
    return json.loads(map_label(page).get_attribute("data-shape"))


def no_wider_than_the_screen(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_on_a_laptop_question_sentence_wall_and_map_are_on_the_first_screen(view_at):
    page = view_at("/attention")
    page.set_viewport_size({"width": 1280, "height": 800})
    for part in (page.get_by_role("heading", level=1), sentence(page), head(page, 4, 8), said(page)):
        expect(part).to_be_in_viewport(ratio=1)
    shape = shape_of(page)
    last_row = map_label(page).bounding_box()["y"] + shape["top"] + shape["cell"] * shape["queries"]
    assert last_row <= 800
    assert page.get_by_text("Whose keys are they?").is_visible()


def test_typing_changes_the_tokens_the_map_shows_and_clearing_says_what_to_do(view_at):
    page = view_at("/attention")
    assert shape_of(page)["queries"] == 7
    sentence(page).press("End")
    sentence(page).press_sequentially(" Again", delay=20)
    expect(said(page)).to_contain_text(STRONGEST_LINK_BETWEEN_WORDS.partition("{")[0])
    expect(map_label(page)).to_have_attribute("data-shape", re.compile('"queries":8'))
    page.get_by_text("8 of 128 tokens").wait_for()
    expect(sentence(page)).to_have_value("Mary lost her keys. Again")
    sentence(page).fill("")
    page.get_by_text(NO_SENTENCE).wait_for()
    sentence(page).fill("Back again.")
    (layer, head), *_ = json.loads((ROOT / "assets" / "examples" / "attention.json").read_text("utf-8"))[0]["heads"]
    expect(said(page)).to_contain_text(f"Layer {layer}, head {head}.")


def test_wall_and_keys_and_boxes_choose_the_same_heads(view_at):
    page = view_at("/attention")
    head(page, 1, 8).click()
    expect(said(page)).to_contain_text("Layer 1, head 8.")
    linked(page, "heads=1-8")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(said(page)).to_contain_text("Layer 2, head 7.")
    linked(page, "heads=2-7")
    head(page, 1, 8).click(modifiers=["Shift"])
    expect(said(page)).to_contain_text("Mean of 2 heads.")
    linked(page, "heads=2-7_1-8")
    page.get_by_role("combobox", name="Head shown").fill("Layer 1, head 8")
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("Layer 1, head 8.")
    expect(page.get_by_role("gridcell", selected=True)).to_have_count(1)
    expect(head(page, 1, 8)).to_have_attribute("aria-selected", "true")
    head(page, 2, 7).click()
    expect(said(page)).to_contain_text("Layer 2, head 7.")
    linked(page, "heads=2-7")  # the page has answered, too: until then it would put its own head into the box
    page.get_by_role("combobox", name="Head shown").fill("Layer 1, head 8")
    page.keyboard.press("Enter")
    expect(head(page, 1, 8)).to_have_attribute("aria-selected", "true")
    head(page, 2, 7).click()
    expect(said(page)).to_contain_text("Layer 2, head 7.")


def test_an_example_no_longer_describes_the_view_once_another_head_is_chosen(view_at):
    page = view_at("/attention")
    page.get_by_text("In layer 2, head 8:").wait_for()
    head(page, 1, 8).click()
    page.get_by_text(HINT_ELSEWHERE).wait_for()
    expect(said(page)).to_contain_text("Layer 1, head 8.")
    page.get_by_role("button", name="Show that view").click()
    expect(said(page)).to_contain_text("Layer 2, head 8.")
    expect(page.get_by_text(HINT_ELSEWHERE)).to_have_count(0)
    page.get_by_role("button", name=texts.SWITCH_OFF_HEAD.format(layer=2, head=8)).click()
    page.get_by_text(HINT_ELSEWHERE).wait_for()


def test_a_clicked_token_is_focused_in_words_and_in_the_link_and_stays_through_the_options(view_at):
    page = view_at("/attention?text=pancake+with+an+old+arrow&heads=1-8")
    shape = shape_of(page)
    map_label(page).click(position={"x": shape["left"] + 5, "y": shape["top"] + 3.5 * shape["cell"]})
    expect(said(page)).to_contain_text("“##ke” gives")
    linked(page, "focus=4")
    page.get_by_text("Whole words", exact=True).click()
    expect(said(page)).to_contain_text("“pancake” gives")
    page.get_by_text("Hide special tokens").click()
    page.get_by_text(texts.SPECIAL_HIDDEN.partition("{")[0]).wait_for()
    expect(map_label(page)).to_have_attribute("data-shape", re.compile('"queries":5'))
    linked(page, "focus=4")
    page.get_by_role("button", name="Lines and colours").click()
    page.get_by_role("radio", name="Heatmap").or_(page.get_by_role("button", name="Heatmap")).first.click()
    expect(page.get_by_test_id("attention-lines")).to_be_hidden()
    linked(page, "show=heatmap&focus=4")


def test_a_link_brings_the_view_back_and_so_does_the_way_back(page_at):
    page = page_at(
        "/attention?text=What+is+your+name%3F&pair=My+name+is+Anna.&heads=2-8_4-5&words=1&hide=1&focus=8&lines=5&scale=greys"
    )
    words, address = said(page).inner_text(), page.url
    assert words.startswith(texts.MEAN_OF_HEADS.format(count=2))
    assert SHOWN_QUERY_ONE_KEY.partition(" {weight")[0].format(query="“My”") in words
    head(page, 1, 1).click()
    expect(said(page)).to_contain_text("Layer 1, head 1.")
    linked(page, "heads=1-1")
    page.go_back()
    expect(said(page)).to_have_text(words)
    page.reload()
    expect(said(page)).to_have_text(words)
    assert page.url == address
    page.get_by_role("button", name="Share this view").click()
    shared = page.get_by_test_id("stPopoverBody").locator("code").inner_text()
    assert shared.endswith(f"{address.partition('?')[2]}&{LEVEL}={ADVANCED}")
    expect(page.get_by_role("gridcell", selected=True)).to_have_count(2)


def test_on_a_phone_nothing_is_wider_than_the_screen_and_heads_are_as_large_as_a_finger_needs(view_at, axe, darken):
    page = view_at("/attention?text=The+old+man+bought+a+very+big+house+because+he+liked+it.&heads=2-6", width=390)
    assert no_wider_than_the_screen(page)
    expect(page.get_by_test_id("head-wall")).to_be_in_viewport(ratio=1)
    tops = [page.get_by_test_id("head-wall"), page.get_by_role("combobox", name="Head shown"), map_label(page)]
    assert sorted(tops, key=lambda part: part.bounding_box()["y"]) == tops
    box = head(page, 1, 1).bounding_box()
    assert min(box["width"], box["height"]) >= 24
    head(page, 3, 3).click()
    expect(said(page)).to_contain_text("Layer 3, head 3.")
    assert no_wider_than_the_screen(page)
    axe(page)
    darken(page)
    axe(page)


def test_no_barrier_is_found_with_everything_open_in_light_and_dark(view_at, settle, axe, darken):
    page = view_at("/attention?text=I+saw+%F0%9F%92%A5&heads=1-2_1-3&hide=1&focus=2&scale=nonsense")
    page.get_by_text(texts.WEIGHTS_TABLE).click()
    page.get_by_test_id("stDataFrame").first.wait_for()
    page.get_by_text(texts.TOKEN_TABLE).click()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
    settle(page)
    axe(page)
    darken(page)
    axe(page)


def test_hostile_text_is_only_text(view_at, settle):
    page = view_at(
        f"/attention?text={quote(HOSTILE)}&pair={quote(HOSTILE)}&heads={quote(HOSTILE)}&scale={quote(HOSTILE)}&focus=2"
    )
    expect(said(page)).to_contain_text("gives")
    expect(sentence(page)).to_have_value(HOSTILE)
    page.get_by_text(unknown_parameters("heads", "scale")).wait_for()
    page.get_by_text(texts.WEIGHTS_TABLE).click()
    page.get_by_test_id("stDataFrame").wait_for()
    shape = shape_of(page)
    map_label(page).hover(position={"x": shape["left"] + 2.5 * shape["cell"], "y": shape["top"] + 2.5 * shape["cell"]})
    settle(page)
    assert page.locator("img[src='x']").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_a_text_beyond_the_budget_is_kept_and_told(page_at):
    page = page_at("/attention")
    long = "word " * 2000
    sentence(page).fill(long)
    page.get_by_text("2,002 of 128 tokens").wait_for()
    page.get_by_text("shorten it by 1,874 tokens").wait_for()
    expect(sentence(page)).to_have_value(long)
    page.get_by_role("button", name="Share this view").click()
    page.get_by_text(TOO_LONG_TO_SHARE).wait_for()


def test_a_counter_example_brings_its_sentence_and_hint_with_the_same_head_in_view(page_at):
    page, counter = page_at("/attention"), FIRST.counters[0]
    page.get_by_role("radio", name=counter.title, exact=True).click()
    expect(sentence(page)).to_have_value(counter.text)
    expect(page.get_by_test_id("stMarkdown").filter(has_text=counter.notice)).to_be_visible()
    expect(said(page)).to_contain_text(controls.head_name(FIRST.heads[0]))
    expect(said(page)).to_contain_text("“her” gives 0.55")
    page.get_by_role("radio", name=FIRST.title, exact=True).click()
    expect(sentence(page)).to_have_value(FIRST.text)
    expect(page.get_by_test_id("stMarkdown").filter(has_text=FIRST.notice)).to_be_visible()


@pytest.mark.parametrize("path", ["/attention", "/fill_mask"])
def test_on_a_tablet_every_head_of_a_layer_stands_beside_the_map(view_at, path: str):
    page = view_at(path, width=794)
    last = page.get_by_test_id("head-wall").get_by_role("gridcell").nth(7)  # the embedded model has eight heads a layer
    stage = page.locator('[class*="_stage"]').first.bounding_box()
    head = last.bounding_box()
    assert head["x"] + head["width"] <= stage["x"]
