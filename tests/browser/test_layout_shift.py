"""What a reader sees stays in its place while a page loads, in a browser that has nothing of the app yet."""

import pytest
from playwright.sync_api import Browser

from pages.contents import PAGES

MAX_SHIFT = 0.1
"""Of the design; below it, a page counts as stable (web.dev/cls)."""
SETTLED_MS = 1000
"""Without a shift: then the largest burst of shifts is known."""
OBSERVE = """
  window.shifts = []
  new PerformanceObserver((list) => {
    const unasked = list.getEntries().filter((entry) => !entry.hadRecentInput)
    window.shifts.push(...unasked.map((entry) => [entry.startTime, entry.value]))
  }).observe({ type: "layout-shift", buffered: true })
"""


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
def test_nothing_moves_while_a_page_loads_for_the_first_time(browser: Browser, server: str, entry, width: int):
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.add_init_script(OBSERVE)
    page = context.new_page()
    page.goto(f"{server}/{entry.address or entry.key}")
    page.get_by_role("heading", level=1).first.wait_for(timeout=30_000)
    page.locator("html[data-settled] [data-testid='stApp'][data-test-script-state='notRunning']").wait_for(timeout=30_000)
    page.wait_for_timeout(SETTLED_MS)
    shifts = page.evaluate("window.shifts")
    context.close()
    assert cumulative_shift(shifts) < MAX_SHIFT, shifts
