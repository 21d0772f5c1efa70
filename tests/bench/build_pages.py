"""How long a reader of the Build pages waits: from a click or a key to the changed picture, in real Chromium."""

from collections.abc import Callable, Iterator
from statistics import median
from typing import NamedTuple

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from tests.bench.browser import CHROMIUM, PICTURE, clicks, served
from tests.bench.table import Row
from tests.browser.conftest import find_browser

CHANGES = 15
LEFT_OUT = 3
"""The first changes warm everything up."""
MOST = 100

# From the trusted event of the click or the key to the end of the frame that shows the changed picture: a timer set while
# a frame is being made fires when that frame is done. Pictures are found before, and told of by the browser, so that
# watching costs next to nothing: whoever asks at every frame makes the browser draw one.
WATCH = """([target, mark]) => {
  const roots = [document, ...[...document.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean)]
  const pictures = roots.flatMap(root => [...root.querySelectorAll(target)])
  window.changed = new Promise(done => {
    const begin = event => {
      const watch = new MutationObserver(() => {
        watch.disconnect()
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - event.timeStamp)))
      })
      for (const picture of pictures) watch.observe(picture, { attributes: true, attributeFilter: [mark] })
    }
    for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, begin, { capture: true, once: true })
  })
}"""


class Change(NamedTuple):
    """One kind of change on a page: its address, how to make it again, and what tells that the picture changed."""

    what: str
    path: str
    make: Callable[[Page, int], None]
    target: str
    mark: str = "data-paints"


def click_cell(page: Page, number: int) -> None:
    """Choose another cell of the dot products, on the canvas that holds them."""
    canvas: Locator = page.get_by_test_id("matrix-matches").first
    cell, wide, top = (float(canvas.get_attribute(f"data-{what}")) for what in ("cell", "wide", "top"))
    canvas.click(position={"x": 3 + (number % 5 + 0.5) * wide, "y": top + (number % 4 + 0.5) * cell})


def paint_cell(page: Page, number: int) -> None:
    """Forbid or allow a pair of tokens on the mask."""
    page.locator(f"[data-row='{2 + number % 3}'][data-column='1']").click()


def switch(*names: str) -> Callable[[Page, int], None]:
    """Choose the next of the options by turns."""

    def make(page: Page, number: int) -> None:
        page.get_by_role("radio", name=names[number % len(names)], exact=True).first.click()

    return make


def choose_head(page: Page, number: int) -> None:
    """Choose another head on the wall of all heads."""
    page.locator(f"[data-layer='0'][data-head='{number % 3}']").first.click()


def press_button(*names: str) -> Callable[[Page, int], None]:
    """Press buttons of a stage by turns."""

    def make(page: Page, number: int) -> None:
        page.get_by_role("button", name=names[number % len(names)], exact=True).first.click()

    return make


STAGE, STEPS, MAP = (f"[data-testid={name}]" for name in ("stage", "matrix-row", "attention-map"))
CHANGED = (
    Change("self-attention: another cell", "/self_attention", click_cell, STAGE, "data-chosen"),
    Change("self-attention: numbers", "/self_attention", press_button("Numbers"), STAGE),
    Change("self-attention: sparse, soft", "/self_attention", press_button("Sparse", "Soft"), STAGE, "data-run"),
    Change("heads and blocks: another block", "/heads_and_blocks", press_button("Block 2", "Block 1"), STAGE, "data-run"),
    Change("masks: a cell painted", "/masks?part=one", paint_cell, STAGE),
    Change("masks: another head", "/masks?part=one", press_button("Next head", "Previous head"), STAGE, "data-run"),
    Change("positions: another view", "/positions?part=ways", press_button("Waves", "Map"), STAGE),
    Change("positions: another encoding", "/positions?part=ways", press_button("ALiBi", "Sinusoids"), STAGE, "data-run"),
    Change("BERT: another head", "/bert?part=random", press_button("Next head", "Previous head"), STAGE),
)


def times(page: Page, change: Change) -> Iterator[float]:
    """Make a change again and again; give milliseconds from the event to the picture."""
    page.locator(f"{change.target}[data-paints]").first.wait_for(timeout=60_000)
    page.wait_for_timeout(2000)
    for number in range(CHANGES):
        page.evaluate(WATCH, [change.target, change.mark])
        change.make(page, number)
        yield page.evaluate("window.changed")
        page.wait_for_timeout(300)


def page_rows(browser: Browser, url: str, nothing: float) -> Iterator[Row]:
    """Measure every change on a page of its own. nothing: milliseconds of a click that draws nothing."""
    for change in CHANGED:
        page = browser.new_page(viewport={"width": 1280, "height": 1200})
        page.goto(url + change.path)
        taken = median([*times(page, change)][LEFT_OUT:])
        page.close()
        told = f"{taken:.0f} ms (a click that draws nothing: {nothing:.0f} ms)"
        yield Row(f"{change.what}, to painted", told, f"{MOST} ms", taken <= MOST)


def empty_click(browser: Browser) -> float:
    """Measure what Streamlit and the browser take, in milliseconds, when nothing is drawn."""
    with served("tests/bench/apps/empty_click.py") as (url, _):
        page = browser.new_page(viewport={"width": 1280, "height": 1200})
        page.goto(url)
        page.wait_for_function(f"() => ({PICTURE})()")
        taken, _ = clicks(page, "button")
        page.close()
    return taken


def rows() -> list[Row]:
    """Measure everything of this file."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(CHROMIUM))
        try:
            nothing = empty_click(browser)
            with served("app.py") as (url, _):
                return [*page_rows(browser, url, nothing)]
        finally:
            browser.close()
