"""The start page: what a prediction depends on, drawn as arcs that can be cut, three doors, and the same picture at a blank."""

import re
from urllib.parse import quote_plus
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.start import texts
from pages.ui.shell.numbers import percent
from pages.ui.stage.browser_texts import EXPORT, ROUTES
from tests.browser.journeys.test_across_pages import on_page
from tests.browser.test_stages import reached
from tests.support.seen import answered, linked, press, said, saved, silent, stage, until, write
from tx_core.causal.cut_effects import cut_effects
from tx_core.engine import catalogue

ARCS = re.compile("/stage-arcs/.*query=")
KEY = "The key to the big old cabinets [MASK] on the table."


def test_the_start_page_shows_what_a_prediction_depends_on_and_opens_three_doors(arrive, for_everybody):
    page = arrive("/", cold=True)
    found = cut_effects(catalogue.load(catalogue.DEFAULT), texts.SENTENCE)
    expect(said(page)).to_be_visible()
    page.get_by_test_id("routes").press("ArrowRight")
    layer, _, key = np.unravel_index(found.effect.argmax(), found.effect.shape)
    expect(said(page)).to_contain_text(f"In layer {layer + 1} the blank looks at “{found.encoding.tokens[key]}”.")
    fall = f"falls from {percent(found.probability)} to {percent(found.after[layer, found.place, key])}."
    expect(said(page)).to_contain_text(fall)
    for door in texts.DOORS:
        page.get_by_text(door.promise).scroll_into_view_if_needed()
        frame = page.get_by_text(door.promise).bounding_box()
        page.mouse.click(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
        page.wait_for_url(re.compile(f"/{contents.page(door.page).address or door.page}"))
        answered(page)
        page.go_back()
        on_page(page, contents.HOME)
    for_everybody(page)


def measured(page: Page) -> None:
    """Wait until every arc is there that may be drawn."""
    expect(stage(page)).to_have_attribute("data-measured", "true")
    expect(stage(page)).to_have_attribute("data-arcs", re.compile("[1-9]"))


def click_arc(page: Page, name: str) -> None:
    """Click an arc, named by its layer, query and key, where nothing crosses it: the middle of its box lies beside it."""
    at = """path => {
        const {x, y} = path.getPointAtLength(path.getTotalLength() / 4).matrixTransform(path.getScreenCTM());
        return [x, y];
    }"""
    page.mouse.click(*page.locator(f"[data-arc='{name}'] .line").evaluate(at))


@pytest.mark.ci
def test_an_arc_is_chosen_cut_and_restored_and_fill_the_blank_draws_the_same(page_at, server, axe):
    found = cut_effects(catalogue.load(catalogue.DEFAULT), KEY)
    page = page_at(f"/?text={quote_plus(KEY)}&least=0.2&level=advanced", expect=("status of 503",))
    measured(page)
    expect(stage(page)).to_have_attribute("data-arcs", str(reached(found, 0.2)))
    page.get_by_test_id("routes").press("ArrowRight")
    expect(said(page)).to_contain_text(
        "In layer 5 the blank looks at “the”. Without this, “is” falls from 66.7\u00a0% to 40.2\u00a0%."
    )
    sentence = said(page).inner_text()
    page.keyboard.press("Escape")
    expect(said(page)).not_to_have_text(sentence)
    click_arc(page, f"4 {found.place} 1")
    page.mouse.move(5, 5)
    expect(said(page)).to_have_text(sentence)
    expect(page.get_by_role("button", name=re.compile("^Head "))).to_have_count(8)
    colours = page.locator(".route-legend i").evaluate_all("all => all.map(one => getComputedStyle(one).color)")
    halo = page.locator(".route-arc.active .halo").evaluate("one => getComputedStyle(one).stroke")
    assert colours and halo not in [*colours, "none"]  # what is chosen is not taken for an arc that is in the way
    axe(page)
    cut = re.compile(f"changes=cut%7E{found.place + 1}-2%7E5")
    change = "Without this look at “the” it still says “is”, with 40.2\u00a0% instead of 66.7\u00a0%."
    press(page, ROUTES["cut"])
    expect(page).to_have_url(cut)
    expect(said(page)).to_contain_text(change)
    expect(page.locator(".route-ghost")).to_have_count(1)
    measured(page)
    page.reload()
    expect(said(page)).to_contain_text(change)
    page.get_by_role("button", name=re.compile("^Undo")).click()
    expect(page).not_to_have_url(re.compile("changes="))
    press(page, "old")
    expect(page).to_have_url(re.compile(re.escape(quote_plus("big [MASK] cabinets is on"))))
    held, released = [], []
    page.goto(f"{server}/fill_mask?text={quote_plus(KEY)}")
    page.route(ARCS, lambda route: route.continue_() if released else held.append(route))
    with page.expect_request(ARCS):
        press(page, ROUTES["showsOptions"]["routes"])
    page.get_by_test_id("routes").press("Home")  # taken in once arcs have come
    released.append(True)
    for route in held:  # as where others have to be answered first
        route.fulfill(status=503, headers={"Retry-After": "1"})
    measured(page)
    expect(stage(page)).to_have_attribute("data-arcs", str(reached(found, 0.2)))
    page.keyboard.press("Enter")
    press(page, ROUTES["cut"])
    expect(said(page).first).to_contain_text(change)
    expect(page).to_have_url(cut)


@pytest.mark.ci
def test_a_hidden_word_is_struck_out_in_a_figure_too(page_at):
    page = page_at(f"/?text={quote_plus(KEY)}&changes=hide~3&least=0.2")
    measured(page)
    page.get_by_role("button", name=EXPORT["menu"], exact=True).click()
    drawn = list(ElementTree.parse(saved(page, EXPORT["svg"])).getroot().iter())
    assert [word.text for word in drawn if word.get("text-decoration") == "line-through"] == ["key"]


@pytest.mark.ci
def test_next_word_shows_what_its_prediction_loses_as_a_video_too(page_at):
    page = page_at("/next_word?text=Once+upon+a&shows=routes&least=0.1")
    measured(page)
    found = cut_effects(catalogue.load("writer"), "Once upon a")
    expect(stage(page)).to_have_attribute("data-arcs", str(reached(found, 0.1)))
    page.get_by_test_id("routes").press("Home")
    expect(said(page).filter(visible=True)).to_contain_text(f"“{found.word}”")
    page.get_by_role("button", name=EXPORT["menu"], exact=True).click()
    assert saved(page, EXPORT["film"]).read_bytes().startswith(b"\x1aE\xdf\xa3")  # of a WebM


WIDTH = "one => [one.dataset.arc, Number(one.querySelector('.line').getAttribute('stroke-width'))]"
"""The name of an arc, by layer, query and key, and its width in pixels."""


@pytest.mark.ci
def test_of_two_arcs_the_one_without_which_more_is_lost_is_wider_also_of_the_strongest(page_at):
    text = "The capital of Peru is [MASK]."
    page = page_at(f"/?text={quote_plus(text)}&least=0.2&level=advanced")
    measured(page)
    found, drawn = (
        cut_effects(catalogue.load(catalogue.DEFAULT), text),
        dict(page.locator(".route-arc").evaluate_all(f"all => all.map({WIDTH})")),
    )
    effects = {name: abs(found.effect[tuple(map(int, name.split()))]) for name in drawn}
    ranked = sorted(drawn, key=effects.get, reverse=True)
    assert effects[ranked[0]] > effects[ranked[1]] > 2.92  # both were as wide as an arc could be
    assert sorted(drawn, key=drawn.get, reverse=True) == ranked
    expect(page.locator(".route-legend")).to_contain_text(f"{effects[ranked[0]]:.1f} nats")
    with silent(page):
        page.get_by_role("button", name=re.compile("^Layer 3: “")).click()
        expect(stage(page)).to_have_attribute("data-layer", "3")
        expect(said(page)).to_have_text(re.compile("^Layer 3: “"))
        page.get_by_role("button", name=re.compile("^Layer 3: “")).press("Enter")
        expect(stage(page)).to_have_attribute("data-layer", "")


LONG = f"It rained{' and rained' * 25} while the cat saw a [MASK] in the garden"
IN_SIGHT = """node => {
    const [blank, frame] = [node.querySelector('.route-guess'), node.querySelector('.route-picture')];
    const [x, room] = [blank.getBoundingClientRect(), frame.getBoundingClientRect()];
    return x.left >= room.left && x.right <= room.right;
}"""


@pytest.mark.ci
def test_any_sentence_of_ones_own_has_a_picture_and_a_long_one_shows_its_blank(page_at):
    page = page_at("/")
    measured(page)
    write(page, "My dog eats bread", texts.ASK_SENTENCE)
    words = page.get_by_role("group", name=ROUTES["words"])
    expect(words.get_by_role("button", pressed=True)).to_have_text("[MASK]")
    expect(said(page)).to_contain_text("It fills the blank with")
    expect(words).to_contain_text("Click another word to blank it.")
    press(page, "bread")
    expect(page.get_by_role("textbox", name=texts.ASK_SENTENCE)).to_have_value("My dog eats [MASK]")
    words.get_by_role("button", name=ROUTES["endLeaveOut"]).click()
    linked(page, noend="1")
    words.get_by_role("button", name=ROUTES["endAdd"]).click()
    expect(page).not_to_have_url(re.compile("noend"))
    write(page, "?!", texts.ASK_SENTENCE)
    expect(page.get_by_text("The picture is still that of “My dog eats")).to_be_visible()
    expect(page.get_by_test_id("routes")).to_be_visible()
    write(page, "and " * 200, texts.ASK_SENTENCE)  # too long: what is not shown cannot scroll
    expect(page.get_by_test_id("routes")).to_be_hidden()
    write(page, LONG, texts.ASK_SENTENCE)
    expect(page.locator(".route-token")).to_have_count(len(catalogue.load(catalogue.DEFAULT).encode(f"{LONG}.")))
    expect(stage(page)).to_contain_text(re.compile(r"Measuring arcs: \d+ of \d+"))
    until(page, lambda: stage(page).evaluate(IN_SIGHT), "the blank in sight")
    scroll = page.locator(".route-picture").evaluate("node => { node.scrollLeft = 10_000; return node.scrollLeft }")
    page.set_viewport_size({"width": 1280, "height": 790})  # it is drawn again, and stays where the reader has it
    page.get_by_role("button", name=ROUTES["stepDown"]).click()
    assert page.locator(".route-picture").evaluate("node => node.scrollLeft") == scroll
