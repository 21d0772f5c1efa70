"""How a journey begins and ends: one load, watched, at 1280 in light; at its end the same page is seen at 390 in the dark."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.support.seen import NOTE_SHIFTS, Look, check_arrival, fits


@pytest.fixture
def arrive(page_at: Callable[..., Page]) -> Callable[..., Page]:
    """Open a link of a page as a new visitor, and assert that it stands in its frame: arrive("/masks?part=one", width=390).

    Nothing of the app is in the browser's cache where `cold` is set.
    """

    def open_page(path: str, *, cold: bool = False, **options: object) -> Page:
        def prepare(page: Page) -> None:
            page.add_init_script(NOTE_SHIFTS)
            if cold:
                session = page.context.new_cdp_session(page)
                session.send("Network.enable")
                session.send("Network.setCacheDisabled", {"cacheDisabled": True})

        page = page_at(path, prepare=prepare, **options)
        check_arrival(page)
        return page

    return open_page


@pytest.fixture
def open_to_all(axe: Look) -> Look:
    """Assert that a page as it stands has no barrier and fits its screen."""

    def check(page: Page) -> None:
        page.mouse.move(0, 0)
        fits(page)
        axe(page)

    return check


@pytest.fixture
def for_everybody(open_to_all: Look, darken: Look, resize: Callable[[Page, int], None]) -> Look:
    """Assert that a page as it stands has no barrier and fits its screen, in light; then on a phone in the dark."""

    def check(page: Page) -> None:
        open_to_all(page)
        resize(page, 390)
        darken(page)
        open_to_all(page)

    return check
