"""How long a visitor waits for the first picture of a page, on a phone and on a desktop, beside Streamlit's page of one title."""

from statistics import median

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from pages import contents
from pages.contents import HOME, page_address
from pages.ui.stage.first_picture import BOXES
from tests.bench.browser import CHROMIUM, served
from tests.bench.table import Row
from tests.bench.visitors import ready_server
from tests.browser.conftest import find_browser

ROUNDS = 5
PHONE = {"width": 390, "height": 844}
SLOW_4G = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 200_000}
"""Milliseconds, and bytes a second."""
SLOWER = 4  # times as slow as this machine's processor
WATCH = """
  const look = () => {
    const stages = [...document.querySelectorAll("[data-mounted='stage.css']")]
      .filter((host) => host.shadowRoot?.querySelector(".stage:not(.empty)")?.getBoundingClientRect().height > 100)
    if (stages.length || document.querySelector("h1")?.textContent === "A title") window.first ??= performance.now()
    if (stages.some((host) => host.closest("#root"))) window.own ??= performance.now()
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
  window.shift = 0
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) window.shift += value
  }).observe({ type: "layout-shift", buffered: true })
"""
"""Notes when a picture, or the title of the app of one title, is there, when it is in Streamlit's page, and what moves."""


def open_page(context: BrowserContext, url: str, *, slow: bool, waits: str) -> dict[str, float]:
    """Open a page; give milliseconds to its first picture and to that in Streamlit's page, bytes before it, and what moved."""
    page, arrived, begun = context.new_page(), [], []
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    if slow:
        session.send("Network.emulateNetworkConditions", SLOW_4G)
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    session.on("Network.requestWillBeSent", lambda event: begun.append(event["timestamp"]))
    session.on("Network.loadingFinished", lambda event: arrived.append((event["timestamp"], event["encodedDataLength"])))
    page.add_init_script(WATCH)
    page.goto(url, wait_until="commit")
    page.wait_for_function(f"() => window.{waits}", timeout=60_000)
    page.wait_for_timeout(500)
    found = page.evaluate("({ first, own: window.own ?? 0, shift })")
    end = begun[0] + found["first"] / 1000
    found["bytes"] = sum(size for moment, size in arrived if moment < end)
    page.close()
    return found


def visits(browser: Browser, url: str, *, slow: bool, waits: str = "own") -> list[dict[str, float]]:
    """Visit a page for the first and for the second time."""
    context = browser.new_context(viewport=PHONE if slow else {"width": 1280, "height": 800})
    found = [open_page(context, url, slow=slow, waits=waits) for _ in range(2)]
    context.close()
    return found


def middle(found: list[list[dict[str, float]]], visit: int, name: str) -> float:
    """Return the median of what was found at a visit."""
    return median(round_[visit][name] for round_ in found)


def rows() -> list[Row]:
    """Measure all pages on a phone and the first on a desktop, by turns with the app of one title."""
    with ready_server() as (url, _), served("tests/bench/apps/title.py") as (title, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(CHROMIUM))
        addresses = {key: f"{url}/{page_address(contents.page(key))}" for key in BOXES}
        found = {key: [visits(browser, address, slow=True) for _ in range(ROUNDS)] for key, address in addresses.items()}
        reference = [visits(browser, title, slow=True, waits="first") for _ in range(ROUNDS)]
        desktop = [visits(browser, url, slow=False) for _ in range(ROUNDS)]
        browser.close()
    told = []
    for key, one in found.items():
        most, kilobytes = (1.1, 100) if key == HOME else (1.5, 150)
        first, size = middle(one, 0, "first") / 1000, middle(one, 0, "bytes") / 1000
        own, again, shift = (middle(one, visit, name) for visit, name in ((0, "own"), (1, "first"), (0, "shift")))
        told.append(
            Row(
                f"first picture of {contents.page(key).name} on a phone",
                f"{first:.2f} s, {size:.0f} kB before it; in Streamlit's page after {own / 1000:.1f} s; second visit "
                f"{again / 1000:.2f} s; shift {shift:.3f}",
                f"{most} s, {kilobytes} kB; second visit 0.4 s; shift 0.05",
                first <= most and size <= kilobytes and again <= 400 and shift <= 0.05,
            )
        )
    first = middle(reference, 0, "first") / 1000
    told.append(Row("title of an app of one title, on the same phone", f"{first:.2f} s", "", True))
    first, own = (middle(desktop, 0, name) / 1000 for name in ("first", "own"))
    what = f"{first:.2f} s; in Streamlit's page after {own:.2f} s"
    told.append(Row("first picture of Start on a desktop", what, "0.4 s", first <= 0.4))
    return told
