"""Self-attention in a real browser: a cell tells its sum, by pointer and by keyboard, on a desk and on a phone;
and in a long sentence, with the names and the keys where one looks.
"""

import re
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.self_attention import texts
from tests.browser.conftest import go_by_history
from tests.browser.test_focus import contrast
from tx_core.engine import catalogue
from tx_core.lessons.self_attention import HeadChoice, head_run

TEXT = "time flies like an arrow"
MIN_TEXT_CONTRAST = 4.4
"""WCAG 2.2, 1.4.3, less what rounding of colours takes."""
AT = "/self_attention?text=time+flies+like+an+arrow&layer=1&head=8&cell=matches-4-3"


def open_at(view_at: Callable[..., Page], path: str = AT, **options: object) -> Page:
    """Open the page and wait until its matrices are painted."""
    page = view_at(path, **options)
    expect(page.get_by_test_id("matrix-row").last).to_have_attribute("data-paints", re.compile(r"\d"), timeout=60_000)
    return page


def click_cell(page: Page, name: str, row: int, column: int) -> None:
    """Click a cell of a matrix, counted from 0."""
    canvas = page.get_by_test_id(f"matrix-{name}").first
    expect(canvas).to_have_attribute("data-cell", re.compile(r"\d"))
    cell, wide, top = (float(canvas.get_attribute(f"data-{what}")) for what in ("cell", "wide", "top"))
    canvas.click(position={"x": 3 + (column + 0.5) * wide, "y": top + (row + 0.5) * cell})


def linked(page: Page, words: str) -> None:
    """Wait until the address says so."""
    page.wait_for_url(re.compile(f"[?&]{words}(&|$)"))


@pytest.fixture(scope="module")
def tensors():
    engine = catalogue.load("embedded")
    return head_run(engine, engine.trace(TEXT, keep=("hidden",)), HeadChoice(0, 7)).tensors


@pytest.fixture
def open_head(view_at):
    """Open the page and wait until its matrices are painted."""
    return partial(open_at, view_at)


def lit(page: Page, name: str, words: str) -> None:
    expect(page.get_by_test_id(f"matrix-{name}").first).to_have_attribute("data-lit", words)


def line(page: Page) -> str:
    return page.get_by_test_id("matrix-sum").first.inner_text().replace("−", "-")


NUMBER = r"\(?(-?[\d.]+(?:e-?\d+)?)\)?"


def plain(written: str) -> str:
    """A number as Python reads it: 3·10⁻⁶ is 3e-6."""
    return written.replace("·10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))


def products(written: str) -> list[tuple[float, float]]:
    return [(float(left), float(right)) for left, right in re.findall(f"{NUMBER} × {NUMBER}", plain(written))]


def named_products(written: str) -> list[tuple[int, float, float]]:
    """The products of a long sum, each with the number of its dimension."""
    found = re.findall(rf"(\d+): {NUMBER} × {NUMBER}", plain(written))
    return [(int(place), float(left), float(right)) for place, left, right in found]


def test_a_clicked_score_lights_query_and_key_and_writes_their_sum(open_head, tensors):
    page = open_head()
    click_cell(page, "matches", 1, 5)
    linked(page, "cell=matches-2-6")
    page.go_back()
    lit(page, "query", "left 3 *")
    click_cell(page, "matches", 1, 5)  # what was chosen before is chosen anew
    linked(page, "cell=matches-2-6")
    lit(page, "query", "left 1 *")
    lit(page, "key", "right 5 *")
    lit(page, "matches", "line 1 *, line * 5, own 1 5")
    lit(page, "value", "")
    products_of_cell = tensors.query[1] * tensors.key[5]
    largest = products_of_cell.abs().argsort(descending=True).tolist()
    assert [place for place, _, _ in named_products(line(page))] == [place + 1 for place in largest[:6]]
    (rest,) = re.findall(rf"{NUMBER} from 26 more", line(page))
    assert float(rest) == pytest.approx(float(products_of_cell[largest[6:]].sum()), abs=0.0051)
    page.get_by_role("button", name="All 32 terms").first.click()
    found = named_products(line(page))
    assert [place for place, _, _ in found] == [place + 1 for place in largest]
    assert [left for _, left, _ in found] == pytest.approx(tensors.query[1][largest].tolist(), abs=0.0051)
    assert [right for _, _, right in found] == pytest.approx(tensors.key[5][largest].tolist(), abs=0.0051)
    assert float(line(page).split("=")[1]) == pytest.approx(float(tensors.matches[1, 5]), abs=0.0051)
    assert page.get_by_test_id("matrix-readout").first.inner_text().startswith(f"{texts.DOT_PRODUCTS} · query time · key arrow")


def test_a_clicked_context_lights_weights_and_a_column_of_values(open_head, tensors):
    page = open_head()
    click_cell(page, "context", 2, 4)
    linked(page, "cell=context-3-5")
    lit(page, "weights", "left 2 *")
    lit(page, "value", "right * 4")
    assert [right for _, right in products(line(page))] == pytest.approx(tensors.value[:, 4].tolist(), abs=0.0051)
    assert float(line(page).split("=")[1]) == pytest.approx(float(tensors.context[2, 4]), abs=0.0051)


def test_at_first_the_largest_terms_make_up_most_of_the_sum_and_the_sentence_is_about_the_cell(open_head):
    page = open_head("/self_attention")
    (rest,) = re.findall(rf"{NUMBER} from 26 more", line(page))
    assert abs(float(rest)) < 0.1 * float(line(page).split("=")[1])
    note = page.get_by_test_id("matrix-readout").first.locator(".sum-note")
    expect(note).to_contain_text("“a”")
    expect(note).to_contain_text("“book”")
    click_cell(page, "weights", 3, 7)
    expect(note).to_contain_text("“read”")
    expect(note).to_contain_text("“book”")


def test_every_matrix_between_tells_how_it_was_made(open_head, tensors):
    page = open_head(f"{AT}&causal=1")
    numbers = {name: f"{float(getattr(tensors, name)[3, 2]):.2f}" for name in ("matches", "scores")}
    for name, says in {
        "scores": f"{numbers['matches']} ÷ √32 = {numbers['matches']} ÷ 5.66 = {numbers['scores']}",
        "masked": f"{numbers['scores']} stays {numbers['scores']}",
        "weights": f"e{numbers['scores']} ÷ (e",
    }.items():
        click_cell(page, name, 3, 2)
        linked(page, f"cell={name}-4-3")
        assert line(page).startswith(says)
    click_cell(page, "masked", 0, 4)
    linked(page, "cell=masked-1-5")
    assert line(page).endswith("becomes -∞")
    expect(page.get_by_test_id("matrix-readout").first).to_contain_text("“an” comes later than “[CLS]”, so it is hidden")


def test_the_arrow_keys_walk_from_cell_to_cell_and_escape_leaves_them(open_head):
    page = open_head(f"{AT}&cell=none")
    expect(page.get_by_test_id("matrix-sum").first).to_be_empty()
    page.get_by_role("group", name=re.compile("^Weights")).first.focus()
    page.keyboard.press("ArrowDown")
    linked(page, "cell=weights-1-1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    linked(page, "cell=weights-2-2")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    linked(page, "cell=weights-2-7")
    page.keyboard.press("Escape")
    linked(page, "cell=none")
    expect(page.get_by_test_id("matrix-row").first).to_have_attribute("data-chosen", "")


def test_changes_faster_than_the_page_keep_the_drawing_and_the_focus(open_head):
    page = open_head()
    box = page.get_by_role("group", name=re.compile("^Weights")).first.element_handle()
    box.focus()
    for key in ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"] * 6:
        page.keyboard.press(key)
        page.wait_for_timeout(70)  # as fast as choices are sent
    page.keyboard.press("End")
    linked(page, "cell=weights-1-7")
    assert box.evaluate("box => box.isConnected && box.matches(':focus')")


def test_moving_the_slider_draws_at_once_and_the_page_follows(open_head):
    page = open_head()
    shape = page.get_by_role("slider", name="Dimensions drawn").evaluate("""slider => {
      slider.value = 9
      slider.dispatchEvent(new Event('input'))
      return slider.getRootNode().querySelector('.panel .shape').textContent
    }""")
    assert shape == "7 × 256, first 9 drawn"
    linked(page, "dimensions=9")
    page.get_by_role("checkbox", name="Show numbers").check()
    linked(page, "numbers=1")
    page.go_back()
    expect(page.get_by_role("checkbox", name="Show numbers")).not_to_be_checked()
    page.go_back()
    expect(page.get_by_role("slider", name="Dimensions drawn")).to_have_value("6")


def test_an_edited_value_changes_what_the_store_returns_and_stays_in_the_link(open_head):
    page = open_head(f"{AT}&q2=0&q3=10")
    answer = page.get_by_text(texts.FOUND.split("**")[0])
    expect(answer).to_contain_text("(550, 5.5, 0)")
    editor = open_editor(page)
    editor.fill("300")
    editor.press("Enter")
    expect(answer).to_contain_text("(650, 5.5, 0)")
    page.wait_for_url(re.compile("store="))
    page.reload()
    expect(answer).to_contain_text("(650, 5.5, 0)", timeout=60_000)


def open_editor(page: Page) -> Locator:
    """Open the first value of the third row; the table's canvas may not listen yet when it is first clicked."""
    editor = page.locator("input.gdg-input")
    for _ in range(20):
        page.get_by_test_id("stDataFrame").click(position={"x": 33 + 3.5 * 86, "y": 3.5 * 35})
        page.keyboard.press("Enter")
        page.wait_for_timeout(300)
        if editor.count():
            return editor
    pytest.fail("no cell of the table opened")


def test_on_a_phone_the_matrices_scroll_in_their_own_box(open_head):
    page = open_head(AT, width=390)
    row = page.get_by_test_id("matrix-row").first
    expect(row.locator(".line")).to_have_count(1)
    assert row.locator(".line").evaluate("line => line.scrollWidth > line.clientWidth + 400")
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    click_cell(page, "context", 1, 1)
    linked(page, "cell=context-2-2")


def test_hostile_words_are_drawn_as_text(open_head):
    page = open_head("/self_attention?text=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&cell=weights-2-2")
    expect(page.get_by_test_id("matrix-readout").first).to_contain_text("query <")
    assert page.locator("img[src=x]").count() == 0


def test_the_page_has_no_accessibility_violation(open_head, axe, darken, resize):
    page = open_head(f"{AT}&unscaled=1&causal=1&numbers=1")
    page.get_by_test_id("stNumberInput").first.wait_for()
    page.get_by_test_id("lines").and_(page.locator("[data-paints]")).wait_for()
    axe(page)
    resize(page, 390)
    darken(page)
    axe(page)


LONG = f"/self_attention?text={'+'.join(['dog', 'cat'] * 51)}"
LONG_TEXT = "/self_attention?text=" + "the+cat+sat+on+the+mat+and+" * 14
LIT_NAMES = """
  const write = CanvasRenderingContext2D.prototype.fillText
  window.lit = {}
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const space = this.canvas.height / devicePixelRatio
    if (this.textAlign === 'right' && this.font.startsWith('600')) window.lit[text] = { y, space }
    return write.call(this, text, x, y, ...rest)
  }"""
"""Remembers where the names of lit rows were written, and how tall their canvas is."""
CELL_NUMBERS = """
  const { fill, fillText, save } = CanvasRenderingContext2D.prototype
  const grounds = new WeakMap()
  const colours = (context) => [context.fillStyle, context.globalAlpha]
  window.numbers = []
  Object.assign(CanvasRenderingContext2D.prototype, {
    fill(...given) { grounds.set(this, colours(this)); return fill.apply(this, given) },
    save() { grounds.delete(this); return save.call(this) },
    fillText(...given) {
      if (grounds.has(this)) window.numbers.push([grounds.get(this), colours(this)])
      grounds.delete(this)
      return fillText.apply(this, given)
    },
  })"""
"""Remembers of each number in a cell the colour of the cell and that of the number, each with its opacity."""
COVERED_ROWS = """
  async (main) => {
    const covered = [];
    for (let top = 0; top < main.scrollHeight; top += 150) {
      main.scrollTop = top;
      await new Promise(requestAnimationFrame);
      for (const view of document.querySelectorAll("*")) {
        const root = view.shadowRoot?.querySelector("[data-testid=matrix-row]");
        if (!root) continue;
        const sum = root.querySelector("[data-testid=matrix-readout]").getBoundingClientRect();
        const lines = root.querySelector(".lines").getBoundingClientRect();
        for (const canvas of root.querySelectorAll("canvas[data-testid]")) {
          const box = canvas.getBoundingClientRect();
          const shown = Math.min(box.bottom, lines.bottom);
          if (shown > sum.top + 1 && box.top < sum.bottom) covered.push([top, canvas.dataset.testid]);
        }
      }
    }
    return covered;
  }"""
"""The matrices of which the sum covers rows, each with the place to which the page is scrolled."""
TOPS = "(drawn, names) => names.map((name) => drawn.find((one) => one.dataset.testid === name).getBoundingClientRect().top)"


@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_long_sentence_a_clicked_cell_and_its_sum_fit_on_one_screen(open_head, width):
    page = open_head(LONG, width=width)
    for name in ("matches", "weights"):
        click_cell(page, name, 8, 8)
        linked(page, f"cell={name}-9-9")
        page.get_by_test_id("matrix-readout").first.evaluate("readout => readout.scrollIntoView({ block: 'end' })")
        sum_box, map_box = (page.get_by_test_id(one).first.bounding_box() for one in ("matrix-readout", f"matrix-{name}"))
        assert 0 < map_box["y"] < sum_box["y"] <= 900 - sum_box["height"] + 1


@pytest.mark.parametrize("path", [LONG, "/self_attention", "/self_attention?numbers=1"])
def test_wherever_the_page_is_scrolled_the_sum_covers_no_row(open_head, resize, path):
    page = open_head(path)
    if path == "/self_attention":  # and at first no row is hidden in a box of its own
        assert page.locator(".lines").first.evaluate("lines => lines.scrollHeight - lines.clientHeight") <= 0
    for width in (1280, 390):
        resize(page, width)
        assert page.get_by_test_id("stMain").evaluate(COVERED_ROWS) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_matrices_of_a_long_sentence_stand_side_by_side_and_the_keys_scroll_to_their_cell(open_head, width):
    page = open_head(LONG, width=width)
    names = ["matrix-query", "matrix-matches", "matrix-weights", "matrix-context"]
    for name in names:
        page.get_by_test_id(name).first.wait_for()
    tops = page.locator("[data-testid^=matrix-]").evaluate_all(TOPS, names)  # at one moment, whatever is drawn above them
    assert max(tops) - min(tops) < 2
    assert float(page.get_by_test_id("matrix-query").first.get_attribute("data-wide")) >= 10
    page.get_by_role("group", name=re.compile("^Weights")).first.focus()
    page.keyboard.press("End")
    linked(page, "cell=weights-1-104")
    canvas, line = page.get_by_test_id("matrix-weights").first, page.locator(".line").first
    assert width / 2 < canvas.bounding_box()["x"] + 104 * 5 < line.bounding_box()["x"] + line.bounding_box()["width"]


def test_the_longest_sentence_is_drawn(open_head):
    page = open_head(f"/self_attention?text={'+'.join(['word'] * 126)}&cell=weights-128-128")
    canvas = page.get_by_test_id("matrix-weights").first
    expect(canvas).to_have_attribute("data-lit", "line 127 *, line * 127, own 127 127")
    assert float(canvas.get_attribute("data-cell")) >= 4


def test_every_number_stands_out_from_its_cell_also_where_another_cell_is_chosen(page_at, darken):
    page = page_at("/self_attention", prepare=lambda page: page.add_init_script(CELL_NUMBERS))
    for is_dark in (False, True):
        if is_dark:
            page.evaluate("window.numbers = []")
            darken(page)
        page.wait_for_function("() => window.numbers?.length > 30", timeout=60_000)
        over = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
        for ground, ink in page.evaluate("window.numbers"):
            cell = blend(*ground, channels(over))
            assert contrast(blend(*ink, cell), cell) >= MIN_TEXT_CONTRAST, (ground, ink)


def channels(colour: str) -> list[float]:
    """Read a colour as a canvas or a style sheet writes it: #rrggbb or rgb(…)."""
    if colour.startswith("#"):
        return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return [float(number) for number in re.findall(r"[\d.]+", colour)[:3]]


def blend(colour: str, opacity: float, ground: list[float]) -> list[float]:
    """Lay a colour over a ground."""
    return [above * opacity + below * (1 - opacity) for above, below in zip(channels(colour), ground, strict=True)]


def test_the_names_of_two_lit_rows_that_touch_stand_below_each_other_on_the_matrix(page_at):
    page = page_at(f"{LONG_TEXT}&cell=matches-4-3", prepare=lambda page: page.add_init_script(LIT_NAMES))
    page.get_by_test_id("matrix-scores").first.wait_for(timeout=60_000)
    for names in (["cat", "sat"], ["and", "[SEP]"]):
        if names[0] == "and":
            page.evaluate("window.lit = {}")
            go_by_history(page, f"{LONG_TEXT}&cell=matches-100-99")
        page.wait_for_function("names => names.every(name => window.lit[name])", arg=names)
        upper, lower = (page.evaluate("window.lit")[name] for name in names)
        assert lower["y"] - upper["y"] >= 13
        assert lower["y"] + 5 <= lower["space"]


def test_the_keyboard_keeps_its_cell_above_the_sum(view_at, settle):
    page = view_at(f"{LONG_TEXT}&cell=scores-81-1")
    scores = page.get_by_test_id("matrix-scores").first
    scores.wait_for(timeout=60_000)
    page.get_by_role("group", name=re.compile("^Scores")).first.focus()
    for _ in range(16):
        page.keyboard.press("ArrowDown")
    place = re.compile(r"own (9\d) ")
    expect(scores).to_have_attribute("data-lit", place)
    settle(page)
    expect(scores).to_be_visible()
    cell, top = (float(scores.get_attribute(f"data-{what}")) for what in ("cell", "top"))
    y = scores.bounding_box()["y"] + top + (int(place.search(scores.get_attribute("data-lit"))[1]) + 0.5) * cell
    assert 0 < y < page.get_by_test_id("matrix-readout").first.bounding_box()["y"]
