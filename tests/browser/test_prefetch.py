"""What a control or a pressed head leads to is drawn before the page has answered; the page's own answer has the last word."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from pages.masks.texts import PADDING_TOKENS
from pages.ui.canvas.texts import MATRICES
from tests.support.serving import wait_until


class Line:
    """While it is held, as a list, what the page tells is kept in that list; the page is to be loaded after it is made."""

    def __init__(self, page: Page):
        self.held: list[str | bytes] | None = None
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)

    def _connect(self, browser: WebSocketRoute) -> None:
        self.server = browser.connect_to_server()
        browser.on_message(lambda message: self.server.send(message) if self.held is None else self.held.append(message))

    def release_one(self) -> None:
        """Let the server hear of what the page told first."""
        self.server.send(self.held.pop(0))

    def release(self) -> None:
        """Let the server hear of everything, from now on at once."""
        kept, self.held = self.held, None
        for message in kept or []:
            self.server.send(message)


PICTURE = "node => node.toDataURL()"
NOTES = """([picture]) => {
  const root = [...document.querySelectorAll('*')].map(node => node.shadowRoot?.querySelector(picture)).find(Boolean)
  window.seen = []
  new MutationObserver(() => window.seen.push(root.querySelector('canvas').toDataURL()))
    .observe(root, { attributes: true, attributeFilter: ['data-paints'] })
}"""


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    """The line of each tab that tests of this module share; the last one is in use."""
    return []


@pytest.fixture
def unanswered_view(
    view_at: Callable[..., Page], lines: list[Line], settle: Callable[[Page], None]
) -> Iterator[Callable[[str, str], tuple[Page, Line, Locator]]]:
    """Show a view whose server hears of nothing until the line is released: unanswered_view(path, canvas), with that canvas."""

    def show(path: str, canvas: str) -> tuple[Page, Line, Locator]:
        page = view_at(path, prepare=lambda page: lines.append(Line(page)))
        drawing = page.get_by_test_id(canvas)
        expect(drawing.first).to_be_visible(timeout=60_000)
        settle(page)
        lines[-1].held = []
        return page, lines[-1], drawing.first

    yield show
    if lines:
        lines[-1].release()


def answered(page: Page, line: Line, settle: Callable[[Page], None], written: str) -> None:
    """Let the server hear of everything, and wait until its answer is drawn and written into the address."""
    line.release()
    page.wait_for_url(re.compile(written))
    settle(page)


def option(page: Page, name: str) -> Locator:
    return page.get_by_role("radio", name=name, exact=True).first


def changed(canvas: Locator, before: str) -> str:
    """Wait until the picture is another one; give it."""
    canvas.page.wait_for_function("([node, before]) => node.toDataURL() !== before", arg=[canvas.element_handle(), before])
    canvas.page.wait_for_timeout(200)
    return canvas.evaluate(PICTURE)


@pytest.mark.parametrize(
    ("path", "canvas", "name", "written"),
    [
        ("/masks?part=one", "matrix-5", "Window", "kind=window"),
        ("/positions", "matrix-0", "ALiBi", "scheme=alibi"),
        ("/heads_and_blocks", "matrix-output", "2", "layer=2"),
        ("/self_attention", "matrix-weights", "Hard", "normalise=hardmax"),
    ],
)
def test_an_option_is_drawn_before_the_answer_and_is_the_very_same_picture(unanswered_view, settle, path, canvas, name, written):
    page, line, picture = unanswered_view(path, canvas)
    before = picture.evaluate(PICTURE)
    option(page, name).click()
    early = changed(picture, before)
    assert line.held
    assert written not in page.url
    answered(page, line, settle, written)
    assert picture.evaluate(PICTURE) == early


def test_a_slider_moved_by_keys_is_drawn_before_the_answer(unanswered_view, settle):
    page, line, picture = unanswered_view("/positions", "matrix-0")
    before = picture.evaluate(PICTURE)
    page.get_by_role("slider", name="Length: positions").press("ArrowRight")
    early = changed(picture, before)
    answered(page, line, settle, "length=49")
    assert picture.evaluate(PICTURE) == early


def test_a_slider_that_is_dragged_ends_where_it_was_let_go(page_at, settle):
    page = page_at("/positions")
    knob = page.get_by_role("slider", name="Length: positions")
    knob.scroll_into_view_if_needed()
    place = knob.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y, steps=6)
    page.mouse.up()
    page.wait_for_url(re.compile(r"length=\d+"))
    settle(page)
    length = re.search(r"length=(\d+)", page.url)[1]
    expect(page.get_by_test_id("matrix-0")).to_have_attribute("aria-label", re.compile(rf"\b{length} positions down"))


def test_a_painted_cell_changes_the_weights_before_the_answer(unanswered_view, settle):
    page, line, weights = unanswered_view("/masks?part=one&kind=none", "matrix-5")
    before = weights.evaluate(PICTURE)
    page.locator("[data-row='2'][data-column='1']").click()
    early = changed(weights, before)
    answered(page, line, settle, "kind=painted")
    assert weights.evaluate(PICTURE) == early


def test_of_two_quick_steps_the_last_one_stays_through_the_answer_to_the_first(unanswered_view, settle):
    page, line, picture = unanswered_view("/positions", "matrix-0")
    slider, before = page.get_by_role("slider", name="Length: positions"), picture.evaluate(PICTURE)
    slider.press("ArrowRight")
    first = changed(picture, before)
    slider.press("ArrowRight")
    last = changed(picture, first)
    page.evaluate(NOTES, ["[data-testid=matrices]"])
    line.release_one()
    page.wait_for_url(re.compile("length=49"))
    answered(page, line, settle, "length=50")
    page.wait_for_timeout(300)
    assert picture.evaluate(PICTURE) == last
    assert first not in page.evaluate("window.seen")


def test_an_option_chosen_before_the_answer_waits_for_it_as_the_first_may_have_set_another_control(unanswered_view, settle):
    page, line, picture = unanswered_view("/masks?part=one", "matrix-0")
    before = picture.evaluate(PICTURE)
    option(page, "Padding").click()  # which brings three tokens of padding
    padding = changed(picture, before)
    option(page, "None").click()
    page.wait_for_timeout(400)
    assert picture.evaluate(PICTURE) == padding
    line.release_one()
    page.wait_for_url(re.compile("padding=3"))
    answered(page, line, settle, "kind=none")
    shown = changed(picture, padding)
    page.reload()
    expect(picture).to_be_visible(timeout=60_000)
    settle(page)
    assert picture.evaluate(PICTURE) == shown


def test_after_a_control_whose_outcome_is_not_known_the_page_is_waited_for(unanswered_view, settle):
    page, line, picture = unanswered_view("/masks?part=one", "matrix-5")
    before = picture.evaluate(PICTURE)
    page.get_by_role("textbox", name="Sentence").fill("A dog ran home.")
    option(page, "Window").click()
    page.wait_for_timeout(400)
    assert picture.evaluate(PICTURE) == before
    answered(page, line, settle, "kind=window")
    expect(page.get_by_role("gridcell", name=MATRICES["maySee"].format(query="dog", key="dog"))).to_be_visible()


def test_a_prefetched_picture_of_an_outdated_view_gives_way_to_the_page_s_whatever_is_clicked_meanwhile(unanswered_view, settle):
    page, line, _picture = unanswered_view("/masks?part=one", "matrix-5")
    page.get_by_role("slider", name=PADDING_TOKENS).press("ArrowRight")
    box = page.get_by_role("textbox", name="Sentence")
    box.fill("A dog ran home.")
    box.press("Enter")
    line.release_one()
    page.wait_for_url(re.compile("padding=1"))
    option(page, "Window").click()
    line.release()
    page.get_by_role("button", name="Share this view").click()
    page.wait_for_url(re.compile("kind=window"))
    settle(page)
    expect(page.get_by_role("gridcell", name=MATRICES["maySee"].format(query="dog", key="dog"))).to_be_visible()


def test_an_answer_that_was_not_prefetched_is_drawn_at_once(unanswered_view, settle):
    page, line, picture = unanswered_view("/positions", "matrix-0")
    page.get_by_role("slider", name="Length: positions").press("ArrowRight")
    before = picture.evaluate(PICTURE)
    page.get_by_role("slider", name="Base").press("ArrowLeft")
    answered(page, line, settle, "base=1000")
    shown = picture.evaluate(PICTURE)
    assert shown != before
    page.reload()
    expect(picture).to_be_visible(timeout=60_000)
    settle(page)
    assert picture.evaluate(PICTURE) == shown


def test_without_the_prefetched_picture_the_page_answers_as_ever(page_at, settle):
    page = page_at("/masks?part=one", expect=("Failed to load resource",))
    asked = []
    expect(page.get_by_test_id("matrix-0")).to_be_visible(timeout=60_000)
    page.route("**/prefetch/**", lambda route: (asked.append(route.request.url), route.abort()))
    option(page, "Window").click()
    page.wait_for_url(re.compile("kind=window"))
    settle(page)
    expect(page.locator("[data-row='2'][data-column='0']")).to_have_attribute("aria-selected", "false")
    assert asked


def test_what_comes_late_does_not_cover_the_answer(page_at, settle):
    page, late = page_at("/masks?part=one"), []
    picture = page.get_by_test_id("matrix-0")
    expect(picture).to_be_visible(timeout=60_000)
    settle(page)
    causal = picture.evaluate(PICTURE)
    page.route("**/prefetch/**", lambda route: late.append(route))
    option(page, "Window").click()
    page.wait_for_url(re.compile("kind=window"))
    wait_until(lambda: picture.evaluate(PICTURE) != causal, 120, "the window's picture")
    page.go_back()
    page.wait_for_url(re.compile("part=one$"))
    wait_until(lambda: picture.evaluate(PICTURE) == causal, 120, "the first picture again")
    for route in late:
        route.continue_()
    page.wait_for_timeout(500)
    assert late
    assert picture.evaluate(PICTURE) == causal


def test_both_maps_of_bert_and_of_an_untrained_one_end_at_the_chosen_head(page_at, settle):
    page = page_at("/bert?part=random")
    trained, untrained = (page.get_by_test_id("attention-heatmap").nth(number) for number in (0, 1))
    expect(untrained).to_be_visible(timeout=60_000)
    page.get_by_role("gridcell", name="Layer 4, head 5", exact=True).first.click()
    page.wait_for_url(re.compile("layer=4&head=5"))
    settle(page)
    for picture in (trained, untrained):
        expect(picture).to_have_attribute("aria-label", re.compile("layer 4, head 5", re.IGNORECASE))


HEATMAP = "canvas[data-testid=attention-heatmap]"


@pytest.fixture
def delayed_page(unanswered_view) -> tuple[Page, Line]:
    """The attention page, whose clicks its server does not hear of until the line is released."""
    page, line, _ = unanswered_view("/attention?text=Mary+lost+her+keys.&heads=1-1", "attention-map")
    expect(page.locator("[data-testid=attention-map][data-paints]")).to_be_visible(timeout=60_000)
    return page, line


def head(page: Page, layer: int, number: int) -> Locator:
    return page.get_by_role("gridcell", name=f"Layer {layer}, head {number}", exact=True)


def shows(page: Page, told: str) -> None:
    expect(page.locator(HEATMAP)).to_have_attribute("aria-label", re.compile(re.escape(told)))


def said(page: Page, told: str) -> None:
    expect(page.get_by_test_id("stText").filter(has_text=re.compile("^(Layer|Mean)"))).to_contain_text(told)


def test_the_map_is_there_before_the_answer_and_is_the_very_same_picture(delayed_page):
    page, line = delayed_page
    before = page.locator(HEATMAP).evaluate(PICTURE)
    head(page, 3, 4).click()
    shows(page, "Layer 3, head 4.")
    maps_path = page.locator(HEATMAP).evaluate(PICTURE)
    said(page, "Layer 1, head 1.")
    assert maps_path != before
    line.release()
    said(page, "Layer 3, head 4.")
    shows(page, "Layer 3, head 4. The strongest")
    assert page.locator(HEATMAP).evaluate(PICTURE) == maps_path
    page.wait_for_url(re.compile("heads=3-4"))


def test_of_two_quick_clicks_the_last_one_stays_through_the_answer_to_the_first(delayed_page):
    page, line = delayed_page
    head(page, 3, 4).click()
    shows(page, "Layer 3, head 4.")
    head(page, 2, 7).click()
    shows(page, "Layer 2, head 7.")
    last = page.locator(HEATMAP).evaluate(PICTURE)
    page.evaluate(
        """([selector]) => {
      const canvas = [...document.querySelectorAll('*')].map(node => node.shadowRoot?.querySelector(selector)).find(Boolean)
      window.seen = []
      new MutationObserver(() => window.seen.push(canvas.getAttribute('aria-label')))
        .observe(canvas, { attributes: true, attributeFilter: ['aria-label'] })
    }""",
        [HEATMAP],
    )
    line.release_one()
    said(page, "Layer 3, head 4.")  # the answer to the first click is there
    page.wait_for_timeout(300)
    shows(page, "Layer 2, head 7.")
    line.release()
    said(page, "Layer 2, head 7.")
    shows(page, "Layer 2, head 7. The strongest")
    assert page.locator(HEATMAP).evaluate(PICTURE) == last
    assert page.evaluate("window.seen.filter(label => label.includes('Layer 3, head 4'))") == []


def test_arrow_keys_draw_at_once_too_and_a_box_chooses_after_them(delayed_page):
    page, line = delayed_page
    head(page, 1, 1).press("ArrowDown")
    shows(page, "Layer 2, head 1.")
    line.release()
    said(page, "Layer 2, head 1.")
    page.get_by_label("Hide special tokens").locator("xpath=ancestor::label").click()
    expect(page.locator(HEATMAP)).to_have_attribute("data-shape", re.compile('"queries":5'))
    line.held = []
    head(page, 4, 2).click()
    shows(page, "Layer 4, head 2.")  # of the view without special tokens, which has a path of its own
    assert page.locator(HEATMAP).get_attribute("data-shape").count('"queries":5') == 1
    line.release()
    said(page, "Layer 4, head 2.")


def test_without_its_maps_the_page_answers_as_ever(page_at):
    page = page_at("/attention?text=Mary+lost+her+keys.&heads=1-1", expect=("Failed to load resource",))
    asked = []
    page.route("**/prefetch/**", lambda route: (asked.append(route.request.url), route.abort()))
    head(page, 3, 4).click()
    said(page, "Layer 3, head 4.")
    shows(page, "Layer 3, head 4. The strongest")
    assert asked


def test_a_map_that_comes_late_does_not_cover_what_was_chosen_since(page_at, settle):
    page, late = page_at("/attention?text=Mary+lost+her+keys.&heads=1-1"), []
    page.route("**/prefetch/**", lambda route: late.append(route))
    head(page, 3, 4).click()
    shows(page, "Layer 3, head 4. The strongest")
    page.wait_for_url(re.compile("heads=3-4"))
    page.go_back()
    shows(page, "Layer 1, head 1. The strongest")
    settle(page)
    for route in late:
        route.continue_()
    page.wait_for_timeout(500)
    assert late
    shows(page, "Layer 1, head 1. The strongest")


def test_several_heads_wait_for_the_page_which_has_their_mean(delayed_page):
    page, line = delayed_page
    head(page, 3, 4).click(modifiers=["Shift"])
    expect(head(page, 3, 4)).to_have_attribute("aria-selected", "true")
    page.wait_for_timeout(300)
    shows(page, "Layer 1, head 1.")
    line.release()
    shows(page, "Mean of 2 heads.")
