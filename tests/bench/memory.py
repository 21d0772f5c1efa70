"""The memory of a server whose one visitor opens every page in a browser, one after the other: what a host must give at least."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from playwright.sync_api import Page, sync_playwright

from pages.contents import PAGES
from tests.bench.table import Row
from tests.browser.conftest import find_browser
from tests.support.serving import free_port, running, streamlit_command

MOST_MEGABYTES = 700
"""So that a host of 1 GB is enough."""
SECONDS_ON_A_PAGE = 6


def stay(page: Page, server: psutil.Process) -> float:
    """Stay on a page and scroll through it; return the most megabytes that the server had resident meanwhile."""
    page.locator("h1").first.wait_for()
    most, end = 0.0, time.monotonic() + SECONDS_ON_A_PAGE
    while time.monotonic() < end:
        page.mouse.wheel(0, 500)
        most = max(most, server.memory_info().rss / 1e6)
        page.wait_for_timeout(100)
    return most


def opened(address: str, server: psutil.Process) -> Iterator[tuple[str, float]]:
    """Open every page, one after the other; yield its name and the most megabytes of the server."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        page = browser.new_page()
        page.mouse.move(600, 400)
        for entry in PAGES:
            page.goto(f"{address}/{entry.address or entry.key}?level=advanced")
            yield entry.name, stay(page, server)
        browser.close()


def every_page() -> list[tuple[str, float]]:
    """Start a server, wait for its model, and open every page."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.txt")
        with running(streamlit_command(port), f"{address}/api/ready", log) as server:
            return list(opened(address, psutil.Process(server.pid)))


def rows() -> list[Row]:
    """Measure the memory of a server, whose one visitor opens every page."""
    most = max(megabytes for _name, megabytes in every_page())
    what = "memory of a server whose one visitor opens every page, at most"
    return [Row(what, f"{most:.0f} MB", f"{MOST_MEGABYTES} MB", most <= MOST_MEGABYTES)]
