"""The stage of Summaries: heads, colours and tokens are looked at without a server; what was not sent is computed."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from pages.summaries import texts
from pages.ui.stage import browser_texts
from tests.browser.test_stage_pictures import charts, press, saved, stage
from tests.support.seen import choose_head, dismiss_lost_connection
from tests.support.serving import ROOT

LONG = "bird+" * 30


def looked_around(page: Page) -> None:
    """Choose heads and colours; each head is told in words."""
    choose_head(page, 2, 3)
    expect(stage(page)).to_contain_text("Layer 2, head 3")
    press(page, browser_texts.CONTROLS["headAfter"])
    expect(stage(page)).to_contain_text("Layer 2, head 4")
    stage(page).get_by_role("combobox", name=texts.COLOUR_BY).select_option(texts.COLOURS["entropy"])
    expect(stage(page)).to_contain_text(texts.KINDS_SUBJECTS["entropy"])


def test_heads_and_colours_are_looked_at_with_the_server_gone(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    with start_server(ROOT) as url:
        page.goto(f"{url}/summaries")
        expect(charts(page).first).to_be_visible()
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    looked_around(page)
    page.wait_for_url(re.compile("heads=2-4"))
    page.close()


def test_looking_at_heads_sends_nothing_and_a_layer_that_was_not_sent_is_computed(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        f"/summaries?part=values&level=advanced&text={LONG}",
        prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame))),
    )
    heads = stage(page).get_by_role("combobox", name=texts.HEAD_LIST)
    expect(heads).to_have_value("1-2")
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    before = len(sent)
    heads.select_option("1-5")
    expect(stage(page)).to_contain_text("Layer 1, head 5: the longest value")
    page.wait_for_timeout(500)
    assert len(sent) == before
    heads.select_option("4-1")
    expect(stage(page)).to_contain_text("Layer 4, head 1: the longest value")
    expect(stage(page)).to_contain_text("all heads of layer 4")
    page.wait_for_url(re.compile("heads=4-1"))


def test_a_page_saved_of_one_token_offers_no_other(page_at: Callable[..., Page], tmp_path):
    page = page_at("/summaries?part=layers&level=advanced")
    expect(charts(page)).to_have_count(3)
    press(page, browser_texts.EXPORT["menu"])
    file = tmp_path / "rollout.html"
    file.write_bytes(saved(page, browser_texts.EXPORT["webPage"]).read_bytes())
    kept = page.context.new_page()
    kept.goto(file.as_uri())
    expect(charts(kept)).to_have_count(3)
    expect(stage(kept).get_by_role("combobox", name=texts.ASK_QUERY)).to_be_disabled()
    kept.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
@pytest.mark.parametrize("part", ["glance", "layers", "lens"])
def test_the_picture_comes_first(page_at: Callable[..., Page], part: str, width: int, height: int):
    page = page_at(f"/summaries?level=advanced&part={part}", width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(charts(page).first).to_be_visible()
    page.wait_for_timeout(300)
    box = stage(page).bounding_box()
    if width == 390:
        assert box["y"] <= 520
    else:
        assert min(height, box["y"] + box["height"]) - box["y"] >= 0.6 * box["height"] >= 0.6 * 560
        assert page.get_by_test_id("stMain").evaluate("main => main.scrollHeight") <= 2.5 * height
