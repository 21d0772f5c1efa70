"""What a visitor waits for, in real Chromium: the start, a click on a head, and the bytes that travel."""

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.table import Row
from tx_core.engine import catalogue

ROOT = Path(__file__).parents[2]
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
TEXT = "the+man+saw+the+dog+in+the+house+and+the+woman+was+in+the+water+with+a+good+friend+" * 7
LONG = "+".join(TEXT.split("+")[:126])
CLICKS = 25

# What changes when the picture does; Streamlit mounts a component in a shadow root. Roots are looked up once a click, so
# that watching costs next to nothing; a click is over at the end of the frame that shows the change: a timer set while a
# frame is being made fires when that frame is done.
PICTURE = """() => {
  const shadows = () => [...document.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean)
  const roots = window.roots ?? [document, ...shadows()]
  const find = name => roots.map(root => root.querySelector(name)).find(Boolean)
  if (location.search.includes('kind=nothing')) return find('[data-testid=stText]')?.textContent
  if (location.search.includes('kind=plotly')) return find('.heatmaplayer image')?.getAttribute('href')
  return find('[data-testid=attention-map]')?.dataset.paints
}"""
CLICK = (
    """async ([what, layer, head]) => {
  const shadows = [...document.querySelectorAll('*')].map(node => node.shadowRoot).filter(Boolean)
  const roots = window.roots = [document, ...shadows]
  const picture = """
    + PICTURE
    + """
  const before = picture()
  const target = what === 'button' ? document.querySelector('[data-testid=stButton] button')
    : roots.map(root => root.querySelector(`[data-layer="${layer}"][data-head="${head}"]`)).find(Boolean)
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
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        script,
        "--server.headless",
        "true",
        "--server.address",
        "127.0.0.1",
        "--server.port",
        str(port),
    ]
    with tempfile.TemporaryFile() as log:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
                    break
                except OSError:
                    time.sleep(0.01)
            yield f"http://127.0.0.1:{port}", started
        finally:
            process.terminate()
            process.wait()


def start_rows(browser: Browser, rounds: int = 3) -> list[Row]:
    """Time from starting the server to the title, and to the first real heatmap, of a visitor already waiting."""
    titles, maps = [], []
    for _ in range(rounds):
        with served("app.py") as (url, started):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(url)
            page.get_by_role("heading", level=1).first.wait_for()
            titles.append(time.perf_counter() - started)
            page.locator("[data-testid=attention-map][data-paints]").wait_for(timeout=60_000)
            maps.append(time.perf_counter() - started)
            page.close()
    return [
        Row("server start to first element painted", f"{median(titles):.1f} s", "1.5 s", median(titles) <= 1.5),
        Row("server start to first real heatmap", f"{median(maps):.1f} s", "3 s", median(maps) <= 3),
    ]


def clicks(page: Page, what: str, *, layers: int = 1, heads: int = 1) -> tuple[float, float]:
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
        times.append(page.evaluate(CLICK, [what, (number * 3 + 1) % layers, (number * 5 + 1) % heads]))
        page.wait_for_timeout(150)
        sizes.append(sum(received))
    return median(times[3:]), median(sizes[3:])


def page_rows(browser: Browser) -> list[Row]:
    """A click on the wall of the attention page, 128 tokens, the embedded model."""
    model = catalogue.card(catalogue.DEFAULT)
    with served("app.py") as (url, _):
        page = browser.new_page(viewport={"width": 1280, "height": 1200})
        page.goto(f"{url}/?text={LONG}")
        page.locator("[data-testid=attention-map][data-paints]").wait_for(timeout=60_000)
        painted, size = clicks(page, "wall", layers=model.num_layers, heads=model.num_heads)
        page.close()
    return [
        Row(
            "change of head on the attention page, click to its map painted, 128 tokens",
            f"{painted:.0f} ms",
            "60 ms",
            painted <= 60,
        ),
        Row("bytes to the browser for that change", f"{size / 1000:.0f} kB", "210 kB", size <= 210_000),
    ]


def picture_rows(browser: Browser) -> list[Row]:
    """The same head of 128 tokens by our canvas, by st.plotly_chart, and a click that draws nothing."""
    results = {}
    with served("tests/bench/apps/app.py") as (url, _):
        for kind in ("nothing", "canvas", "plotly"):
            page = browser.new_page(viewport={"width": 1280, "height": 1200})
            page.goto(f"{url}/?kind={kind}")
            page.wait_for_function(f"() => ({PICTURE})()")
            results[kind] = clicks(page, "button")[0]
            page.close()
    ours, plotly, floor = results["canvas"], results["plotly"], results["nothing"]
    what = "one head, own canvas against st.plotly_chart, click to painted"
    measured = f"{ours:.0f} ms / {plotly:.0f} ms = {ours / plotly:.2f} × (a click that draws nothing: {floor:.0f} ms)"
    return [Row(what, measured, "", True)]


def rows() -> list[Row]:
    """Measure everything of this file."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(CHROMIUM))
        try:
            return [*start_rows(browser), *page_rows(browser), *picture_rows(browser)]
        finally:
            browser.close()
