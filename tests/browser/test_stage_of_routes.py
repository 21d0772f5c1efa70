"""The stage of routes: arcs by keyboard and click, cuts and their undoing, layer by layer, and looking without a server."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote_plus

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from pages.ui.stage import browser_texts
from tests.support.seen import dismiss_lost_connection
from tests.support.serving import ROOT
from tx_core.causal.cut_effects import CutEffects, cut_effects
from tx_core.engine import catalogue

KEY = "The key to the big old cabinets [MASK] on the table."


def stage(page: Page) -> Locator:
    return page.get_by_test_id("stage")


def said(page: Page) -> Locator:
    return page.get_by_test_id("stage-said")


def press(page: Page, name: str) -> None:
    """Press a button of the toolbar, which a narrow row folds into the menu at its end."""
    button = stage(page).get_by_role("button", name=name, exact=True)
    if not button.is_visible():
        stage(page).get_by_role("button", name=browser_texts.MORE).click()
    button.click()
    page.keyboard.press("Escape")


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


@pytest.fixture(scope="module")
def found() -> CutEffects:
    return cut_effects(catalogue.load(catalogue.DEFAULT), KEY)


def reached(found: CutEffects, least: float) -> int:
    """How many arcs are drawn: those into the blank, and into tokens that such an arc leads to."""
    tokens, counted = [found.place], 0
    for token in tokens:
        strong = np.argwhere(np.abs(np.nan_to_num(found.effect[:, token])) >= least)
        counted += len(strong)
        tokens += [key for key in dict.fromkeys(strong[:, 1].tolist()) if key not in tokens]
    return counted


def test_arcs_lead_from_the_blank_to_what_it_depends_on_and_can_be_cut_and_restored(page_at, found, axe):
    page = page_at(f"/?text={quote_plus(KEY)}&least=0.2")
    measured(page)
    expect(stage(page)).to_have_attribute("data-arcs", str(reached(found, 0.2)))
    picture = page.get_by_test_id("routes")
    picture.press("ArrowRight")
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
    axe(page)
    page.get_by_role("button", name=browser_texts.ROUTES["cut"]).click()
    expect(page).to_have_url(re.compile(f"changes=cut%7E{found.place + 1}-2%7E5"))
    expect(said(page)).to_contain_text("“is” stays first, with 40.2\u00a0%; it had 66.7\u00a0%.")
    measured(page)
    cut = said(page).inner_text()
    page.reload()
    expect(said(page)).to_have_text(cut)
    page.get_by_role("button", name=re.compile("^Undo")).click()
    expect(page).not_to_have_url(re.compile("changes="))
    stage(page).get_by_role("button", name="old", exact=True).click()
    expect(page).to_have_url(re.compile(re.escape(quote_plus("big [MASK] cabinets is on"))))
    measured(page)


@pytest.mark.ci
def test_it_looks_without_a_server(profile: BrowserContext, start_server: Callable, found):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        page.goto(f"{url}/?text={quote_plus(KEY)}&least=0.1&level=advanced")
        measured(page)
        press(page, browser_texts.ROUTES["byOptions"]["mixed"])
        expect(stage(page)).not_to_have_attribute("data-arcs", "0")  # keys walk arcs only once they have come
        page.get_by_test_id("routes").press("Home")
        expect(said(page)).to_contain_text("of what enters the blank comes from")
        press(page, browser_texts.ROUTES["byOptions"]["effect"])
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    stage(page).get_by_label(browser_texts.ROUTES["least"]).select_option("0.5")
    expect(stage(page)).to_have_attribute("data-arcs", str(reached(found, 0.1) - _between(found, 0.1, 0.5)))
    press(page, browser_texts.ROUTES["byOptions"]["mixed"])
    expect(said(page)).to_contain_text("attention is not an explanation")
    page.get_by_test_id("routes").press("Home")
    expect(said(page)).to_contain_text("of what enters the blank comes from")
    press(page, browser_texts.ROUTES["byOptions"]["effect"])
    page.get_by_test_id("routes").press("ArrowDown")
    page.get_by_role("button", name=browser_texts.ROUTES["stepDown"]).click()
    expect(stage(page)).to_have_attribute("data-layer", "4")
    expect(said(page)).to_contain_text("Layer 4: “")
    page.get_by_role("button", name=browser_texts.ROUTES["play"], exact=True).click()
    expect(stage(page)).to_have_attribute("data-layer", "")
    page.get_by_role("button", name=re.compile(browser_texts.EXPORT["menu"])).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=browser_texts.EXPORT["svg"], exact=True).click()
    drawn = ElementTree.parse(Path(download.value.path()))
    written = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"key", "table", "is"} <= set(written)
    page.close()


def _between(found: CutEffects, least: float, most: float) -> int:
    """How many of the arcs that are measured from one effect on are weaker than another."""
    tokens, weak = [found.place], 0
    for token in tokens:
        effects = np.abs(np.nan_to_num(found.effect[:, token]))
        weak += int(((effects >= least) & (effects < most)).sum())
        tokens += [key for key in dict.fromkeys(np.argwhere(effects >= least)[:, 1].tolist()) if key not in tokens]
    return weak


@pytest.mark.ci
def test_fill_the_blank_shows_the_same_picture_and_a_cut_moves_it(page_at, found):
    page = page_at(f"/fill_mask?text={quote_plus(KEY)}")
    stage(page).get_by_role("button", name=browser_texts.ROUTES["showsOptions"]["routes"], exact=True).click()
    measured(page)
    expect(stage(page)).to_have_attribute("data-arcs", str(reached(found, 0.2)))
    page.get_by_test_id("routes").press("Home")
    page.keyboard.press("Enter")
    page.get_by_role("button", name=browser_texts.ROUTES["cut"]).click()
    expect(said(page).first).to_contain_text("“is” stays first, with 40.2\u00a0%; it had 66.7\u00a0%.")
    expect(page).to_have_url(re.compile(f"changes=cut%7E{found.place + 1}-2%7E5.*shows=routes"))


@pytest.mark.parametrize(("width", "height", "begins"), [(1280, 800, 280), (390, 844, 300)])
def test_the_picture_is_in_sight_on_arrival(page_at, width: int, height: int, begins: int):
    page = page_at("/", width=width, dark=width < 500)
    page.set_viewport_size({"width": width, "height": height})
    measured(page)
    box = page.get_by_test_id("routes").bounding_box()
    assert box["y"] <= begins
    assert min(height, box["y"] + box["height"]) - box["y"] >= 0.6 * box["height"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
