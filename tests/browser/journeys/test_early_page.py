"""The page before Streamlit's scripts are there: looked at, typed into, pressed, and handed over with nothing lost or moved."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from pages import contents
from pages.contents import page_address
from pages.ui.shell import texts
from pages.ui.stage.browser_texts import ROUTES
from pages.ui.stage.first_picture import BOXES
from tests.browser.conftest import DARK, SHOWN, Watch, forget
from tests.support.seen import NOTE_SHIFTS, press, said

SCRIPTS = "**/static/js/index.*.js"
TOP = "one => one.getBoundingClientRect().top"
MOST_SHIFT = 0.05
Release = Callable[[], None]


@pytest.fixture
def early_at(profile: BrowserContext, server: str) -> Iterator[Callable[..., tuple[Page, Release]]]:
    """Open a path while Streamlit's scripts are held back: give the page, and what lets them come and waits for Streamlit's page.

    When the test ends, the page must have been free of errors and of requests to other origins.
    """
    watch = Watch(server)

    def open_page(path: str, width: int = 1280, expects: tuple[str, ...] = ()) -> tuple[Page, Release]:
        watch.expect += expects
        page, held, released = profile.new_page(), [], []
        forget(page, server)
        watch.follow(page)
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(reduced_motion="reduce")
        page.add_init_script(NOTE_SHIFTS)

        def hold(route: Route) -> None:
            if released:
                route.continue_()
            else:
                held.append(route)

        page.route(SCRIPTS, hold)
        page.goto(server + path, wait_until="commit")
        expect(page.locator("#early .frame > .picture")).to_be_visible()

        def release() -> None:
            released.append(True)
            for route in held:
                route.continue_()
            page.wait_for_function(SHOWN, timeout=60_000)
            expect(page.locator("#early")).to_have_count(0)

        return page, release

    yield open_page
    for page in profile.pages[1:]:
        page.close()
    assert not watch.faults, "\n".join(watch.faults)


def stage(page: Page) -> Locator:
    return page.get_by_test_id("stage").first


def test_a_head_and_a_token_chosen_at_once_are_shown_at_once_and_stay(early_at):
    page, release = early_at("/attention?level=advanced", width=390)
    page.get_by_label("Layer", exact=True).select_option(index=3)
    page.get_by_role("group", name=re.compile("^Heatmap")).press("ArrowUp")
    sentence, address = said(page).inner_text(), re.compile("heads=4-.*focus=3")
    assert sentence.startswith("Layer 4, head 8. “lost” gives")
    expect(page).to_have_url(address)
    page.locator("#early > .scroller").evaluate("one => { one.scrollTop = 300 }")
    top = stage(page).evaluate(TOP)
    release()
    expect(page.locator("#root").get_by_test_id("stage")).to_have_count(1)
    expect(said(page)).to_have_text(sentence)
    expect(page).to_have_url(address)
    expect(page.get_by_role("group", name=re.compile("^Heatmap"))).to_be_focused()
    assert stage(page).evaluate(TOP) == pytest.approx(top, abs=1)
    assert sum(shift for _, shift in page.evaluate("window.shifts")) < MOST_SHIFT


@pytest.mark.ci
def test_a_play_begun_at_once_goes_on_and_a_cut_is_computed_when_the_server_can_be_asked(early_at):
    page, release = early_at("/")
    page.get_by_test_id("routes").press("ArrowRight")
    page.keyboard.press("Enter")
    press(page, ROUTES["cut"])
    expect(page.locator(".waiting")).not_to_be_empty()
    release()
    expect(page).to_have_url(re.compile("changes=cut%7E4-2%7E5"))
    expect(said(page)).to_contain_text("“go”, not “went”")


def test_what_is_typed_at_once_is_kept_with_its_focus_and_computed(early_at):
    page, release = early_at("/")
    page.evaluate("localStorage.setItem('stActiveTheme-/-v2', JSON.stringify('Dark'))")  # as Streamlit's menu does
    page.reload(wait_until="commit")
    expect(page.locator("#early")).to_have_css("background-color", DARK)
    box = page.locator("#early .boxes input")
    box.fill("My dog likes to [MASK] in the park.")
    box.press("Home")
    page.keyboard.press("ArrowRight")
    release()
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", DARK)
    box = page.locator("#root").get_by_test_id("stTextInput").locator("input").first
    expect(box).to_have_value("My dog likes to [MASK] in the park.")
    expect(box).to_be_focused()
    assert box.evaluate("one => one.selectionStart") == 1
    expect(page).to_have_url(re.compile("My\\+dog"))
    expect(said(page)).to_contain_text("play")


@pytest.mark.ci
@pytest.mark.parametrize(("page_name", "width"), [*((page, width) for page in BOXES for width in (390, 1280)), ("start", 768)])
def test_the_picture_stays_where_it_is_when_the_page_grows_around_it(early_at, page_name: str, width: int):
    page, release = early_at(f"/{page_address(contents.page(page_name))}", width=width)
    expect(page.locator("#early").get_by_test_id("stage")).to_be_visible()
    boxes = [box.input_value() for box in page.locator("#early .boxes input").all()]
    before, title = stage(page).bounding_box(), page.locator("#early h1").bounding_box()
    release()
    after = stage(page).bounding_box()
    assert [after[name] for name in ("x", "y", "width")] == pytest.approx([before[name] for name in ("x", "y", "width")], abs=1)
    ours = page.locator("#root h1").bounding_box()
    assert (ours["x"], ours["y"]) == pytest.approx((title["x"], title["y"]), abs=1)
    assert [page.locator("#root main input[type=text]").nth(at).input_value() for at in range(len(boxes))] == boxes
    assert sum(shift for _, shift in page.evaluate("window.shifts")) < MOST_SHIFT


@pytest.mark.ci
def test_another_sentence_has_a_frame_until_it_is_computed(early_at):
    page, release = early_at(f"/attention?{urlencode({'text': 'Birds <b>sing</b>.'})}")
    expect(page.locator("#early .boxes input")).to_have_value("Birds <b>sing</b>.")
    expect(page.locator("#early .frame.waits > .picture")).to_be_visible()
    release()
    expect(said(page)).to_be_visible()


@pytest.mark.ci
def test_what_is_held_for_long_is_the_same_picture_with_the_same_focus_when_it_is_let_go(early_at):
    page, release = early_at("/attention?level=advanced")
    page.evaluate("delete Element.prototype.moveBefore")  # as in Safari
    heatmap = page.get_by_role("group", name=re.compile("^Heatmap"))
    heatmap.press("ArrowUp")
    stage(page).evaluate("one => { one.isTheSame = true }")
    page.locator("#early h1").hover()
    page.locator("#early h1").dispatch_event("pointerdown")
    page.evaluate("setTimeout(() => dispatchEvent(new PointerEvent('pointerup')), 8000)")
    release()
    assert stage(page).evaluate("one => one.isTheSame")
    expect(heatmap).to_be_focused()


@pytest.mark.ci
def test_no_sum_is_asked_for_while_its_numbers_have_not_come(early_at):
    page, release = early_at("/self_attention", expects=("ERR_FAILED", "Failed to load"))
    page.route("**/first-picture/**", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.reload(wait_until="commit")
    expect(page.locator("#early").get_by_test_id("stage")).to_be_visible()
    expect(page.locator("#early .picture")).to_have_js_property("inert", True)
    release()
    expect(page.locator("#root").get_by_test_id("stage")).to_be_visible()


@pytest.mark.ci
def test_what_ends_without_a_picture_gives_way_and_what_never_comes_is_said(early_at, profile: BrowserContext, server: str):
    page, release = early_at("/attention?text=")
    release()
    expect(page.get_by_text(texts.CHECK_INPUT).or_(page.get_by_text(texts.TEXT_MISSING))).to_be_visible()
    page, _ = early_at("/attention", expects=("ERR_FAILED", "Failed to load"))
    page.unroute(SCRIPTS)
    page.route(SCRIPTS, lambda route: route.abort())
    page.reload(wait_until="commit")
    expect(page.locator("#early .told")).to_have_text(texts.NOT_WHOLE)
    page.get_by_label("Layer", exact=True).select_option(index=3)
    expect(said(page)).to_contain_text("Layer 4")
