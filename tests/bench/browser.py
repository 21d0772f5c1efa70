"""What a visitor waits for, in real Chromium: the start, a click on a head, and the bytes that travel."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from pages.contents import PAGES
from tests.bench.table import Row
from tests.bench.visitors import ready_server
from tests.browser.conftest import find_browser
from tests.support.serving import ROOT, fetch, serving, wait_until
from tx_core.engine import catalogue

CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
TEXT = "the+man+saw+the+dog+in+the+house+and+the+woman+was+in+the+water+with+a+good+friend+" * 7
LONG = "+".join(TEXT.split("+")[:126])
CLICKS = 25
TITLE, MAP = "h1", "[data-testid=stage][data-paints]"

# Looked at in every frame: a locator looks six times within 0.3 s, and then every half second only.
SEEN = """(name) => {
  const drawings = [...document.querySelectorAll('[data-mounted]')].map((box) => box.shadowRoot).filter(Boolean)
  const element = [document, ...drawings].map((root) => root.querySelector(name)).find(Boolean)
  const isShown = element?.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  return isShown && element.getBoundingClientRect().height > 0
}"""

# What changes when the picture does; Streamlit mounts a component in a shadow root. Roots are looked up once a click, so
# that watching costs next to nothing; a click is over at the end of the frame that shows the change: a timer set while a
# frame is being made fires when that frame is done.
PICTURE = """() => {
  const shadows = () => [...document.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean)
  const roots = window.roots ?? [document, ...shadows()]
  const find = name => roots.map(root => root.querySelector(name)).find(Boolean)
  return find('[data-testid=stage]')?.dataset.paints
}"""
CLICK = (
    """async ([layer, head]) => {
  const shadows = [...document.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean)
  const roots = window.roots = [document, ...shadows]
  const picture = """
    + PICTURE
    + """
  const before = picture()
  const target = roots.map(root => root.querySelector(`[data-row="${layer}"][data-column="${head}"]`)).find(Boolean)
  const start = performance.now()
  target.click()
  return new Promise(done => {
    const look = () => [before, null, undefined].includes(picture()) ? requestAnimationFrame(look)
      : setTimeout(() => done(performance.now() - start))
    requestAnimationFrame(look)
  })
}"""
)


@contextmanager
def served(script: str) -> Iterator[tuple[str, float]]:
    """Serve a script with the project's settings; give its address and the moment at which it was started."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, serving(ROOT, Path(folder) / "log", script=script) as url:
        yield url, started


def start_rows(browser: Browser, rounds: int = 5) -> list[Row]:
    """Time from starting a server to the title and to the first heatmap, and of a visit to it once it has warmed up.

    Each time is compared with that to the title of an app of nothing else, started and visited in the same round.
    """
    times: dict[str, list[float]] = {"title": [], "map": [], "warm map": []}
    for _ in range(rounds):
        with served("tests/bench/apps/title.py") as (url, started):
            reference = visit(browser, url, started, TITLE)
            warm_reference = visit(browser, url, time.perf_counter(), TITLE)
        with served("app.py") as (url, started):
            for name, moment in zip(("title", "map"), visit(browser, f"{url}/attention", started, TITLE, MAP), strict=True):
                times[name].append(moment - reference[0])
            wait_until(lambda url=url: fetch(f"{url}/api/ready")[0] == 200, 60, "the model")
            time.sleep(3)
            times["warm map"].append(visit(browser, f"{url}/attention", time.perf_counter(), MAP)[0] - warm_reference[0])
    found = {name: median(values) for name, values in times.items()}
    what = {
        "title": ("server start to first element painted, beyond an app of one title", 0.7),
        "map": ("server start to first heatmap, beyond that app's title", 1.5),
        "warm map": ("a visit to a warm server: first heatmap, beyond that app's title", 0.5),
    }
    return [
        Row(text, f"+ {found[name]:.1f} s ({min(times[name]):.1f} to {max(times[name]):.1f})", f"+ {most} s", found[name] <= most)
        for name, (text, most) in what.items()
    ]


def visit(browser: Browser, url: str, begun: float, *elements: str) -> list[float]:
    """Open a page as a new visitor; give the seconds from `begun` until each element is there."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page, moments = context.new_page(), []
    page.goto(url)
    for element in elements:
        page.wait_for_function(SEEN, arg=element, timeout=60_000)
        moments.append(time.perf_counter() - begun)
    context.close()
    return moments


def clicks(page: Page, layers: int, heads: int) -> tuple[float, float]:
    """Click again and again; give the median from click to painted in milliseconds, and bytes received a click."""
    received: list[int] = []
    times, sizes = [], []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    page.on("response", lambda response: received.append(int(response.headers.get("content-length", 0))))
    page.reload()
    page.wait_for_function(f"() => ({PICTURE})()")
    page.wait_for_timeout(2000)
    for number in range(CLICKS):
        received.clear()
        times.append(page.evaluate(CLICK, [(number * 3 + 1) % layers, (number * 5 + 1) % heads]))
        page.wait_for_timeout(150)
        sizes.append(sum(received))
    return median(times[3:]), median(sizes[3:])


def page_rows(browser: Browser) -> list[Row]:
    """A click on the wall of the attention page, 128 tokens, the embedded model."""
    model = catalogue.card(catalogue.DEFAULT)
    with served("app.py") as (url, _):
        page = browser.new_page(viewport={"width": 1280, "height": 1200})
        page.goto(f"{url}/attention?text={LONG}")
        page.locator("[data-testid=stage][data-paints]").wait_for(timeout=60_000)
        painted, size = clicks(page, model.num_layers, model.num_heads)
        page.close()
    return [
        Row(
            "another head on the attention page, click to its map painted with its sentence, 128 tokens",
            f"{painted:.0f} ms",
            "16 ms, and the next frame",
            painted <= 33,
        ),
        Row("bytes to the browser for that", f"{size / 1000:.0f} kB", "0 kB", size == 0),
    ]


MOST_MEGABYTES = 700
"""So that a host of 1 GB is enough."""
SECONDS_ON_A_PAGE = 6


def memory_row(browser: Browser) -> Row:
    """Open every page of a server, one after the other, and scroll: the most megabytes that the server has resident meanwhile."""
    most = 0.0
    with ready_server() as (url, server):
        page = browser.new_page()
        page.mouse.move(600, 400)
        for entry in PAGES:
            page.goto(f"{url}/{entry.address or entry.key}?level=advanced")
            page.locator("h1").first.wait_for()
            end = time.monotonic() + SECONDS_ON_A_PAGE
            while time.monotonic() < end:
                page.mouse.wheel(0, 500)
                most = max(most, server.memory_info().rss / 1e6)
                page.wait_for_timeout(100)
        page.close()
    what = "memory of a server whose one visitor opens every page, at most"
    return Row(what, f"{most:.0f} MB", f"{MOST_MEGABYTES} MB", most <= MOST_MEGABYTES)


def rows() -> list[Row]:
    """Measure everything of this file."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(CHROMIUM))
        try:
            return [*start_rows(browser), *page_rows(browser), memory_row(browser)]
        finally:
            browser.close()
