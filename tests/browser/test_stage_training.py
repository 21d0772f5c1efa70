"""The stage of a model that is trained: it opens on a trained one, looks at any moment of its training without a server."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from pages.encoder_decoder import texts as copy_texts
from pages.ui.stage import browser_texts
from pages.ui.stage import texts as stage_texts
from tests.support.seen import dismiss_lost_connection, saved
from tests.support.serving import ROOT
from tx_core.training.stored import stored_copy

PAGES = ("classifier?model=own", "encoder_decoder")
LAST = {"classifier?model=own": "After 480 of 480 batches", "encoder_decoder": "After 200 of 200 batches"}


def stage(page: Page) -> Locator:
    """The picture with its toolbar."""
    return page.get_by_test_id("stage")


def said(page: Page) -> Locator:
    """The picture in words."""
    return stage(page).get_by_test_id("stage-said")


def arrived(page: Page, path: str) -> Page:
    page.goto(path)
    expect(said(page)).not_to_be_empty()
    return page


def looked_around(page: Page) -> None:
    """Go through the training by button, slider and curve, and choose another kind of attention in the architecture."""
    press = lambda name: stage(page).get_by_role("button", name=name, exact=True).click()  # noqa: E731
    press(stage_texts.UNTRAINED_MOMENT)
    expect(said(page)).to_contain_text(f"{stage_texts.UNTRAINED_MOMENT}: 0 of 9")
    slider = stage(page).get_by_role("slider", name=stage_texts.MOMENTS)
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(said(page)).to_contain_text("After 10 of 200 batches: 0 of 9")
    written = next(record.probe.written for record in stored_copy().records if record.batch == 10)
    expect(stage(page).get_by_role("row").filter(has_text=copy_texts.OUTPUT).get_by_role("cell").first).to_have_text(
        str(written[0])
    )
    curve = stage(page).get_by_role("group", name=re.compile(f"^{copy_texts.LOSS_CURVE}"))
    curve.press("End")
    curve.press("Enter")
    expect(said(page)).to_contain_text(LAST["encoder_decoder"])
    expect(said(page)).to_contain_text("9 of 9")
    stage(page).get_by_role("button", name=copy_texts.BOXES["decoder"]).click()
    expect(stage(page).get_by_role("combobox", name=browser_texts.CONTROLS["stack"])).to_have_value("decoder")
    press(stage_texts.UNTRAINED_MOMENT)
    expect(said(page)).to_contain_text(stage_texts.UNTRAINED_MOMENT)


def test_looking_works_with_the_server_gone(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        arrived(page, f"{url}/encoder_decoder")
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    looked_around(page)
    page.get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    drawn = ElementTree.parse(saved(page, browser_texts.EXPORT["svg"]))
    assert "start → 84" in [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("kind=decoder&moment=0"))
    page.close()


def test_looking_sends_nothing_and_a_link_shows_the_moment(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        "/encoder_decoder?level=advanced",
        prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame))),
    )
    expect(said(page)).not_to_be_empty()
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    looked_around(page)
    page.wait_for_url(re.compile("kind=decoder&moment=0"))
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)
    page.reload()
    expect(said(page)).to_contain_text(stage_texts.UNTRAINED_MOMENT)


@pytest.mark.ci
def test_a_page_saved_from_the_stage_works_without_a_server(page_at: Callable[..., Page], tmp_path: Path):
    page = page_at("/encoder_decoder")
    expect(said(page)).not_to_be_empty()
    page.get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    file = tmp_path / "training.html"
    file.write_bytes(saved(page, browser_texts.EXPORT["webPage"]).read_bytes())
    kept = page.context.new_page()
    kept.goto(file.as_uri())
    expect(said(kept)).to_contain_text(LAST["encoder_decoder"])
    looked_around(kept)
    expect(kept.get_by_role("button", name=stage_texts.TRAIN, exact=True)).to_have_count(0)
    kept.close()


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_picture_comes_first_and_means_something(page_at: Callable[..., Page], path: str, width: int, height: int):
    page = page_at(f"/{path}", width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(said(page)).to_contain_text(LAST[path])
    page.wait_for_timeout(300)
    box = stage(page).bounding_box()
    seen = min(height, box["y"] + box["height"]) - box["y"]
    if width == 390:
        assert box["y"] <= 520
        assert box["height"] >= 300
        return
    assert box["height"] >= 560
    curve = stage(page).get_by_test_id("training").get_by_test_id("chart").first.bounding_box()
    map_ = stage(page).get_by_test_id("attention-heatmap").bounding_box()
    frame = stage(page).locator(".frame").bounding_box()
    assert seen >= 0.6 * frame["height"]
    assert curve["y"] + curve["height"] < height
    assert map_["y"] + 0.6 * map_["height"] < height
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollHeight") <= 2.5 * height
