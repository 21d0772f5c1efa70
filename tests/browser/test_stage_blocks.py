"""The stages of Heads and blocks and of BERT: the architecture leads to parts and blocks, and looking asks nobody."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from pages.bert import texts as bert_texts
from pages.heads_and_blocks import texts
from pages.ui.stage import browser_texts
from tests.support.seen import dismiss_lost_connection
from tests.support.serving import ROOT

BLOCKS = "/heads_and_blocks?text=A+cat+sat+on+the+%5BMASK%5D."
BERT = "/bert?text=A+cat+sat+on+the+%5BMASK%5D."


def stage(page: Page) -> Locator:
    """The picture with its toolbar."""
    return page.get_by_test_id("stage")


def box(page: Page, name: str) -> Locator:
    """A box or a block of the architecture."""
    return page.get_by_test_id("architecture").get_by_role("button", name=name, exact=True)


def step(page: Page, title: str) -> None:
    stage(page).get_by_role("button", name=re.compile(f": {title}$")).click()


def steps(page: Page) -> Locator:
    """The computation with its row of steps."""
    return page.get_by_test_id("matrix-steps")


def looked_around(page: Page) -> None:
    """Walk the steps of the heads and their cells, and see the sum follow."""
    step(page, texts.OUTPUT)
    expect(page.get_by_test_id("stage-sum")).to_contain_text("dimension ")
    stage(page).get_by_role("group", name=re.compile("^Output")).press("ArrowDown")
    expect(steps(page)).to_have_attribute("data-chosen", "output-3-1")
    step(page, texts.ADDS_TITLE)
    expect(page.get_by_test_id("matrix-lengths")).to_be_visible()


def compared_around(page: Page) -> None:
    """Look at both runs and what differs, at another block and at another head."""
    for state in ("before", "difference", "after"):
        stage(page).get_by_role("button", name=bert_texts.STATES["compare"][state], exact=True).click()
        expect(stage(page)).to_have_attribute("data-compared", state)
    box_named(page, re.compile("^Block 4")).click()
    expect(stage(page)).to_have_attribute("data-heads", "4-3")
    expect(page.get_by_test_id("architecture").get_by_role("img", name=re.compile("^Attention: "))).to_be_visible()
    expect(page.get_by_test_id("stage-said")).to_contain_text("10⁻")


def theirs(page: Page) -> Locator:
    """The state of the map that shows Hugging Face's, which is loaded in the background."""
    return page.get_by_role("button", name=bert_texts.STATES["compare"]["before"], exact=True)


def box_named(page: Page, name: re.Pattern) -> Locator:
    return page.get_by_test_id("architecture").get_by_role("button", name=name)


@pytest.mark.parametrize(("path", "look"), [(BLOCKS, looked_around), (BERT, compared_around)])
def test_looking_works_with_the_server_gone(profile: BrowserContext, start_server: Callable, path: str, look: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        page.goto(f"{url}{path}")
        ready = page.get_by_test_id("stage-sum") if look is looked_around else theirs(page)
        expect(ready).to_be_visible(timeout=60_000)
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    look(page)
    page.close()


def test_a_click_on_a_box_or_a_block_chooses_it_and_arrow_keys_walk_the_architecture(page_at: Callable[..., Page]):
    page = page_at(BLOCKS)
    box(page, texts.FEED_FORWARD).click()
    expect(box(page, texts.FEED_FORWARD)).to_have_attribute("aria-pressed", "true")
    page.wait_for_url(re.compile("part=feed.*cell=widened-4-2"))
    box(page, "Block 3").click()
    expect(box(page, "Block 3")).to_have_count(0)  # it is open now
    page.wait_for_url(re.compile("layer=3"))
    box(page, texts.FEED_FORWARD).focus()
    page.keyboard.press("ArrowRight")
    expect(box(page, browser_texts.RESIDUAL.format(part=texts.FEED_FORWARD))).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("part=depth"))
    box(page, texts.PATH_SAID).click()
    page.wait_for_url(re.compile("part=journey"))
    box(page, "Block 2").click()  # that part looks at no block: it gives way to one that does
    expect(box(page, texts.HEADS)).to_have_attribute("aria-pressed", "true")
    box(page, texts.PATH_SAID).click()
    stage(page).get_by_role("button", name="cat", exact=True).click()
    page.wait_for_url(re.compile("words=3-4-7-9"))
    page.reload()
    expect(stage(page).get_by_role("button", name="cat", exact=True)).to_have_attribute("aria-pressed", "true")


def test_looking_sends_nothing(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        BLOCKS, prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    )
    expect(page.get_by_test_id("stage-sum")).not_to_be_empty()
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    looked_around(page)
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)


@pytest.mark.parametrize(("path", "look"), [(BLOCKS, looked_around), (BERT, compared_around)])
def test_a_page_saved_from_the_stage_works_without_a_server(
    page_at: Callable[..., Page], tmp_path: Path, path: str, look: Callable
):
    page = page_at(path)
    if look is compared_around:
        expect(theirs(page)).to_be_visible(timeout=60_000)
    page.get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name=browser_texts.EXPORT["webPage"], exact=True).click()
    file = tmp_path / "block.html"
    file.write_bytes(Path(download.value.path()).read_bytes())
    kept = page.context.new_page()
    kept.goto(file.as_uri())
    look(kept)
    kept.close()


@pytest.mark.parametrize("path", ["/heads_and_blocks", "/bert"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (1920, 1080)])
def test_the_picture_comes_first(page_at: Callable[..., Page], path: str, width: int, height: int):
    page = page_at(path, width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(page.get_by_test_id("architecture")).to_be_visible()
    page.wait_for_timeout(300)
    found = stage(page).bounding_box()
    seen = min(height, found["y"] + found["height"]) - found["y"]
    if width == 390:
        assert found["y"] <= 520
        assert found["height"] >= 300
    else:
        assert found["height"] >= 560
        assert seen >= 0.6 * found["height"]
        assert page.get_by_test_id("stMain").evaluate("main => main.scrollHeight") <= 2.5 * height
