"""What a control or a pressed head leads to is drawn before the page has answered; the page's own answer has the last word."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.support.seen import DRAWING, answered, choose, drawing, drawn, head, linked, main, picture, redrawn, says, until

KEYS = "/fill_mask?text=Mary+lost+her+[MASK].&heads=1-1"


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


def watch(page: Page, words: str) -> None:
    """Note from now on what the first picture of these words is named."""
    picture(page, words).evaluate(
        """canvas => {
      window.seen = []
      new MutationObserver(() => window.seen.push(canvas.getAttribute('aria-label')))
        .observe(canvas, { attributes: true, attributeFilter: ['aria-label'] })
    }"""
    )


@pytest.mark.parametrize(
    ("path", "words", "name", "written"),
    [
        ("/masks?part=one", "^Change", "Window", {"kind": "window"}),
        ("/positions", "positions down", "ALiBi", {"scheme": "alibi"}),
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


def test_the_map_of_a_head_is_there_before_the_answer_and_is_the_very_same_picture(unanswered):
    page, line = unanswered(KEYS)
    head(page, 3, 4).click()
    early = drawing(drawn(picture(page, r"Layer 3, head 4\.")))
    says(page, "Layer 1, head 1.")
    line.release()
    says(page, "Layer 3, head 4.")
    drawn(picture(page, r"Layer 3, head 4\. The strongest"))
    assert drawing(picture(page, "^Heatmap")) == early
    linked(page, heads="3-4")


def test_of_two_quick_clicks_the_last_one_stays_through_the_answer_to_the_first(unanswered):
    page, line = unanswered(KEYS)
    head(page, 3, 4).click()
    drawn(picture(page, r"Layer 3, head 4\."))
    head(page, 2, 7).click()
    last = drawing(drawn(picture(page, r"Layer 2, head 7\.")))
    watch(page, "^Heatmap")
    line.release_one()
    says(page, "Layer 3, head 4.")  # the answer to the first click is there
    line.release()
    says(page, "Layer 2, head 7.")
    drawn(picture(page, r"Layer 2, head 7\. The strongest"))
    assert drawing(picture(page, "^Heatmap")) == last
    assert page.evaluate("window.seen.filter(name => name.includes('Layer 3, head 4'))") == []


@pytest.mark.parametrize("refused", [True, False], ids=["never", "late"])
def test_a_picture_that_is_not_fetched_in_time_is_the_page_s_own(page_at, refused: bool):
    page, asked = page_at(KEYS, expect=("Failed to load resource",)), []
    page.route("**/prefetch/**", lambda route: asked.append(route) or (refused and route.abort()))
    head(page, 3, 4).click()
    drawn(picture(page, r"Layer 3, head 4\. The strongest"))
    linked(page, heads="3-4")
    page.go_back()
    shown = drawn(picture(page, r"Layer 1, head 1\. The strongest"))
    answered(page)
    before = drawing(shown)
    assert asked
    for route in () if refused else asked:
        route.continue_()
    page.wait_for_timeout(500)
    assert drawing(picture(page, r"Layer 1, head 1\. The strongest")) == before


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
