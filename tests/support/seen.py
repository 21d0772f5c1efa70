"""What a person sees of a page, said once: its pictures, boxes and lists, its address, whether it fits and stays in place.

Journeys look for roles, names and numbers. The few places where they must know the markup stand here.
"""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

from pages.contents import PAGES
from pages.ui.shell.frame import HEADINGS
from pages.ui.shell.texts import CANNOT_BE_SHOWN
from tests.browser.conftest import FADED, HEARD, IN_PLACE, SILENT, wait_for_script

MAX_SHIFT = 0.1
"""Of the design; below it, a page counts as stable (web.dev/cls)."""
NOTE_SHIFTS = """
  window.shifts = []
  new PerformanceObserver((list) => {
    const unasked = list.getEntries().filter((entry) => !entry.hadRecentInput)
    window.shifts.push(...unasked.map((entry) => [entry.startTime, entry.value]))
  }).observe({ type: "layout-shift", buffered: true })
"""
"""Notes what moves by itself while a page is loaded."""
CANVAS_OF = """
  const canvas = node.matches('canvas') ? node : (node.querySelector('canvas') ?? node.parentElement.querySelector('canvas'))"""
COLOURS = f"""node => {{
  {CANVAS_OF}
  if (!canvas?.width || !canvas.getBoundingClientRect().width) return 0
  const {{ data }} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  return new Set(new Uint32Array(data.buffer)).size
}}"""
"""How many colours the canvas of a picture has; 0 for one that is not shown."""
DRAWING = f"node => {{ {CANVAS_OF}; return canvas.toDataURL() }}"
WIDER = """() => ['html', '[data-testid=stMain]'].map((one) => document.querySelector(one))
  .filter((one) => one && one.scrollWidth > one.clientWidth).map((one) => one.tagName)"""
"""What of the page is wider than the screen."""
BOXES_OF_ERRORS = "[data-testid=stException], [data-testid=stAlertContentError]"


def main(page: Page) -> Locator:
    """Return the page without the list of pages at its side."""
    return page.get_by_test_id("stMain")


def listed(page: Page, name: str) -> Locator:
    """Return the link of a page in the list at the side."""
    return page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True)


def sentence(page: Page, name: str = "Sentence") -> Locator:
    """Return the box of a sentence."""
    return main(page).get_by_role("textbox", name=name, exact=True)


def button(page: Page, name: str, **options: bool) -> Locator:
    """Return a button by its name."""
    return main(page).get_by_role("button", name=name, exact=options.get("exact", True))


def stage(page: Page) -> Locator:
    """Return the picture of a page with its toolbar."""
    return page.get_by_test_id("stage")


def said(page: Page) -> Locator:
    """Return the sentence under the picture that is shown."""
    return stage(page).get_by_test_id("stage-said").filter(visible=True)


def press(page: Page, name: str) -> None:
    """Press a button of the stage."""
    stage(page).get_by_role("button", name=name, exact=True).click()


def choose(page: Page, name: str) -> None:
    """Choose one of several by its name, and wait for the answer."""
    one = main(page).get_by_role("radio", name=name, exact=True).first
    one.click()
    expect(one).to_be_checked()
    answered(page)


def write(page: Page, text: str, name: str = "Sentence") -> None:
    """Write a text into a box, leave it, and wait for the answer."""
    box = sentence(page, name)
    box.fill(text)
    box.press("Tab")
    answered(page)


def answered(page: Page) -> None:
    """Wait until the page has answered what was clicked or typed, and nothing of it is pale or moves."""
    page.evaluate("() => new Promise((told) => setTimeout(told, 60))")  # until the browser, however slow, has told of it
    page.wait_for_function(HEARD)
    page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    wait_for_script(page)
    expect(page.locator("[data-stale='true']")).to_have_count(0)
    page.evaluate(FADED)


LATE = re.compile(r"[/-](terms|texts)\.js$|/glossary\.json$|woff2$")
"""The words that are explained come last on any page, and fonts with a formula."""


@contextmanager
def silent(page: Page) -> Iterator[None]:
    """Assert that what is done meanwhile sends the server nothing and fetches nothing."""
    fetched = []
    note = lambda request: LATE.search(request.url) or fetched.append(request.url)  # noqa: E731
    page.wait_for_function(SILENT)
    last = page.evaluate("window.told")
    page.on("request", note)
    yield
    page.wait_for_function(SILENT)
    page.remove_listener("request", note)
    assert not fetched, fetched
    assert page.evaluate("window.told") == last, "something was sent"


def head(page: Page, layer: int, number: int) -> Locator:
    """Return a head of the wall or of the table of heads, counted from 1."""
    return main(page).get_by_role("gridcell", name=re.compile(rf"^Layer {layer}, head {number}(:|$)")).first


def picture(page: Page, words: str) -> Locator:
    """Return the first picture whose description in words matches a pattern."""
    return main(page).get_by_role("img", name=re.compile(words, re.DOTALL)).first


def until(page: Page, reached: Callable[[], object], what: str, found: object = "") -> None:
    """Ask again and again until the answer is true, also where the page is drawn anew meanwhile. found: what was found last."""
    end = time.monotonic() + 30
    while not reached():
        assert time.monotonic() < end, f"{what} did not come {found}"
        page.wait_for_timeout(50)


def saved(page: Page, name: str) -> Path:
    """Return the file that a button saves."""
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(download.value.path())


def drawn(shown: Locator) -> Locator:
    """Wait until a picture is drawn, in more than the colours of an empty frame; return it."""
    expect(shown).to_be_visible()
    until(shown.page, lambda: shown.evaluate(COLOURS) > 4, "a picture")
    return shown


def drawing(shown: Locator) -> str:
    """Return all points of a picture, to be compared with what it is later."""
    return shown.evaluate(DRAWING)


def redrawn(shown: Locator, before: str) -> None:
    """Wait until a picture is another one than before."""
    until(shown.page, lambda: drawing(shown) != before, "another picture")


def entries(page: Page, name: str, nth: int = 0) -> list[str]:
    """Return the entries of the nth list of this name, such as "went 83.5 %"."""
    items = main(page).get_by_role("list", name=name).nth(nth).get_by_role("listitem")
    expect(items.first).to_be_visible()
    return [" ".join(text.split()) for text in items.all_inner_texts()]


def items(page: Page, region: str) -> list[str]:
    """Return the items of a list that stands in a region of this name, such as "her → lost 0.023 → 0.016 −0.007"."""
    found = main(page).get_by_role("region", name=region).first.get_by_role("listitem")
    expect(found.first).to_be_visible()
    return [" ".join(text.split()) for text in found.all_inner_texts()]


def says(page: Page, *parts: str) -> None:
    """Wait until the page says all this in one piece of text, in this order."""
    pattern = re.compile(r"[\s\S]*?".join(re.escape(part) for part in parts))
    expect(main(page).get_by_text(pattern).filter(visible=True).first).to_be_visible()


def address(page: Page) -> dict[str, str]:
    """Return the fields of the address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def linked(page: Page, **fields: str) -> None:
    """Wait until the address holds these fields."""

    def holds(url: str) -> bool:
        asked = parse_qs(urlsplit(url).query)
        return all(asked.get(name) == [value] for name, value in fields.items())

    page.wait_for_url(holds)


def in_sight(page: Page) -> list[str]:
    """Return the boxes that say that something cannot be shown: Streamlit's own, and those of the app."""
    own = [page.get_by_text(heading, exact=True) for heading in (*HEADINGS.values(), CANNOT_BE_SHOWN)]
    return [text for box in (page.locator(BOXES_OF_ERRORS), *own) for text in box.all_inner_texts()]


def largest_burst(shifts: list[tuple[float, float]]) -> float:
    """Return the largest burst of shifts: less than a second apart, over five seconds at most."""
    bursts: list[list[tuple[float, float]]] = []
    for moment, value in shifts:
        if bursts and moment - bursts[-1][-1][0] < 1000 and moment - bursts[-1][0][0] < 5000:
            bursts[-1].append((moment, value))
        else:
            bursts.append([(moment, value)])
    return max((sum(value for _, value in burst) for burst in bursts), default=0.0)


def check_arrival(page: Page) -> None:
    """Assert that a page stands in its frame: its title, its name in the tab and in the list, in place, and without an error."""
    page.evaluate(IN_PLACE)
    entry = entry_of(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(entry.question)
    expect(page).to_have_title(entry.name)
    assert not (found := in_sight(page)), found
    shifts = page.evaluate("window.shifts")
    assert largest_burst(shifts) <= MAX_SHIFT, (page.url, shifts)
    if page.viewport_size["width"] > 768 and "lock" not in address(page):  # on a phone the list is folded away
        expect(listed(page, entry.name)).to_be_visible()


PLACE = """() => {
  const main = document.querySelector('[data-testid=stMain]')
  const root = [...document.querySelectorAll('[data-mounted]')].map((box) => box.shadowRoot?.querySelector('[data-testid=stage]'))
  const stage = root.find(Boolean)
  const { top, height } = (stage.querySelector(':scope > .frame') ?? stage).getBoundingClientRect()
  const pictures = stage.querySelectorAll('canvas, svg, .architecture, .bars, table, iframe')
  const drawn = [...pictures].map((one) => one.getBoundingClientRect())
  const picture = Math.min(...drawn.filter((one) => one.width > 40 && one.height > 24).map((one) => one.top))
  return { top: top + main.scrollTop, height, picture: picture + main.scrollTop, page: main.scrollHeight }
}"""
"""Where the first picture of a page stands with its toolbar, where what is drawn begins, and how long the page is, in pixels."""


LOW = {"/?": 500, "part=batch": 400, "part=run": 400, "bertviz": 480}
"""How high the pictures of these views are at least, in pixels; all others of a wide screen are 560 high."""


LONG = {"explanations": 2.75}
"""How many screens of 800 pixels these pages have at most; all others have 2.5."""


def comes_first(page: Page) -> None:
    """Assert that a page fits and most of its picture is in sight on arrival: at 1280 × 800, or at the width of a phone."""
    expect(stage(page)).to_be_visible()
    page.evaluate(IN_PLACE)
    fits(page)
    is_phone = page.viewport_size["width"] < 500
    least = 300 if is_phone else next((height for part, height in LOW.items() if part in page.url), 560)
    most = 800 * next((screens for part, screens in LONG.items() if part in page.url), 2.5)
    found: dict[str, float] = {}

    def is_placed() -> bool:
        found.update(page.evaluate(PLACE))
        in_sight = 800 - found["top"] >= 0.6 * found["height"] and found["page"] <= most
        return found["height"] >= least and (found["picture"] <= 520 if is_phone else in_sight)

    until(page, is_placed, f"a picture {least} pixels high, in sight, at {page.url}", found)


def entry_of(page: Page):
    """Return the entry of a page in the contents, by its address."""
    name = urlsplit(page.url).path.rpartition("/")[2]
    return next(one for one in PAGES if name in (one.address or one.key, "" if one is PAGES[0] else one.key))


def fits(page: Page) -> None:
    """Assert that nothing is wider than the screen, once the page has taken its width."""
    page.wait_for_function(f"() => !({WIDER})().length")


Look = Callable[[Page], None]
"""Looks at a page as it stands and fails where something is wrong."""
