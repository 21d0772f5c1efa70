"""Firefox and WebKit: pages draw and answer keys, one is given a new sentence, and terms are explained, as in Chromium."""

import os
from collections.abc import Iterator

import pytest

from pages.contents import Page, page
from tests.support.webdriver import Driver, firefox, webkit

pytestmark = pytest.mark.ci

SETTLED = """
return document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && 'settled' in document.documentElement.dataset && document.querySelector('h1')?.textContent === arguments[0]
  && !document.querySelector('[data-testid=stException], [data-stale=true]')
"""
WITHIN = """
const within = (root, wanted) => [...root.querySelectorAll('*')].flatMap((node) => [
  ...(node.matches(wanted) ? [node] : []), ...(node.shadowRoot ? within(node.shadowRoot, wanted) : [])]);
const visible = (wanted) => within(document, wanted).filter((node) => node.checkVisibility() && node.getClientRects().length);
"""
"""Finds nodes in the shadow roots of components, too."""
DRAWN = (
    WITHIN
    + """
const colours = visible('canvas').filter(({ width, height }) => width && height).map((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
});
return Math.max(...colours, visible('[role=gridcell], .route-arc').length) > 3 || visible('iframe').length;
"""
)
"""Whether there is a canvas with more than its ground and three colours, a table of heads, arcs, or a frame (bertviz's)."""
LOOK = WITHIN + "const now = visible('[data-testid=stage], canvas').map((one) => one.toDataURL?.() ?? one.textContent).join(); "
REDRAWN = f"{LOOK} return now !== arguments[0]"
FOCUS = (
    WITHIN
    + """
const picture = visible('[data-testid=stage] [tabindex="0"]:is(:has(canvas), canvas, svg)')[0];
picture?.focus();
return Boolean(picture);
"""
)
GO = "history.pushState({}, '', arguments[0]); dispatchEvent(new PopStateEvent('popstate'))"
"""Leads to another page as Back and Forward do, which takes a third of a load."""
TYPE = "const box = document.querySelector('[data-testid=stTextInput] input'); box.focus(); box.select()"
UP, DOWN = "\ue013", "\ue015"
TRIES = 5
OPENED = (
    *("start", "attention", "fill_mask", "next_word", "self_attention", "bert", "masks", "vectors", "encoder_decoder"),
    *("bertviz_page", "classroom"),
)
"""Pages that draw in another way each: arcs, a map, bars, words, matrices, an architecture, cells, points, curves, a frame."""


@pytest.fixture(scope="module", params=[firefox, webkit], ids=["firefox", "webkit"])
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """Each of the two browsers, which CI installs; skipped on a person's machine where it is missing."""
    folder = tmp_path_factory.mktemp("profile")
    try:
        opened = request.param(folder) if request.param is firefox else request.param()
        with opened as driver:
            yield driver
    except LookupError as missing:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))


def arrive(driver: Driver, server: str, page: Page, *, anew: bool = False) -> None:
    """Open a page, the first one and one that is wanted anew by a load."""
    address = f"/{page.address or page.key}?level=advanced"
    if not anew and driver.run("return location.origin") == server:
        driver.run(GO, address)
        anew = not driver.is_seen(SETTLED, page.question, seconds=5)  # it was still busy with the page before
    if anew or driver.run("return location.origin") != server:
        driver.open(server + address)
    driver.wait(SETTLED, page.question)
    if page.computes:
        driver.wait(DRAWN)


@pytest.mark.parametrize("page", [page(key) for key in OPENED], ids=OPENED)
def test_a_page_draws_and_answers_keys(page: Page, driver: Driver, server: str):
    arrive(driver, server, page)
    if page.key == "self_attention":  # whose prose has terms
        driver.wait("return document.querySelectorAll('button.term').length")
    if not page.computes:
        return
    for _ in range(TRIES):  # a stage that was mounted anew meanwhile has lost the focus
        before = driver.run(f"{LOOK} return now")
        if not driver.run(FOCUS):
            return
        driver.press(UP if page.key == "next_word" else DOWN)  # where the last token looks, none is below it
        if driver.is_seen(REDRAWN, before):
            return
        arrive(driver, server, page, anew=True)  # a window that the screen gave no keys
    pytest.fail(f"no key redraws {page.key}")


def test_a_new_sentence_is_drawn(driver: Driver, server: str):
    arrive(driver, server, page("attention"), anew=True)
    before = driver.run(f"{LOOK} return now")
    driver.run(TYPE)
    driver.press(*"Birds sing.")
    driver.wait(REDRAWN, before)
