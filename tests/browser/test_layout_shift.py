"""What a reader sees stays in its place while a page loads, in a browser that has nothing of the app yet."""

import re
import time

import pytest
from playwright.sync_api import Page, WebSocketRoute

from pages.contents import PAGES
from pages.ui.shell.frame import HEADINGS
from pages.ui.shell.texts import CANNOT_BE_SHOWN
from tx_core.fill_mask.word_scores import MAX_SCORED_WORDS

MAX_SHIFT = 0.1
"""Of the design; below it, a page counts as stable (web.dev/cls)."""
MOST_OF_A_PHONE = 768
"""Pixels: on a wider screen the list of pages stands open."""
SETTLED_MS = 1000
"""Without a shift: then the largest burst of shifts is known."""
OBSERVE = """
  window.shifts = []
  new PerformanceObserver((list) => {
    const unasked = list.getEntries().filter((entry) => !entry.hadRecentInput)
    window.shifts.push(...unasked.map((entry) => [entry.startTime, entry.value]))
  }).observe({ type: "layout-shift", buffered: true })
"""
STREAMLITS_BOX = "[data-testid='stException'], [data-testid='stAlertContentError']"


def watch_first_visit(page: Page) -> None:
    """Note what moves, in a browser that has nothing of the app in its cache."""
    page.add_init_script(OBSERVE)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})


FROM_CACHE = """() => performance.getEntriesByType('resource')
  .filter(({ name, transferSize }) => name.includes('/static/') && transferSize === 0).map(({ name }) => name)"""
"""What of Streamlit did not have to be fetched."""


def error_boxes(page: Page) -> list[str]:
    """List what stands in the boxes that say why something is not shown: Streamlit's own, and those of the app."""
    own = [page.get_by_text(heading, exact=True) for heading in (*HEADINGS.values(), CANNOT_BE_SHOWN)]
    return [text for box in (page.locator(STREAMLITS_BOX), *own) for text in box.all_inner_texts()]


def wait_until_settled(page: Page) -> None:
    """Wait until the page shows everything, and nothing has moved for a while."""
    page.get_by_role("heading", level=1).first.wait_for(timeout=60_000)
    page.locator("html[data-settled] [data-testid='stApp'][data-test-script-state='notRunning']").wait_for(timeout=60_000)
    page.wait_for_timeout(SETTLED_MS)


def cumulative_shift(shifts: list[tuple[float, float]]) -> float:
    """Sum up the largest burst: shifts less than a second apart, over five seconds at most."""
    bursts: list[list[tuple[float, float]]] = []
    for moment, value in shifts:
        if bursts and moment - bursts[-1][-1][0] < 1000 and moment - bursts[-1][0][0] < 5000:
            bursts[-1].append((moment, value))
        else:
            bursts.append([(moment, value)])
    return max((sum(value for _, value in burst) for burst in bursts), default=0.0)


def test_a_burst_ends_after_a_second_without_a_shift_or_after_five():
    assert cumulative_shift([]) == 0
    assert cumulative_shift([(0, 0.1), (900, 0.2), (2000, 0.25)]) == pytest.approx(0.3)
    assert cumulative_shift([(second * 900, 0.1) for second in range(8)]) == pytest.approx(0.6)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.key)
def test_a_deep_link_shows_the_framed_page_on_the_first_visit_and_nothing_moves_while_it_loads(page_at, entry, width: int):
    page = page_at(f"/{entry.address or entry.key}", width=width, prepare=watch_first_visit)
    wait_until_settled(page)
    shifts = page.evaluate("window.shifts")
    assert page.evaluate(FROM_CACHE) == []
    assert error_boxes(page) == []
    assert cumulative_shift(shifts) < MAX_SHIFT, shifts
    assert page.get_by_role("heading", level=1).inner_text() == entry.question
    assert page.title() == entry.name
    if width > MOST_OF_A_PHONE:
        page.get_by_test_id("stSidebar").get_by_role("link", name=entry.name, exact=True).wait_for()
    if entry.computes:
        page.get_by_text(re.compile(" · running on ")).first.wait_for()


DOORS = """
  window.doors = []
  const look = () => {
    const box = document.querySelector('.st-key-start_doors')?.getBoundingClientRect()
    if (box) window.doors.push(box.y)
    requestAnimationFrame(look)
  }
  look()
"""
"""Notes where the doors of the start page stand, in every frame."""


def send_arcs_late(page: Page) -> None:
    """Let the picture of the start page come later than what stands below it, as from a busy server."""

    def forward(socket: WebSocketRoute) -> None:
        def wait(message: str | bytes) -> None:
            if b"attention_explorer_arcs" in message:
                time.sleep(0.5)
            socket.send(message)

        socket.connect_to_server().on_message(wait)

    page.route_web_socket(re.compile("_stcore/stream"), forward)
    page.add_init_script(DOORS)


@pytest.mark.parametrize("width", [1280, 900, 390])
def test_the_doors_of_the_start_page_keep_their_place_while_its_picture_is_awaited(page_at, width: int):
    page = page_at("/", width=width, prepare=send_arcs_late)
    wait_until_settled(page)
    places = page.evaluate("window.doors")
    assert places == [pytest.approx(places[-1], abs=2)] * len(places)


FAILING = {
    "text": "attention?text=%20",
    "words": f"fill_mask?named={'%2C'.join(f'word{number}' for number in range(MAX_SCORED_WORDS + 1))}",
    "sizes": "encoder_decoder?part=inside&hidden=50&split=8",
}
"""Links to views that cannot be shown."""


@pytest.mark.parametrize("path", FAILING.values(), ids=FAILING)
def test_a_page_that_shows_why_it_cannot_be_shown_is_noticed(page_at, path: str):
    page = page_at(f"/{path}")
    wait_until_settled(page)
    assert error_boxes(page)
