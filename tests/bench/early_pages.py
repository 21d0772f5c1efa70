"""Makes what the page before Streamlit's scripts needs to know of Streamlit's page (pages/ui/shell/early_page.py).

`python -m tests.bench.early_pages` writes assets/shell/frame_tops.json, where each picture begins, and assets/shell/previews, an
image of each page for whoever gets a link to it. Run it after what stands above a picture has changed.
"""

import json

from playwright.sync_api import Browser, Page, sync_playwright

from pages import contents
from pages.contents import page_address
from pages.ui.shell.early_page import IMAGE_SIZE
from pages.ui.shell.level import ADVANCED, BASIC
from pages.ui.shell.start_page import PREVIEW_FILES, SIDEBAR_WIDTH
from pages.ui.stage.first_picture import BOXES
from tests.bench.browser import CHROMIUM
from tests.bench.visitors import ready_server
from tests.browser.conftest import find_browser
from tx_core.settings import ASSETS

PHONES, TABLETS, SCREENS = (
    (320, 340, 360, 375, 390, 400, 414, 430, *range(460, 640, 40)),
    (641, 680, 720),
    (769, *range(800, 1441, 40)),
)
WIDTHS = (*PHONES, *TABLETS, *SCREENS, 1520, 1600, 1760, 1920)
"""Pixels of the window; those at which a style begins are among them."""
HEIGHT, STILL = 844, 350  # pixels; milliseconds that a page needs for another width
TOP = """() => {
  const host = document.querySelector("#root [data-mounted='stage.css']")
  host.style.marginTop = ""
  return host.getBoundingClientRect().top
}"""


def open_settled(page: Page, url: str) -> None:
    """Open a page and wait until it is whole."""
    page.goto(url)
    page.wait_for_function("() => 'settled' in document.documentElement.dataset")
    page.wait_for_timeout(STILL)


def measure_tops(page: Page, url: str) -> list[tuple[int, float]]:
    """Return where the picture of a page begins, from each width on at which that is another place."""
    page.set_viewport_size({"width": WIDTHS[-1], "height": HEIGHT})
    open_settled(page, url)
    found: list[tuple[int, float]] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.wait_for_timeout(STILL)
        top = round(page.evaluate(TOP), 1)
        if not found or found[-1][1] != top:
            found.append((width if found else 0, top))
    page.close()
    return found


def write_tops(browser: Browser, url: str) -> None:
    """Measure all pages that have a picture of their own, and write the table."""
    kinds = {
        f"{level}{framed}": f"level={level}{embed}"
        for framed, embed in (("", ""), (" framed", "&embed=true"))
        for level in (BASIC, ADVANCED)
    }
    lines = []
    for key in BOXES:
        address = f"{url}/{page_address(contents.page(key))}"
        found = {kind: measure_tops(browser.new_page(), f"{address}?{query}") for kind, query in kinds.items()}
        lines.append(f' "{key}": {{\n' + ",\n".join(f'  "{kind}": {json.dumps(tops)}' for kind, tops in found.items()) + "\n }")
    (ASSETS / "shell" / "frame_tops.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def write_previews(browser: Browser, url: str) -> None:
    """Write the image of each page: title, sentence and picture, without the list of pages."""
    PREVIEW_FILES.mkdir(exist_ok=True)
    width, height = IMAGE_SIZE
    for key in BOXES:
        page = browser.new_page(viewport={"width": width + SIDEBAR_WIDTH, "height": height})
        open_settled(page, f"{url}/{page_address(contents.page(key))}?level={BASIC}")
        clip = {"x": SIDEBAR_WIDTH, "y": 0, "width": width, "height": height}
        page.screenshot(path=PREVIEW_FILES / f"{key}.png", clip=clip)
        page.close()


def main() -> None:
    """Write both."""
    with ready_server() as (url, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(CHROMIUM))
        write_previews(browser, url)
        write_tops(browser, url)


if __name__ == "__main__":
    main()
