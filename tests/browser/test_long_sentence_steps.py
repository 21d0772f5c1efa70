"""The steps of a long sentence in a real browser: beside one another, with the sum, the names and the keys where one looks."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.support.steps_page import click_cell, linked, open_at

LONG = f"/self_attention?text={'+'.join(['dog', 'cat'] * 51)}"
TEXT = "/self_attention?text=" + "the+cat+sat+on+the+mat+and+" * 14
LIT_NAMES = """
  const write = CanvasRenderingContext2D.prototype.fillText
  window.lit = {}
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    const room = this.canvas.height / devicePixelRatio
    if (this.textAlign === 'right' && this.font.startsWith('600')) window.lit[text] = { y, room }
    return write.call(this, text, x, y, ...rest)
  }"""
"""Remembers where the names of lit rows were written, and how tall their canvas is."""
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


@pytest.fixture
def open_steps(page_at):
    """Open the page and wait until its matrices are painted."""
    return partial(open_at, page_at)


@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_long_sentence_a_clicked_cell_and_its_sum_fit_on_one_screen(open_steps, width):
    page = open_steps(LONG, width=width)
    for name in ("matches", "weights"):
        click_cell(page, name, 8, 8)
        linked(page, f"cell={name}-9-9")
        page.get_by_test_id("matrix-readout").first.evaluate("readout => readout.scrollIntoView({ block: 'end' })")
        sum_box, map_box = (page.get_by_test_id(one).first.bounding_box() for one in ("matrix-readout", f"matrix-{name}"))
        assert 0 < map_box["y"] < sum_box["y"] <= 900 - sum_box["height"] + 1


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", [LONG, "/self_attention", "/self_attention?numbers=1"])
def test_wherever_the_page_is_scrolled_the_sum_covers_no_row(open_steps, path, width):
    page = open_steps(path, width=width)
    assert page.get_by_test_id("stMain").evaluate(COVERED_ROWS) == []


def test_at_first_no_row_is_hidden_in_a_box_of_its_own(open_steps):
    lines = open_steps("/self_attention").locator(".lines").first
    assert lines.evaluate("lines => lines.scrollHeight - lines.clientHeight") <= 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_steps_of_a_long_sentence_stand_side_by_side_and_the_keys_scroll_to_their_cell(open_steps, width):
    page = open_steps(LONG, width=width)
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


def test_the_longest_sentence_is_drawn(open_steps):
    page = open_steps(f"/self_attention?text={'+'.join(['word'] * 126)}&cell=weights-128-128")
    canvas = page.get_by_test_id("matrix-weights").first
    expect(canvas).to_have_attribute("data-lit", "line 127 *, line * 127, own 127 127")
    assert float(canvas.get_attribute("data-cell")) >= 4


@pytest.mark.parametrize(("cell", "above", "below"), [("matches-4-3", "cat", "sat"), ("matches-100-99", "and", "[SEP]")])
def test_the_names_of_two_lit_rows_that_touch_stand_below_each_other_on_the_matrix(page_at, cell, above, below):
    page = page_at(f"{TEXT}&cell={cell}")
    page.add_init_script(LIT_NAMES)
    page.reload()
    page.get_by_test_id("matrix-scores").first.wait_for(timeout=30_000)
    page.wait_for_function("names => names.every(name => window.lit[name])", arg=[above, below])
    upper, lower = (page.evaluate("window.lit")[name] for name in (above, below))
    assert lower["y"] - upper["y"] >= 13
    assert lower["y"] + 5 <= lower["room"]


def test_the_keyboard_keeps_its_cell_above_the_sum(page_at, settle):
    page = page_at(TEXT)
    scores = page.get_by_test_id("matrix-scores").first
    scores.wait_for(timeout=30_000)
    page.get_by_role("group", name=re.compile("^Scores")).first.focus()
    for _ in range(96):
        page.keyboard.press("ArrowDown")
    place = re.compile(r"own (9\d) ")
    expect(scores).to_have_attribute("data-lit", place)
    settle(page)
    expect(scores).to_be_visible()
    cell, top = (float(scores.get_attribute(f"data-{what}")) for what in ("cell", "top"))
    y = scores.bounding_box()["y"] + top + (int(place.search(scores.get_attribute("data-lit"))[1]) + 0.5) * cell
    assert 0 < y < page.get_by_test_id("matrix-readout").first.bounding_box()["y"]
