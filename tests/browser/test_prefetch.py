"""What a control or a pressed head leads to is drawn before the page has answered; the page's own answer has the last word."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.support.seen import DRAWING, answered, choose, drawing, drawn, linked, main, picture, redrawn, until


class Line:
    """While it is held, as a list, what the page tells is kept in that list; the page is to be loaded after it is made."""

    def __init__(self, page: Page):
        self.held: list[str | bytes] | None = None
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)

    def _connect(self, browser: WebSocketRoute) -> None:
        self.server = browser.connect_to_server()
        browser.on_message(lambda message: self.server.send(message) if self.held is None else self.held.append(message))

    def release_one(self) -> None:
        """Send the server what the page told first."""
        self.server.send(self.held.pop(0))

    def release(self) -> None:
        """Send the server everything, from now on at once."""
        kept, self.held = self.held, None
        for message in kept or []:
            self.server.send(message)


@pytest.fixture
def unanswered(page_at: Callable[..., Page]) -> Iterator[Callable[[str, str], tuple[Page, Line]]]:
    """Open a view with a picture of these words, whose server hears of nothing more until the line is released."""
    lines: list[Line] = []

    def show(path: str, words: str = "^Heatmap") -> tuple[Page, Line]:
        page = page_at(path, prepare=lambda page: lines.append(Line(page)))
        drawn(picture(page, words))
        answered(page)
        lines[-1].held = []
        return page, lines[-1]

    yield show
    for line in lines:
        line.release()


@pytest.mark.parametrize(
    ("path", "words", "name", "written"),
    [
        ("/masks?part=one", "^Change", "Window", {"kind": "window"}),
    ],
)
def test_an_option_is_drawn_before_the_answer_and_is_the_very_same_picture(unanswered, path, words, name, written):
    page, line = unanswered(path, words)
    shown = picture(page, words)
    node, before = shown.element_handle(), drawing(shown)
    main(page).get_by_role("radio", name=name, exact=True).first.click()
    until(page, lambda: node.evaluate(DRAWING) != before, "another picture")
    page.wait_for_timeout(200)  # until all of it is drawn
    early = node.evaluate(DRAWING)
    assert line.held
    line.release()
    linked(page, **written)
    answered(page)
    assert node.evaluate(DRAWING) == early


def test_what_comes_late_does_not_cover_the_answer(page_at):
    page, late = page_at("/masks?part=one"), []
    shown = drawn(picture(page, "^Change"))
    answered(page)
    causal = drawing(shown)
    page.route("**/prefetch/**", lambda route: late.append(route))
    choose(page, "Window")
    linked(page, kind="window")
    redrawn(picture(page, "^Change"), causal)
    page.go_back()
    until(page, lambda: drawing(picture(page, "^Change")) == causal, "the first picture again")
    for route in late:
        route.continue_()
    page.wait_for_timeout(500)
    assert late
    assert drawing(picture(page, "^Change")) == causal
    expect(page.get_by_role("radio", name="Window", exact=True)).not_to_be_checked()
