"""The stage of Compare: it opens on the difference, looks without a server, sends nothing for it, and stands in sight."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from pages.compare import texts as own_texts
from pages.ui.stage import browser_texts
from tests.support.seen import dismiss_lost_connection, saved
from tests.support.serving import ROOT
from tx_core.engine import catalogue

LABELS = own_texts.PICTURE
TEXTS = ("time flies like an arrow", "a fruit flies like a banana")  # what is common stands at other places
FLIES = f"/compare?text={quote_plus(TEXTS[0])}&text_b={quote_plus(TEXTS[1])}&head=2-1&focus=5"
HEADS = f"/compare?text={quote_plus(TEXTS[0])}&vary=head&head=1-8&head_b=1-2"


def stage(page: Page) -> Locator:
    """The picture with its toolbar."""
    return page.get_by_test_id("stage")


def said(page: Page) -> Locator:
    """The sentence below the map."""
    return stage(page).get_by_test_id("stage-said")


def arrived(page: Page, path: str) -> Page:
    page.goto(path)
    expect(said(page)).not_to_be_empty()
    return page


def press(page: Page, name: str) -> None:
    stage(page).get_by_role("button", name=name, exact=True).click()


def weight_of(text: str, query: str, key: str, head: tuple[int, int] = (1, 0)) -> float:
    """What a word gives to another in a head, counted from 0."""
    stack = catalogue.load(catalogue.DEFAULT).trace(text).attention
    tokens = stack.query_tokens.tokens
    return float(stack.weights[head][tokens.index(query), tokens.index(key)])


def looked_around(page: Page) -> None:
    """Go through states, rows, heads and words, and see the sentence follow."""
    one, other = (weight_of(text, "flies", "like") for text in TEXTS)
    expect(said(page)).to_contain_text(f"“flies” gives {one:.2f} of its attention to “like” in A and {other:.2f} in B")
    bars = stage(page).get_by_test_id("attention-strongest").get_by_role("listitem")
    expect(bars.first).to_contain_text(re.compile(f"flies → like.*{one:.3f} → {other:.3f}"))
    for state, name in LABELS["states"].items():
        stage(page).get_by_role("group", name=LABELS["which"]).get_by_role("button", name=name, exact=True).click()
        expect(stage(page)).to_have_attribute("data-compared", state)
    press(page, LABELS["states"]["difference"])
    heatmap = stage(page).get_by_role("group", name=re.compile("heat", re.IGNORECASE)).first
    heatmap.press("ArrowUp")
    expect(stage(page).get_by_test_id("attention-readout")).to_contain_text(LABELS["alone"][1].format(token="B: fruit"))
    expect(said(page)).to_contain_text("“fruit”, the marked row, has no partner")
    heatmap.press("ArrowDown")
    press(page, browser_texts.CONTROLS["hide"])  # the row keeps its word
    expect(said(page)).to_contain_text("“flies”")
    press(page, browser_texts.CONTROLS["hide"])
    press(page, browser_texts.CONTROLS["words"])
    press(page, browser_texts.CONTROLS["words"])
    stage(page).get_by_role("gridcell", name=re.compile("^Layer 3, head 5")).click()
    expect(said(page)).to_contain_text("Layer 3, head 5.")
    stage(page).get_by_label(LABELS["word"], exact=True).select_option("like")
    expect(stage(page)).to_have_attribute("data-word", "like")


def test_looking_works_with_the_server_gone(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        arrived(page, f"{url}{FLIES}")
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    looked_around(page)
    press(page, browser_texts.EXPORT["menu"])
    drawn = ElementTree.parse(saved(page, browser_texts.EXPORT["svg"]))
    written = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"B − A", "A: time", "flies", LABELS["hatched"]} <= {*written}
    table = saved(page, browser_texts.EXPORT["csv"]).read_text("utf-8")
    number = weight_of(TEXTS[0], "flies", "like", (2, 4))
    assert re.search(rf"^\d flies,\d like,{number:.2f}", table, re.MULTILINE)
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("head=3-5.*focus=5.*word=4-5"))
    page.close()


def test_looking_sends_nothing(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        FLIES, prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    )
    expect(said(page)).not_to_be_empty()
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    looked_around(page)
    page.wait_for_url(re.compile("head=3-5"))
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)


def test_another_head_is_compared_and_exchanged_without_the_server(page_at: Callable[..., Page]):
    page = page_at(HEADS)
    expect(said(page)).to_contain_text("A: layer 1, head 8; B: layer 1, head 2.")
    page.wait_for_timeout(1500)  # the terms of the page are underlined by then
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    press(page, LABELS["swap"])
    expect(said(page)).to_contain_text("A: layer 1, head 2; B: layer 1, head 8.")
    stage(page).get_by_role("combobox", name="B Head").select_option(LABELS["mean"])
    expect(said(page)).to_contain_text("B: layer 1, mean of all heads.")
    page.wait_for_url(re.compile("head=1-2$"))
    press(page, LABELS["pin"])
    expect(said(page)).to_contain_text(own_texts.SAME_SIDES)
    assert sent == []


def test_what_is_chosen_to_differ_differs_and_the_sides_are_swapped_and_pinned(page_at: Callable[..., Page], axe):
    page = page_at(FLIES)
    expect(said(page)).not_to_be_empty()
    box = page.get_by_role("textbox", name=own_texts.SENTENCES["A"])
    press(page, LABELS["swap"])
    expect(box).to_have_value(TEXTS[1])
    expect(said(page)).to_contain_text("“")
    press(page, LABELS["pin"])
    expect(said(page)).to_contain_text(own_texts.SAME_SIDES)
    expect(box).to_have_value(TEXTS[0])
    for vary in ("head", "untrained", "changes"):
        page.get_by_role("combobox", name=own_texts.ASK_VARIES).fill(own_texts.VARIES[vary])
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(f"vary={vary}"))
        expect(said(page)).not_to_contain_text(own_texts.SAME_SIDES)
        expect(said(page)).to_contain_text("difference")
    axe(page)


def test_a_page_saved_from_the_stage_works_without_a_server(page_at: Callable[..., Page], tmp_path: Path):
    page = page_at(FLIES)
    expect(said(page)).not_to_be_empty()
    press(page, browser_texts.EXPORT["menu"])
    file = tmp_path / "comparison.html"
    file.write_bytes(saved(page, browser_texts.EXPORT["webPage"]).read_bytes())
    kept = page.context.new_page()
    kept.goto(file.as_uri())
    looked_around(kept)
    kept.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (1920, 1080)])
def test_the_picture_comes_first(page_at: Callable[..., Page], width: int, height: int):
    page = page_at("/compare", width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(said(page)).not_to_be_empty()
    page.wait_for_timeout(300)
    box = stage(page).locator(".frame").bounding_box()  # the words through the layers are a second picture
    seen = min(height, box["y"] + box["height"]) - box["y"]
    if width == 390:
        assert box["y"] <= 520
        assert box["height"] >= 300
    else:
        assert box["height"] >= 560
        assert seen >= 0.6 * box["height"]
        assert page.get_by_test_id("stMain").evaluate("main => main.scrollHeight") <= 2.5 * height
