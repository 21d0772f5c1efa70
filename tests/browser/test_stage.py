"""The stage of Attention: it looks without a server, sends nothing for it, paints at once, and stands where a reader sees it."""

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

KEYS = "Mary lost her keys."
PANCAKES = "A pancake and Mary's unbelievable keys."
LONG = "The old man and his young wife sat down by the river. " * 9


def said(page: Page) -> Locator:
    """The sentence under the picture."""
    return page.get_by_test_id("stage-said")


def arrived(page: Page, path: str) -> Page:
    page.goto(path)
    expect(said(page)).not_to_be_empty()
    return page


def press(page: Page, name: str) -> None:
    """Press a button of the toolbar, which a narrow screen folds into the menu at its end."""
    button = page.get_by_role("button", name=name, exact=True)
    if not button.is_visible():
        page.get_by_role("button", name=browser_texts.MORE).click()
    button.click()


def test_looking_works_with_the_server_gone(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        arrived(page, f"{url}/attention?text={quote_plus(PANCAKES)}&heads=2-8&focus=4")
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    page.get_by_role("gridcell", name="Layer 1, head 8", exact=True).click()
    expect(said(page)).to_contain_text("Layer 1, head 8.")
    press(page, browser_texts.CONTROLS["headAfter"])
    expect(said(page)).to_contain_text("Layer 2, head 1.")
    page.get_by_role("gridcell", name="Layer 2, head 8", exact=True).click(modifiers=["Shift"])
    expect(said(page)).to_contain_text("Mean of 2 heads.")
    page.get_by_role("group", name=re.compile("^Heatmap")).press("ArrowUp")
    expect(said(page)).to_contain_text("“pan”")
    press(page, browser_texts.CONTROLS["words"])
    expect(said(page)).to_contain_text("“pancake”")
    press(page, browser_texts.CONTROLS["hide"])
    expect(said(page)).to_contain_text("Of its attention to the words shown")
    press(page, browser_texts.CONTROLS["view"])
    heat = page.get_by_test_id("attention-heatmap")
    before = heat.evaluate("canvas => canvas.toDataURL()")
    page.get_by_label(browser_texts.CONTROLS["scale"]).select_option("viridis")
    assert heat.evaluate("canvas => canvas.toDataURL()") != before
    page.get_by_role("button", name=browser_texts.CONTROLS["shows"]["lines"], exact=True).click()
    expect(heat).to_be_hidden()
    expect(page.get_by_test_id("attention-lines")).to_be_visible()
    page.keyboard.press("Escape")
    press(page, browser_texts.EXPORT["menu"])
    drawn = ElementTree.parse(saved(page, browser_texts.EXPORT["svg"]))
    written = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "pancake" in written
    assert saved(page, browser_texts.EXPORT["png"]).read_bytes().startswith(b"\x89PNG")
    assert "1 A,2 pancake" in saved(page, browser_texts.EXPORT["csv"]).read_text("utf-8")
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("heads=2-1_2-8.*words=1.*hide=1.*show=lines.*scale=viridis"))
    page.close()


def test_zooming_works_with_the_server_gone_in_what_is_loaded(profile: BrowserContext, start_server: Callable):
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        layers = set()
        page.on("requestfinished", lambda request: "/stage-run/" in request.url and layers.add(request.url[-1]))
        arrived(page, f"{url}/attention?text={quote_plus(LONG)}&heads=2-8")
        page.wait_for_function(
            "() => performance.getEntriesByType('resource').filter(one => /stage-run/.test(one.name)).length === 5"
        )
        page.wait_for_timeout(500)
    page.keyboard.press("Escape")
    assert layers == set("02345")  # the layer that is seen came with the page's answer
    page.get_by_role("gridcell", name="Layer 6, head 2", exact=True).click()
    expect(said(page)).to_contain_text("Layer 6, head 2.")
    heat = page.get_by_test_id("attention-heatmap")
    cell = float(re.search(r'"cell":([\d.]+)', heat.get_attribute("data-shape"))[1])
    press(page, browser_texts.CONTROLS["zoomIn"])
    expect(heat).not_to_have_attribute("data-shape", re.compile(f'"cell":{cell}\\b'))
    page.close()


def test_another_head_sends_nothing(page_at: Callable[..., Page]):
    sent = []
    page = page_at(
        f"/attention?text={quote_plus(KEYS)}",
        prepare=lambda page: page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame))),
    )
    expect(said(page)).not_to_be_empty()
    page.wait_for_timeout(1500)  # the browser has told of its state by then
    requests, before = [], len(sent)
    page.on("request", lambda request: requests.append(request.url))
    for layer, head in ((1, 8), (6, 1), (3, 3)):
        page.get_by_role("gridcell", name=f"Layer {layer}, head {head}", exact=True).click()
        expect(said(page)).to_contain_text(f"Layer {layer}, head {head}.")
    page.wait_for_url(re.compile("heads=3-3"))
    page.wait_for_timeout(500)
    assert (requests, len(sent) - before) == ([], 0)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844), (1920, 1080)])
def test_the_picture_comes_first(page_at: Callable[..., Page], width: int, height: int):
    page = page_at("/attention", width=width)
    page.set_viewport_size({"width": width, "height": height})
    expect(said(page)).not_to_be_empty()
    page.wait_for_timeout(300)
    box = page.get_by_test_id("stage").bounding_box()
    seen = min(height, box["y"] + box["height"]) - box["y"]
    if width == 390:
        assert box["y"] <= 520
        assert box["height"] >= 300
    else:
        assert box["height"] >= 560
        assert seen >= 0.6 * box["height"]
    screens = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") / height
    assert width != 1280 or screens <= 2.5
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width == 1920:
        longest = page.evaluate(LONGEST_LINE)
        assert longest <= 90


LONGEST_LINE = """() => {
  const lines = []
  const prose = [...document.querySelectorAll('[data-testid=stMain] [data-testid=stMarkdownContainer] p')]
  const stage = document.querySelector('.st-key-attention_stage [data-mounted]').shadowRoot
  for (const paragraph of [...prose, ...stage.querySelectorAll('.said, .quiet-text')]) {
    if (!paragraph.checkVisibility()) continue
    const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT)
    const counts = new Map()
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (let index = 0; index < node.length; index += 1) {
        const range = document.createRange()
        range.setStart(node, index)
        range.setEnd(node, index + 1)
        const top = Math.round(range.getBoundingClientRect().bottom)
        counts.set(top, (counts.get(top) ?? 0) + 1)
      }
    }
    lines.push(...counts.values())
  }
  return Math.max(...lines)
}"""


def test_a_web_page_of_the_view_works_from_a_file(page_at: Callable[..., Page], tmp_path: Path):
    page = page_at(f"/attention?text={quote_plus('<img src=x onerror=alert(1)> Mary lost her keys.')}&heads=2-8")
    expect(said(page)).not_to_be_empty()
    press(page, browser_texts.EXPORT["menu"])
    file = tmp_path / "view.html"
    file.write_bytes(saved(page, browser_texts.EXPORT["webPage"]).read_bytes())
    alone, wrong = page.context.new_page(), []
    alone.on("pageerror", lambda error: wrong.append(str(error)))
    alone.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    alone.on("request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or wrong.append(request.url))
    alone.goto(file.as_uri())
    expect(said(alone)).to_contain_text("Layer 2, head 8.")
    alone.get_by_role("gridcell", name="Layer 4, head 2", exact=True).click()
    expect(said(alone)).to_contain_text("Layer 4, head 2.")
    assert wrong == []
    alone.close()


NOTE_PRINTED = """() => {
  const isFrame = (node) => node instanceof HTMLIFrameElement && node.srcdoc
  window.printed = new Promise((done) => new MutationObserver((changes) => {
    const frame = changes.flatMap(({ addedNodes }) => [...addedNodes]).find(isFrame)
    if (frame) done(frame.srcdoc)
  }).observe(document.body, { childList: true }))
}"""


def test_what_is_printed_is_one_page_of_the_size_of_the_picture(page_at: Callable[..., Page], tmp_path: Path):
    page = page_at(f"/attention?text={quote_plus('Привет, Mary — 日本語 שלום')}&heads=2-8")
    expect(said(page)).not_to_be_empty()
    press(page, browser_texts.EXPORT["menu"])
    page.evaluate(NOTE_PRINTED)
    page.get_by_role("button", name=browser_texts.EXPORT["pdf"], exact=True).click()
    written = page.evaluate("window.printed")
    paper = page.context.new_page()
    paper.set_content(written)
    pdf = paper.pdf(prefer_css_page_size=True)
    paper.close()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    assert b"/FontFile" in pdf
    size = [float(number) for number in re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf).groups()]
    assert size[0] == pytest.approx(174 / 25.4 * 72, abs=2)
