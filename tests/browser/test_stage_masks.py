"""The stage of Masks: a mask is painted without a server, nothing is sent for it, and it stands where a reader sees it."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from pages.masks import texts
from pages.ui.stage.browser_texts import CONTROLS, EXPORT, MATRICES, MORE
from tests.support.seen import dismiss_lost_connection, saved
from tests.support.serving import ROOT

CAT = "/masks?part=one&text=The+cat+sat+on+the+mat."


def stage(page: Page) -> Locator:
    """The picture with its toolbar."""
    return page.get_by_test_id("stage")


def may_look(page: Page, query: str, key: str) -> Locator:
    """The first cell of the mask with these names."""
    return stage(page).get_by_role("gridcell", name=texts.PICTURE["maySee"].format(query=query, key=key), exact=True).first


def arrived(page: Page, path: str) -> Page:
    page.goto(path)
    expect(stage(page).get_by_test_id("matrix-mask")).to_be_visible()
    return page


def allows(page: Page, pairs: int) -> None:
    expect(stage(page).get_by_text(texts.PICTURE["allowed"].format(allowed=pairs, pairs=81))).to_be_visible()


def export(page: Page) -> None:
    """Open the menu of files, which stands in the menu of what does not fit into the row where there is little room."""
    menu, more = (page.get_by_role("button", name=name, exact=True) for name in (EXPORT["menu"], MORE))
    if not menu.is_visible():
        more.click()
    menu.click()


def painted(page: Page) -> None:
    """Paint by pointer, stroke and keyboard, hide a row, and look at other masks and other states."""
    allows(page, 45)
    cell = may_look(page, "cat", "the")
    expect(cell).to_have_attribute("aria-selected", "true")
    cell.click()
    expect(cell).to_have_attribute("aria-selected", "false")
    allows(page, 44)
    expect(stage(page).get_by_test_id("stage-said")).to_have_text(texts.PICTURE["hidden"].format(query="cat", key="the"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    allows(page, 43)
    page.keyboard.press("Shift+ArrowDown")
    allows(page, 42)
    may_look(page, "mat", "the").hover()
    page.mouse.down()
    for key in ("cat", "sat", "on"):  # a stroke paints all that it crosses
        may_look(page, "mat", key).hover()
    page.mouse.up()
    allows(page, 38)
    stage(page).get_by_role("button", name=texts.PICTURE["wholeRow"].format(name="sat")).click()
    notes = stage(page).get_by_test_id("mask-notes")
    expect(notes).to_contain_text(texts.PICTURE["emptyRow"].format(token="sat", row=4))
    weights = stage(page).get_by_role("group", name=re.compile("^Weights after"))
    weights.press("Home")
    for _ in range(2):
        weights.press("ArrowDown")
    weights.press("ArrowRight")
    expect(stage(page).get_by_test_id("stage-sum")).to_have_text("hidden by the mask: 0")
    stage(page).get_by_role("combobox", name=texts.MASK, exact=True).select_option("window")
    expect(may_look(page, "cat", "sat")).to_have_attribute("aria-selected", "true")
    expect(may_look(page, "cat", "on")).to_have_attribute("aria-selected", "false")
    expect(notes).to_be_empty()
    for state in ("before", "difference", "all", "after"):
        stage(page).get_by_role("button", name=texts.STATES[state], exact=True).click()
    page.wait_for_url(re.compile("kind=window&mask=9-[^&]*&cell="))


def test_painting_works_with_the_server_gone(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        arrived(page, f"{url}{CAT}")
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    painted(page)
    export(page)
    drawn = ElementTree.parse(saved(page, EXPORT["svg"]))
    written = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"cat", texts.MATRIX_TITLES["mask"], texts.MATRIX_TITLES["weights"]} <= {*written}
    table = saved(page, MATRICES["csv"]).read_text("utf-8")
    assert f"{texts.MATRIX_TITLES['weights']},3 cat,6 the,0.000000" in table
    page.close()


def test_painting_sends_nothing(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        CAT, prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    )
    allows(page, 45)
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    painted(page)
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)


def test_a_painted_mask_stands_in_the_link_and_is_found_again_after_something_was_computed(page_at: Callable[..., Page]):
    page = page_at(CAT)
    may_look(page, "cat", "the").click()
    page.wait_for_url(re.compile("kind=painted&mask=9-"))
    page.get_by_role("button", name=CONTROLS["headAfter"], exact=True).click()
    page.wait_for_url(re.compile("head=2.*kind=painted&mask=9-"))
    expect(stage(page)).to_have_attribute("data-run", re.compile("2"))
    page.reload()
    expect(may_look(page, "cat", "the")).to_have_attribute("aria-selected", "false")
    allows(page, 44)


def test_a_finger_taps_and_a_mask_of_padding_brings_some(page_at: Callable[..., Page]):
    page = page_at(CAT, width=390)
    may_look(page, "cat", "the").dispatch_event("click")  # as a tap does, without a mouse before it
    allows(page, 44)
    stage(page).get_by_role("combobox", name=texts.MASK, exact=True).select_option("padding")
    page.wait_for_url(re.compile("padding=3.*kind=padding"))
    expect(may_look(page, "cat", "[PAD]")).to_have_attribute("aria-selected", "false")


def test_each_cell_of_a_long_sentence_is_painted_where_it_stands(page_at: Callable[..., Page]):
    page = page_at(f"/masks?part=one&text={'+'.join(['old'] * 27)}+man.")
    for row, column in ((2, 1), (30, 30)):
        cell = stage(page).locator(f"[data-row='{row}'][data-column='{column}']")
        cell.click()
        expect(cell).to_have_attribute("aria-selected", "false")


@pytest.mark.ci
def test_a_training_is_looked_at_at_any_moment_and_sends_nothing(page_at: Callable[..., Page]):
    page = page_at("/masks?part=why")
    loss = stage(page).get_by_role("group", name=re.compile(f"^{re.escape(texts.LOSSES)}"))
    expect(stage(page)).to_contain_text("After 100 of 100 batches")
    page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    stage(page).get_by_role("slider", name=texts.MOMENT).press("Home")
    expect(stage(page)).to_contain_text(texts.UNTRAINED_LOSS)
    loss.press("ArrowRight")
    loss.press("Enter")
    expect(stage(page)).to_contain_text("After 5 of 100 batches")
    expect(stage(page).get_by_role("slider", name=texts.MOMENT)).to_have_value("5")
    page.wait_for_url(re.compile("moment=5"))
    assert not sent


def test_a_smaller_penalty_leaks(page_at: Callable[..., Page]):
    page = page_at(CAT.replace("one", "penalty"))
    notes = stage(page).get_by_test_id("mask-notes")
    expect(notes).to_contain_text("Past −10,000, at most 0 of a row leaks")
    stage(page).get_by_role("combobox", name=texts.PENALTY, exact=True).select_option("-2")
    expect(notes).to_contain_text(re.compile(r"Past −2, at most 0\.\d{3} of a row leaks"))
    page.wait_for_url(re.compile("penalty=-2"))


def test_a_page_saved_from_the_stage_works_without_a_server(page_at: Callable[..., Page], tmp_path: Path):
    page = page_at(CAT)
    allows(page, 45)
    export(page)
    file = tmp_path / "mask.html"
    file.write_bytes(saved(page, EXPORT["webPage"]).read_bytes())
    kept = page.context.new_page()
    kept.goto(file.as_uri())
    may_look(kept, "cat", "the").click()
    allows(kept, 44)
    kept.close()


@pytest.mark.parametrize("part", ["one", "penalty", "batch", "run", pytest.param("why", marks=pytest.mark.ci)])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (1920, 1080)])
def test_the_picture_comes_first(page_at: Callable[..., Page], width: int, height: int, part: str):
    page = page_at(f"/masks?part={part}", width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(stage(page).get_by_role("button", name=texts.PARTS[part], exact=True)).to_have_attribute("aria-pressed", "true")
    page.wait_for_timeout(500)
    box = stage(page).bounding_box()
    seen = min(height, box["y"] + box["height"]) - box["y"]
    assert box["height"] >= 300
    if width == 390:
        assert box["y"] <= 520
        return
    if part in ("one", "penalty"):  # two rows of cells and eight bars need less
        assert box["height"] >= 560
    assert seen >= 0.6 * box["height"]
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollHeight") <= 2.5 * height
