"""Servers that die or restart, in real Chromium: every page of Explore goes on at another one, and what was lost is named."""

import asyncio
import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from pages.contents import PAGES
from pages.ui.panels.texts import TRAIN, TRAINING_PROGRESS
from pages.ui.shell.texts import SESSION_LOST
from tests.support.serving import fetch, free_port, running, site_of_two, streamlit_command, wait_until

EXPLORE = [page for page in PAGES if page.section == "Explore"]
TOKEN = "a-token-of-16-characters-or-more"
SENTENCE = "The dog ___ at me."
TYPED = "Two birds sang."


@pytest.fixture
def site(tmp_path: Path):
    """Two servers behind Caddy as HOSTING.md says: the address of the site, and the servers.

    Without Caddy, these tests fail in CI and are skipped on a person's machine.
    """
    if shutil.which("caddy") is None:
        missing = "no Caddy found: install it as .ci/run does"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with site_of_two(tmp_path, TX_METRICS_TOKEN=TOKEN) as site:
        yield site


@pytest.fixture
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """Somebody who has never been here."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as visitor:
        yield visitor


def test_every_page_of_explore_goes_on_when_its_server_is_killed(site, visitor: BrowserContext, settle):
    url, servers = site
    pages = {listed: visitor.new_page() for listed in EXPLORE}
    for listed, page in pages.items():
        page.goto(f"{url}/{listed.address or listed.key}?{urlencode({'text': SENTENCE})}")
        expect(page.get_by_role("heading", level=1)).to_have_text(listed.question, timeout=60_000)
        settle(page)
    being_typed = pages[EXPLORE[0]].get_by_role("textbox", name="Sentence", exact=True)
    server = busiest(servers)
    being_typed.fill(TYPED)
    kill(server)
    for listed, page in pages.items():
        connected = page.locator("[data-testid='stApp'][data-test-connection-state='CONNECTED']")
        expect(connected, listed.name).to_have_count(1, timeout=60_000)
    expect(pages[EXPLORE[0]]).to_have_url(re.compile(re.escape(urlencode({"text": TYPED}))), timeout=60_000)
    expect(being_typed).to_have_value(TYPED)
    for listed, page in pages.items():
        settle(page)
        expect(page.get_by_role("heading", level=1)).to_have_text(listed.question)
        expect(page.get_by_test_id("stException")).to_have_count(0)
    for listed in (one for one in EXPLORE if one.key in ("attention", "fill_mask")):
        page = pages[listed]
        head = page.get_by_role("gridcell", name="Layer 3, head 5", exact=False).first
        head.click()
        expect(page, listed.name).to_have_url(re.compile("heads=3-5"))
        expect(head).to_have_attribute("aria-selected", "true")


def test_a_training_that_was_lost_with_its_server_is_named(site, visitor: BrowserContext, settle):
    url, servers = site
    page = visitor.new_page()
    page.goto(f"{url}/classifier")
    page.get_by_role("button", name="Train", exact=True).click(timeout=60_000)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible(timeout=60_000)
    settle(page)
    kill(busiest(servers))
    expect(page.get_by_test_id("stToast")).to_contain_text(SESSION_LOST, timeout=60_000)
    expect(page.get_by_test_id("stToastViewButton")).to_have_count(0)  # all of it is on the screen
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_enabled()


def busiest(servers: Sequence[Popen]) -> Popen:
    """Find the server that has most visitors."""

    def visitors(server: Popen) -> float:
        port = server.args[server.args.index("--server.port") + 1]
        _, _, shown = fetch(f"http://127.0.0.1:{port}/api/metrics", Authorization=f"Bearer {TOKEN}")
        return float(re.search(r"^tx_visitors (\S+)$", shown.decode(), re.MULTILINE)[1])

    return max(servers, key=visitors)


def kill(server: Popen) -> None:
    server.kill()
    server.wait()


class Network:
    """A way to a server on this machine that can be cut: all connections break, and none comes about until it is whole again."""

    def __init__(self, server_port: int):
        self.server_port, self.port = server_port, free_port()
        self.whole, self.ended, self.started = True, False, threading.Event()
        self.open: set[asyncio.StreamWriter] = set()

    async def serve(self) -> None:
        self.loop, self.changed = asyncio.get_running_loop(), asyncio.Event()
        self.started.set()
        while not self.ended:
            self.changed.clear()
            if self.whole:
                async with await asyncio.start_server(self.carry, "127.0.0.1", self.port):
                    await self.changed.wait()
                    for writer in self.open:  # a server ends once its connections have
                        writer.transport.abort()
            else:
                await self.changed.wait()

    def change(self, *, whole: bool, ended: bool = False) -> None:
        self.whole, self.ended = whole, ended
        self.loop.call_soon_threadsafe(self.changed.set)

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        there, back = await asyncio.open_connection("127.0.0.1", self.server_port)
        self.open.add(back)
        await asyncio.gather(self.copy(reader, back), self.copy(there, writer))
        self.open -= {writer, back}

    async def copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
        target.close()


@contextmanager
def network_to(server_port: int) -> Iterator[Network]:
    """Carry what is sent to a port of its own to a server, in a thread."""
    network = Network(server_port)
    thread = threading.Thread(target=lambda: asyncio.run(network.serve()))
    thread.start()
    assert network.started.wait(120)
    try:
        yield network
    finally:
        network.change(whole=False, ended=True)
        thread.join(120)


def test_a_short_loss_of_the_network_does_not_cost_the_training(browser: Browser, tmp_path: Path):
    port, state = free_port(), "[data-testid='stApp'][data-test-connection-state='{}']"
    server = running(streamlit_command(port), f"http://127.0.0.1:{port}/api/ready", tmp_path / "log.txt")
    with server, network_to(port) as network, browser.new_context() as visitor:
        page = visitor.new_page()
        page.goto(f"http://127.0.0.1:{network.port}/encoder_decoder?batches=600&batch=128")
        page.get_by_role("button", name=TRAIN, exact=True).click(timeout=60_000)
        wait_until(lambda: batches_done(page), 120, "a first batch")
        network.change(whole=False)
        expect(page.locator(state.format("CONNECTED"))).to_have_count(0, timeout=60_000)
        before = batches_done(page)
        page.wait_for_timeout(3000)
        network.change(whole=True)
        expect(page.locator(state.format("CONNECTED"))).to_have_count(1, timeout=60_000)
        wait_until(lambda: batches_done(page) > before, 120, "progress")


def batches_done(page: Page) -> int:
    """Read how many batches a training has done that goes on or is over; 0 where there is none."""
    words = "|".join(re.escape(TRAINING_PROGRESS[state].partition("{done")[0]) for state in ("running", "finished"))
    said = re.search(f"(?:{words})([0-9]+)", page.get_by_test_id("stMain").inner_text())
    return int(said[1]) if said else 0
