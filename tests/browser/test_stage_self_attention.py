"""The stage of Self-attention: it looks without a server, sends nothing for it, and stands where a reader sees it."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from pages.ui.stage import browser_texts
from tests.support.seen import dismiss_lost_connection, saved
from tests.support.serving import ROOT

BOOK = f"/self_attention?text={quote_plus('The boy read a very old book.')}&layer=2&head=6&cell=matches-5-8"


def stage(page: Page) -> Locator:
    """The picture with its toolbar."""
    return page.get_by_test_id("stage")


def summed(page: Page) -> Locator:
    """The sum behind the chosen cell."""
    return stage(page).get_by_test_id("stage-sum")


def arrived(page: Page, path: str) -> Page:
    page.goto(path)
    expect(summed(page)).not_to_be_empty()
    return page


def step(page: Page, title: str) -> None:
    stage(page).get_by_role("button", name=re.compile(f": {title}$")).click()


@pytest.mark.ci
def test_in_basic_the_reader_adds_the_products_and_what_is_mixed(page_at: Callable[..., Page]):
    page = page_at("/self_attention?text=Mary+lost+her+keys.&layer=2&head=8&cell=matches-4-2&level=basic")
    left = stage(page).get_by_role("group", name=browser_texts.MATRICES["add"])
    expect(summed(page)).to_have_text(browser_texts.MATRICES["addFirst"])
    expect(stage(page).get_by_role("button", name=browser_texts.MATRICES["allSteps"])).to_have_count(0)
    left.get_by_role("button").first.click()
    expect(summed(page)).to_contain_text(re.compile(r"dimension 3: 2\.14 × 2\.03 = 4\.34 so far"))
    left.get_by_role("button", name="all 31 that are left").click()
    expect(summed(page)).to_contain_text("= 24.75 ÷ √32 = 4.37")
    step(page, "Context")
    left.get_by_role("button").first.click()
    expect(summed(page)).to_contain_text("mary: ")


def looked_around(page: Page) -> None:
    """Walk steps, cells, numbers and dimensions, and see the sum follow."""
    step(page, "Scores")
    expect(stage(page)).to_have_attribute("data-chosen", "scores-5-8")
    expect(summed(page)).to_contain_text("÷ √32")
    step(page, "Weights")
    stage(page).get_by_role("group", name=re.compile("^Weights")).press("ArrowUp")
    expect(stage(page)).to_have_attribute("data-chosen", "weights-4-8")
    expect(stage(page).get_by_test_id("stage-said")).to_contain_text("“read” gives")
    step(page, "Context")
    expect(summed(page)).to_contain_text("book: ")
    step(page, "Vectors")
    expect(summed(page)).to_contain_text("dimension ")
    canvas = stage(page).get_by_test_id("matrix-query")
    before = canvas.evaluate("canvas => canvas.toDataURL()")
    stage(page).get_by_role("button", name=browser_texts.MATRICES["numbers"], exact=True).click()
    assert canvas.evaluate("canvas => canvas.toDataURL()") != before
    stage(page).get_by_role("button", name=browser_texts.MATRICES["allSteps"]).click()
    expect(stage(page).get_by_test_id("matrix-weights")).to_be_visible()
    expect(canvas).to_be_visible()
    step(page, "Dot products")


def test_looking_works_with_the_server_gone(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        arrived(page, f"{url}{BOOK}")
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    looked_around(page)
    page.get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    drawn = ElementTree.parse(saved(page, browser_texts.EXPORT["svg"]))
    written = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"book", "Dot products", "Query"} <= {*written}
    assert saved(page, browser_texts.EXPORT["png"]).read_bytes().startswith(b"\x89PNG")
    assert "Dot products,5 a,8 book," in saved(page, browser_texts.MATRICES["csv"]).read_text("utf-8")
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("numbers=1.*cell=matches-4-"))
    page.close()


def test_looking_sends_nothing(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        BOOK, prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    )
    expect(summed(page)).not_to_be_empty()
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    looked_around(page)
    page.wait_for_url(re.compile("numbers=1.*cell=matches-4-"))
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)


def test_the_cell_of_the_lookup_stands_in_the_same_address_and_is_found_again(page_at: Callable[..., Page]):
    page = page_at(f"{BOOK}&answer=weights-1-3")
    lookup = page.get_by_test_id("lookup")
    expect(lookup).to_have_attribute("data-chosen", "weights-1-3")
    lookup.get_by_role("group", name=re.compile("^Weights")).press("ArrowLeft")
    page.wait_for_url(re.compile("cell=matches-5-8&answer=weights-1-2"))
    page.reload()
    expect(lookup).to_have_attribute("data-chosen", "weights-1-2")


def test_a_page_saved_from_the_stage_works_without_a_server(page_at: Callable[..., Page], tmp_path: Path):
    page = page_at(BOOK)
    expect(summed(page)).not_to_be_empty()
    page.get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    file = tmp_path / "head.html"
    file.write_bytes(saved(page, browser_texts.EXPORT["webPage"]).read_bytes())
    kept = page.context.new_page()
    kept.goto(file.as_uri())
    expect(summed(kept)).to_contain_text("÷ √32")
    looked_around(kept)
    kept.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (1920, 1080)])
def test_the_picture_comes_first(page_at: Callable[..., Page], width: int, height: int):
    page = page_at("/self_attention", width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(summed(page)).not_to_be_empty()
    page.wait_for_timeout(300)
    box = stage(page).bounding_box()
    seen = min(height, box["y"] + box["height"]) - box["y"]
    if width == 390:
        assert box["y"] <= 520
        assert box["height"] >= 300
    else:
        assert box["height"] >= 560
        assert seen >= 0.6 * box["height"]
        assert page.get_by_test_id("stMain").evaluate("main => main.scrollHeight") <= 2.5 * height
