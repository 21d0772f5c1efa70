"""The presenter view: the picture fills the screen, no text is too small to be read from the last row, and keys do the rest."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from pages import contents
from pages.ui.canvas.component import PATH, version
from pages.ui.panels import lesson
from pages.ui.shell.level import ADVANCED
from pages.ui.shell.texts import SENTENCE
from tests.browser.conftest import Watch, go_by_history

HAIR = re.compile(r"^(1|0\.\d+)px$")
"""The width of what a screen reader finds and nobody sees."""
BLANKED = "() => getComputedStyle(document.documentElement, '::after').backgroundColor"
SMALLEST_TEXT, LEAST_SHARE = 24, 0.7
RECORD = """
  const fill = CanvasRenderingContext2D.prototype.fillText
  const clear = CanvasRenderingContext2D.prototype.clearRect
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    const size = Number(this.font.match(/([\\d.]+)px/)[1])
    const { a, b } = this.getTransform()
    const { x, y } = this.getTransform().transformPoint({ x: rest[0], y: rest[1] })
    ;(this.canvas.written ??= []).push([text, size * Math.hypot(a, b), x, y])
    return fill.call(this, text, ...rest)
  }
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    this.canvas.written = []
    return clear.apply(this, box)
  }"""
"""Notes on every canvas what is written on it, with its size and its place."""
DRAWN = """(picture) => {
  const found = []
  const walk = (node) => {
    const box = node.written && node.getBoundingClientRect()
    const shown = box ? box.width / node.width : 0
    const written = shown ? node.written.filter(([text]) => text.trim()) : []
    found.push(...written.map(([text, size, x, y]) => [text, size * shown, box.left + x * shown, box.top + y * shown]))
    for (const child of [...node.children, ...(node.shadowRoot?.children ?? [])]) walk(child)
  }
  walk(picture)
  return found
}"""
"""Every text on the canvases of a picture, with its size and place on the screen."""
WRITTEN = """() => {
  const found = []
  const note = (node) => {
    const range = document.createRange()
    range.selectNodeContents(node)
    const box = range.getBoundingClientRect()
    const style = getComputedStyle(node.parentElement)
    if (box.width <= 2 || box.height <= 2 || style.visibility === 'hidden' || node.parentElement.closest(HIDDEN)) return
    found.push([node.textContent.trim(), parseFloat(style.fontSize) * (node.parentElement.currentCSSZoom || 1)])
  }
  const HIDDEN = 'style, script, [data-testid=stHeading]'
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE && node.textContent.trim()) note(node)
    for (const child of [...node.childNodes, ...(node.shadowRoot ? [node.shadowRoot] : [])]) walk(child)
  }
  walk(document.querySelector('[data-testid=stMain]'))
  return found
}"""
"""Every text of the page that is shown, within drawings, too, with its size on the screen."""
LONG = "The old man who lived near the river sold his small boat to the young woman from the city."
TEXT = "text=Mary+lost+her+keys."
BLANK = "text=Yesterday+I+%5BMASK%5D+to+school."
LESSON = f"lesson={lesson.LEARNING_PATH}"
VIEWS = {
    "/?": ("start_arcs",),
    f"/attention?{TEXT}&heads=2-8&focus=3": ("attention_map", "attention_wall"),
    f"/attention?text={LONG.replace(' ', '+')}": ("attention_map", "attention_wall"),
    f"/fill_mask?{BLANK}": ("fill_mask_map", "fill_mask_top_words", "fill_mask_wall"),
    f"/compare?{TEXT}&text_b=John+lost+his+keys.": ("compare_maps", "compare_similarity"),
    "/summaries?part=glance": ("summaries_table",),
    "/summaries?part=layers": ("summaries_layers",),
    "/summaries?part=values": ("summaries_values",),
    "/summaries?part=alike": ("summaries_map",),
    "/summaries?part=lens": ("summaries_lens_line",),
    "/summaries?part=owed": ("summaries_owed_0", "summaries_owed_1", "summaries_owed_2"),
    "/many_sentences?": ("many_sentences_wall",),
    "/bertviz?picture=head": ("bertviz_page_frame",),
    "/bertviz?picture=model": ("bertviz_page_frame",),
    "/bertviz?picture=neuron": ("bertviz_page_frame",),
    "/self_attention?": ("self_attention_row", "self_attention_answer_row"),
    "/heads_and_blocks?part=embeddings": ("heads_and_blocks_embeddings_row",),
    "/heads_and_blocks?part=heads": ("heads_and_blocks_lengths", "heads_and_blocks_heads_row"),
    "/heads_and_blocks?part=feed": ("heads_and_blocks_feed_row", "heads_and_blocks_convolution"),
    "/heads_and_blocks?part=norm": ("heads_and_blocks_norm_row",),
    "/heads_and_blocks?part=depth": tuple(f"heads_and_blocks_{name}" for name in ("length", "cosine", "gradient", "trained")),
    "/heads_and_blocks?part=journey": tuple(
        f"heads_and_blocks_journey_{name}" for name in ("cosine_to_embedding", "cosine_to_previous", "length")
    ),
    "/masks?part=one": ("masks_grid",),
    "/masks?part=penalty": ("masks_ways",),
    "/masks?part=batch": ("masks_moved", "masks_run_words0"),
    "/positions?part=ways": ("positions_drawn_map",),
    "/positions?part=ways&look=waves": ("positions_drawn_waves",),
    "/positions?part=ways&look=similarity": ("positions_drawn_similarity",),
    "/positions?part=ways&look=effect": ("positions_drawn_effect",),
    "/positions?part=shuffle": ("positions_shuffled", *(f"positions_guesses_{number}" for number in range(3))),
    "/encoder_decoder?part=train": ("encoder_decoder_wall", "encoder_decoder_map"),
    "/encoder_decoder?part=inside": tuple(f"encoder_decoder_mask_{name}" for name in ("ss", "tt", "ts")),
    "/bert?part=compare": ("bert_parity",),
    "/bert?part=random": tuple(f"bert_{part}_{name}" for name in ("trained", "untrained") for part in ("wall", "map", "words")),
    "/classifier?": ("classifier_labels", "classifier_said", "classifier_wall", "classifier_map"),
    f"/fill_mask?{LESSON}&step=1": ("fill_mask_top_words",),
    f"/fill_mask?{LESSON}&step=2": ("fill_mask_map", "fill_mask_top_words", "fill_mask_wall"),
}
"""Every view with a picture, and the keys of its pictures in the order in which the arrow keys go through them."""
PROSE = """() => [...document.querySelectorAll('[data-testid=stMain] :is(p, .katex, [data-testid=stText])')]
  .filter((one) => one.getClientRects().length && !one.closest('h1, .st-key-lesson')).map((one) => one.textContent)"""
SCREENS = ((1920, 1080), (1280, 720))
PAUSE = 150
"""Milliseconds, somewhat more than the view waits after a change of the screen."""


@pytest.fixture(scope="module")
def shared_page(browser: Browser, server: str) -> Iterator[tuple[Page, Watch]]:
    """One browser page for all views, with what goes wrong in it; what is written on its pictures is noted as they are drawn."""
    context = browser.new_context()
    page, watch = context.new_page(), Watch(server)
    page.add_init_script(RECORD)
    watch.follow(page)
    yield page, watch
    context.close()


@pytest.fixture
def projector(shared_page: tuple[Page, Watch]) -> Iterator[tuple[Page, Watch]]:
    """That page for one test, in which nothing must go wrong."""
    _, watch = shared_page
    watch.faults.clear()
    yield shared_page
    assert watch.faults == []


def fitted(page: Page, key: str) -> Locator:
    """Wait until a picture has the size that the screen has space for; give it."""
    size = page.viewport_size
    place = f"st-key-{key} {size['width']} {size['height']}"
    page.wait_for_function("(place) => document.documentElement.dataset.fitted === place", arg=place, timeout=60_000)
    return page.locator("[data-staged]")


def turn_to(page: Page, key: str, arrow: str) -> Locator:
    """Press an arrow key until another picture is shown: one that is taller than the screen is gone through first."""
    for _ in range(12):
        page.keyboard.press(arrow)
        if page.locator(f".st-key-{key}[data-staged]").count():
            break
    return fitted(page, key)


def open_view(projector: tuple[Page, Watch], address: str, width: int, height: int) -> Page:
    """Show a view on a projector, its first picture in its size; in a lesson, its answer revealed.

    From the view that is open, the browser goes there as by Back. The view is loaded where a picture of that name is in sight,
    which would stay there, and where it is a step of a lesson, whose answer may be revealed already.
    """
    page, watch = projector
    keys, link = VIEWS[address], f"{address}&present=1&level={ADVANCED}"
    page.set_viewport_size({"width": width, "height": height})
    names = ", ".join(f".st-key-{key}[data-staged]" for key in keys)
    if "lesson=" not in address and page.locator("[data-staged]").count() and not page.locator(names).count():
        go_by_history(page, link)
    else:
        page.goto(f"{watch.server}{link}")
        page.wait_for_function("() => 'settled' in document.documentElement.dataset")
    if "lesson=" in address:
        page.locator("[class*=lesson_reveal] button").wait_for(state="attached", timeout=60_000)
        page.keyboard.press("r")
        expect(page.get_by_test_id("verdict")).not_to_have_text("", timeout=60_000)
    fitted(page, keys[0])
    return page


def check_picture(page: Page, picture: Locator) -> None:
    """Assert that a picture fills the screen, alone, with nothing too small to be read."""
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    box = picture.bounding_box()
    seen = min(height, box["y"] + box["height"]) - max(0, box["y"])
    assert seen >= LEAST_SHARE * height, box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("[data-staged]").count() == 1
    assert page.evaluate(PROSE) == []
    sizes = [*page.evaluate(WRITTEN), *picture.evaluate(DRAWN)]
    smallest = SMALLEST_TEXT * height / 1080
    assert len(sizes) >= 1 or picture.locator("iframe").count()
    assert [text for text in sizes if text[1] < smallest - 0.1] == []


@pytest.mark.parametrize("address", VIEWS)
def test_every_picture_fills_the_screen_one_after_the_other(projector, address: str):
    keys = VIEWS[address]
    page = open_view(projector, address, *SCREENS[0])
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    expect(page.locator(".presenter-dots i")).to_have_count(len(keys) if len(keys) > 1 else 0, timeout=60_000)
    for number, key in enumerate(keys):
        check_picture(page, turn_to(page, key, "ArrowDown") if number else fitted(page, key))
    page.set_viewport_size(dict(zip(("width", "height"), SCREENS[1], strict=True)))
    for number, key in enumerate(reversed(keys)):
        check_picture(page, turn_to(page, key, "ArrowUp") if number else fitted(page, key))


LATE = """() => {
  const first = document.querySelector('[data-staged]')
  const box = first.cloneNode(false)
  box.className = 'st-key-late'
  box.removeAttribute('data-staged')
  box.append(document.createElement('div'))
  first.after(box)
}"""
"""Makes space for a picture behind the first, which is drawn later."""


def test_the_dots_follow_pictures_that_come_late_and_that_go(projector):
    page = open_view(projector, "/masks?part=one", *SCREENS[1])
    dots = page.locator(".presenter-dots i")
    page.evaluate(LATE)
    page.wait_for_timeout(500)  # longer than the view waits for a change
    expect(dots).to_have_count(0)
    page.evaluate("document.querySelector('.st-key-late > div').dataset.mounted = 'late.js'")
    expect(dots).to_have_count(2)
    expect(dots.first).to_have_class("here")
    fitted(page, "masks_grid")
    page.evaluate("document.querySelector('.st-key-late').remove()")
    expect(dots).to_have_count(0)


def test_every_page_that_computes_shows_a_picture_on_a_projector():
    shown = {address.partition("?")[0].strip("/") for address in VIEWS}
    assert {page.address or page.key for page in contents.PAGES if page.computes} <= shown


def test_p_begins_and_escape_ends_the_view_and_b_blanks_it_but_a_letter_that_is_typed_is_a_letter(page_at, settle):
    page = page_at("/attention?text=Mary+lost+her+keys.&heads=2-8")
    page.keyboard.press("p")
    page.wait_for_url(re.compile(r"[?&]present=1"))
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_role("heading", name=contents.page("attention").question)).to_have_css("width", HAIR)
    fitted(page, "attention_map")
    page.keyboard.press("b")
    assert page.evaluate(BLANKED) == "rgb(0, 0, 0)"
    page.keyboard.press("b")
    assert page.evaluate(BLANKED) != "rgb(0, 0, 0)"
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name=contents.page("attention").question)).not_to_have_css("width", HAIR)
    expect(page).not_to_have_url(re.compile(r"present=1"))
    settle(page)
    page.get_by_label(SENTENCE, exact=True).click()
    page.keyboard.type("pbr")
    settle(page)
    assert "present=1" not in page.url
    expect(page.get_by_label(SENTENCE, exact=True)).to_have_value(re.compile("pbr"))


def test_arrow_keys_step_through_a_lesson_and_r_reveals(projector, settle):
    page = open_view(projector, f"/fill_mask?{LESSON}&step=2", *SCREENS[1])
    expect(page.get_by_test_id("verdict")).to_contain_text("yesterday")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"[?&]step=3(&|$)"))
    assert "present=1" in page.url
    steps = lesson.shipped_lesson(lesson.LEARNING_PATH).steps
    expect(page.get_by_role("heading", name=steps[2].title, exact=True)).to_be_visible()
    settle(page)
    page.keyboard.press("PageUp")
    page.wait_for_url(re.compile(r"[?&]step=2(&|$)"))


def test_a_click_in_an_enlarged_map_finds_the_row_under_it(projector):
    page = open_view(projector, f"/attention?{TEXT}&heads=2-8&focus=3", *SCREENS[0])
    title = page.locator(".st-key-attention_map .readout-title").first
    expect(title).to_contain_text("lost")
    written = page.locator("[data-staged]").evaluate(DRAWN)
    _, _, x, y = min((one for one in written if one[0] == "her"), key=lambda one: one[2])
    page.mouse.click(x + 200, y)
    expect(title).to_contain_text("her")


def test_heads_of_a_single_layer_stand_in_two_rows_each_below_its_number(projector):
    page = open_view(projector, "/encoder_decoder?part=train", *SCREENS[0])
    wall = page.get_by_test_id("head-wall").first
    numbers = [one.bounding_box() for one in wall.locator(".number[role=columnheader]").all()]
    maps = [one.bounding_box() for one in wall.get_by_role("gridcell").all()]
    rows = sorted({round(one["y"]) for one in maps})
    assert (len(numbers), len(maps), len(rows)) == (4, 4, 2)
    for number, one in zip(numbers, maps, strict=True):
        assert number["x"] == pytest.approx(one["x"], abs=2)
        assert 0 <= one["y"] - (number["y"] + number["height"]) < 4
    drawn = wall.locator("xpath=preceding-sibling::canvas").bounding_box()
    assert drawn["y"] + drawn["height"] == pytest.approx(rows[1] + maps[-1]["height"], abs=20)
    wall.get_by_role("gridcell").nth(2).click()
    expect(wall.get_by_role("gridcell").nth(2)).to_have_attribute("aria-selected", "true")


def test_a_screen_that_changes_while_a_picture_is_fitted_is_filled_all_the_same(projector):
    page = open_view(projector, "/masks?part=one", *SCREENS[0])
    enlarged = "() => document.documentElement.style.getPropertyValue('--enlarged')"
    alone = page.evaluate(enlarged)
    large, small = (dict(zip(("width", "height"), one, strict=True)) for one in SCREENS)
    for wait in range(150, 800, 50):  # from before the picture is fitted to the small screen to after it
        page.set_viewport_size(small)
        page.wait_for_timeout(wait)
        page.set_viewport_size(large)
        page.wait_for_timeout(PAUSE)
        fitted(page, "masks_grid")
        assert page.evaluate(enlarged) == alone, wait


def test_a_page_without_a_picture_is_shown_whole(projector):
    page = open_view(projector, "/masks?part=one", *SCREENS[1])
    go_by_history(page, "/positions?part=demands&present=1")
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible(timeout=60_000)
    expect(page.locator("[data-staged]")).to_have_count(0)


DRAWN_ON = """(pictures) => [...document.querySelectorAll(`${pictures}[data-mounted], ${pictures} [data-mounted]`)]
  .filter((box) => box.attentionTheme && box.getBoundingClientRect().width).map((box) => box.attentionTheme.ground)"""
"""The backgrounds for which the drawings in sight were drawn."""


def test_a_dark_device_presents_on_white_and_the_key_changes_the_colours_of_a_picture_and_back(page_at, settle):
    page = page_at("/attention?text=Mary+lost+her+keys.&heads=2-8&present=1", dark=True)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", "rgb(255, 255, 255)")
    page.wait_for_function(f"() => (({DRAWN_ON})('[data-staged]')).join() === '#ffffff'")
    ground = "(map) => getComputedStyle(map).getPropertyValue('--st-background-color').trim()"
    assert page.locator(".st-key-attention_map .map").evaluate(ground) == "#ffffff"
    expect(page.locator(".st-key-attention_map .map.dark")).to_have_count(0)
    for path in ("/attention", "/fill_mask", "/compare", "/masks", "/summaries?part=rollout"):
        go_by_history(page, path)
        page.wait_for_function(f"() => ({DRAWN_ON})('').length > 0")
        page.wait_for_function(f"() => !({DRAWN_ON})('').includes('#ffffff')")
        dark = set(page.evaluate(DRAWN_ON, ""))
        assert len(dark) == 1, path
        page.keyboard.press("p")
        page.wait_for_function(f"() => (({DRAWN_ON})('[data-staged]')).join() === '#ffffff'")
        page.keyboard.press("p")
        page.wait_for_function(f"(dark) => new Set(({DRAWN_ON})('')).size === 1 && ({DRAWN_ON})('')[0] === dark", arg=dark.pop())


def test_a_page_whose_run_ends_late_gives_its_pictures_their_colours_back(page_at):
    page = page_at("/masks?part=one&present=1", dark=True)
    page.wait_for_function(f"() => (({DRAWN_ON})('[data-staged]')).join() === '#ffffff'")
    style = Path(__file__).parents[2] / "assets" / "present.css"
    kept = page.add_style_tag(path=style)  # as a page keeps it until its run is over
    page.keyboard.press("p")
    page.wait_for_function("() => !location.search.includes('present')")
    page.wait_for_timeout(2000)
    kept.evaluate("(style) => style.remove()")
    page.wait_for_function(f"() => new Set(({DRAWN_ON})('')).size === 1 && ({DRAWN_ON})('')[0] === '#10151b'")


# Only what runs at one go after the import is noted: the page itself begins to watch things of its own whenever it likes.
WATCHED = """async address => {
  const presenter = (await import(address)).default
  const watched = []
  const note = (kind) => (...named) => watched.push(`${kind} ${named[0]}`)
  const Real = MutationObserver
  window.MutationObserver = class extends Real {
    observe(...all) { note('begin')('changes'); super.observe(...all) }
    disconnect() { note('end')('changes'); super.disconnect() }
  }
  const [add, remove] = [addEventListener, removeEventListener]
  Object.assign(window, { addEventListener: note('begin'), removeEventListener: note('end') })
  const show = presenter()
  const made = watched.length
  show.begin()
  const begun = watched.length
  show.end()
  Object.assign(window, { MutationObserver: Real, addEventListener: add, removeEventListener: remove })
  return { made, begun: watched.slice(0, begun).sort(), ended: watched.slice(begun).sort() }
}"""


def test_what_the_view_watches_it_leaves_alone_once_it_has_ended(page_at):
    page = page_at("/words")
    address = page.evaluate("path => new URL(path, document.baseURI).href", f"{PATH}/{version()}/presenter/presenter.js")
    watched = page.evaluate(WATCHED, address)
    assert watched == {"made": 0, "begun": ["begin changes", "begin resize"], "ended": ["end changes", "end resize"]}


def test_a_script_that_could_not_be_fetched_is_asked_for_again(page_at, settle):
    page = page_at("/masks?part=one", expect=("Failed to load resource",))
    page.route(re.compile("/presenter/presenter.js"), lambda route: route.abort(), times=1)
    page.keyboard.press("p")
    page.wait_for_url(re.compile(r"[?&]present=1"))
    settle(page)
    expect(page.locator("[data-staged]")).to_have_count(0)
    page.keyboard.press("p")
    expect(page).not_to_have_url(re.compile(r"present=1"))
    expect(page.get_by_test_id("stSidebar")).to_be_visible(timeout=60_000)
    settle(page)
    page.keyboard.press("p")
    fitted(page, "masks_grid")
