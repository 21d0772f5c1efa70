"""The stage of pictures, on Positions: it looks without a server, sends nothing for it, and stands where a reader sees it."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from pages.positions import texts as positions
from pages.ui.stage import browser_texts
from tests.support.seen import choose_head, dismiss_lost_connection
from tests.support.serving import ROOT

ALIBI = "/positions?part=ways&scheme=alibi&length=9"


def stage(page: Page) -> Locator:
    """The pictures with their toolbar."""
    return page.get_by_test_id("stage")


def charts(page: Page) -> Locator:
    """The charts that are shown."""
    return stage(page).get_by_test_id("chart")


def press(page: Page, name: str) -> None:
    stage(page).get_by_role("button", name=name, exact=True).click()


def read(page: Page, number: int = 0) -> str:
    """What is read out of a chart."""
    return charts(page).nth(number).get_by_test_id("spot-readout").inner_text()


def arrived(page: Page, path: str) -> Page:
    page.goto(path)
    expect(charts(page).first).to_be_visible()
    return page


def saved(page: Page, name: str) -> Path:
    with page.expect_download() as download:
        press(page, name)
    return Path(download.value.path())


def looked_around(page: Page) -> None:
    """Look at every view of an encoding, and read numbers out by keyboard."""
    press(page, positions.VIEWS["effect"])
    expect(charts(page)).to_have_count(2)
    scores = charts(page).first.get_by_role("group")
    scores.press("ArrowDown")
    scores.press("ArrowRight")
    scores.press("ArrowRight")
    assert re.fullmatch(r"position 0 attends to position 2\n+Scores minus their mean\s+\S+\s+Weights\s+0\.\d+", read(page))
    expect(charts(page).nth(1).locator(".spot:not(.line-mark)")).to_be_visible()
    scores.press("Escape")
    expect(charts(page).nth(1).locator(".spot:not(.line-mark)")).to_be_hidden()
    press(page, positions.VIEWS["waves"])
    expect(charts(page)).to_have_count(1)
    charts(page).get_by_role("group").press("End")
    assert re.match(r"distance 8\n+head 1\s+−4\.00\n", read(page))
    press(page, positions.VIEWS["similarity"])
    expect(charts(page).first).to_contain_text("by distance: ")


def test_looking_works_with_the_server_gone(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        arrived(page, f"{url}{ALIBI}")
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    looked_around(page)
    press(page, browser_texts.EXPORT["menu"])
    drawn = ElementTree.parse(saved(page, browser_texts.EXPORT["svg"]))
    written = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {positions.SCORE_TITLE, "−8"} <= {*written}
    assert saved(page, browser_texts.EXPORT["png"]).read_bytes().startswith(b"\x89PNG")
    assert f"{positions.SCORE_TITLE},{positions.MEAN},-8," in saved(page, browser_texts.PICTURES["csv"]).read_text("utf-8")
    page.wait_for_url(re.compile("look=similarity"))
    page.close()


def test_looking_sends_nothing_and_another_encoding_is_computed(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        ALIBI, prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    )
    expect(charts(page).first).to_be_visible()
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    looked_around(page)
    page.wait_for_url(re.compile("look=similarity"))
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)
    press(page, "Rotary")
    expect(stage(page)).to_have_attribute("data-run", re.compile('"scheme":"rotary"'))
    page.wait_for_url(re.compile("scheme=rotary.*look=similarity"))


def test_another_head_over_many_sentences_sends_nothing_and_a_sentence_of_its_own_is_opened_in_this_visit(
    page_at: Callable[..., Page],
):
    sent = []
    page = page_at(
        "/many_sentences",
        prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame))),
    )
    expect(charts(page).first).to_be_visible()
    page.wait_for_timeout(1500)
    before = len(sent)
    choose_head(page, 2, 3)
    press(page, "Spread")
    expect(stage(page).get_by_test_id("listing")).to_contain_text("Layer 2, head 3 and its")
    page.wait_for_url(re.compile("colour=spread&heads=2-3"))
    page.wait_for_timeout(500)
    assert len(sent) == before
    stage(page).get_by_role("link").first.click()
    page.wait_for_url(re.compile("/attention.*heads=2-3"))
    expect(page.get_by_test_id("attention-strongest")).to_be_attached()


def test_what_is_no_list_of_dimensions_is_explained_and_kept_and_computes_nothing(page_at: Callable[..., Page]):
    page = page_at("/positions?part=ways&look=waves&width=20")
    box = stage(page).get_by_role("textbox", name=positions.DIMENSIONS)
    expect(box).to_have_value("0 8 16")
    for written in ("20", "1 1", "0 1 2 3 4 5 6 7 8", "³"):
        box.fill(written)
        expect(stage(page).get_by_role("alert").filter(has_text="0 to 19")).to_be_visible()
        assert box.input_value() == written
    box.fill("7, 2 19")
    page.wait_for_url(re.compile("dims=7-2-19"))
    expect(charts(page).get_by_role("img", name="dimension 7, dimension 2, dimension 19")).to_be_visible()
    assert box.input_value() == "7, 2 19"


def test_a_page_saved_from_the_stage_works_without_a_server(page_at: Callable[..., Page], tmp_path: Path):
    page = page_at(ALIBI)
    expect(charts(page).first).to_be_visible()
    press(page, browser_texts.EXPORT["menu"])
    file = tmp_path / "pictures.html"
    file.write_bytes(saved(page, browser_texts.EXPORT["webPage"]).read_bytes())
    kept = page.context.new_page()
    kept.goto(file.as_uri())
    looked_around(kept)
    expect(stage(kept).get_by_role("button", name="Rotary")).to_be_disabled()
    kept.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (1920, 1080)])
@pytest.mark.parametrize("path", ["/positions?level=advanced", "/positions?part=ways", "/many_sentences"])
def test_the_picture_comes_first(page_at: Callable[..., Page], path: str, width: int, height: int):
    page = page_at(path, width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(charts(page).first).to_be_visible()
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
