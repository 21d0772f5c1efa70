"""The page of comparisons as a visitor meets it: what is pointed at in one map lights up in the others."""

import json
import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

from pages.compare import texts
from pages.ui.canvas.texts import COMPARISON
from tx_core.analysis.views import word_groups
from tx_core.analysis.word_comparison import cosines, spell_words, word_similarity, word_vectors
from tx_core.engine import catalogue

TEXTS = ("time flies like an arrow", "fruit flies like a banana")
FLIES = "/compare?text=time+flies+like+an+arrow&text_b=fruit+flies+like+a+banana"
"""A: [CLS] time flies like an arrow [SEP]. Together: [CLS] time fruit flies like an arrow a banana [SEP]."""


def arrive(page_at: Callable[..., Page], path: str, **how: object) -> Page:
    """Open the page, and wait until its maps are drawn, however busy the machine is."""
    page = page_at(path, **how)
    expect(canvas(page, "difference")).to_have_attribute("data-shape", re.compile("cell"), timeout=120_000)
    return page


def canvas(page: Page, name: str) -> Locator:
    """The map of A ("a"), of B ("b") or of both ("difference")."""
    return page.get_by_test_id(f"comparison-{name}")


def cell(page: Page, name: str, query: int, key: int) -> dict[str, float]:
    """Where in a map a cell lies, counted from 0; -1 is the label before the first cell."""
    shape = json.loads(canvas(page, name).get_attribute("data-shape"))
    across = shape["left"] / 2 if key < 0 else shape["left"] + (key + 0.5) * shape["cell"]
    return {"x": across, "y": shape["top"] + (query + 0.5) * shape["cell"]}


def marked(page: Page, name: str, marks: dict[str, int | None]) -> None:
    """What is focused and pointed at in a map."""
    expect(canvas(page, name)).to_have_attribute("data-marks", json.dumps(marks, separators=(",", ":")), timeout=60_000)


def test_what_is_pointed_at_in_one_map_is_marked_in_the_others_where_they_have_it(view_at):
    page = arrive(view_at, FLIES)
    canvas(page, "a").hover(position=cell(page, "a", 2, 3))
    marked(page, "b", {"focus": None, "query": 2, "key": 3})
    marked(page, "difference", {"focus": None, "query": 3, "key": 4})
    told = page.get_by_test_id("attention-tooltip")
    expect(told).to_contain_text(re.compile(r"flies → like.*A 0\.\d{3} · B 0\.\d{3} · [+−]0\.\d{3}"))
    canvas(page, "a").hover(position=cell(page, "a", 1, 3))
    marked(page, "b", {"focus": None, "query": None, "key": 3})
    expect(told).to_contain_text(COMPARISON["onlyIn"][0])
    canvas(page, "difference").hover(position=cell(page, "difference", 2, 2))
    marked(page, "a", {"focus": None, "query": None, "key": None})
    marked(page, "b", {"focus": None, "query": 1, "key": 1})


def test_a_word_focused_in_one_map_is_focused_in_its_partner_and_in_the_link(view_at, settle):
    page = arrive(view_at, FLIES)
    canvas(page, "b").click(position=cell(page, "b", 2, -1))
    page.wait_for_url(re.compile("focus=4"))
    page.mouse.move(0, 0)
    marked(page, "a", {"focus": 2, "query": None, "key": None})
    marked(page, "difference", {"focus": 3, "query": None, "key": None})
    readout = page.get_by_test_id("attention-readout")
    expect(readout).to_contain_text(COMPARISON["differencesOf"].format(word="flies"), timeout=60_000)
    expect(readout.get_by_role("listitem")).to_have_count(4)
    page.get_by_role("group", name=re.compile("^B − A")).press("ArrowUp")
    expect(readout).to_contain_text(COMPARISON["noDifference"][1].format(word="fruit"))
    marked(page, "a", {"focus": None, "query": None, "key": None})
    page.wait_for_url(re.compile("focus=3"))
    settle(page)
    page.reload()
    expect(page.get_by_test_id("comparison")).to_have_attribute("data-focus", "2", timeout=120_000)


def test_pinning_and_going_back(view_at, settle):
    page = arrive(view_at, FLIES)
    page.get_by_role("button", name=texts.PIN).click()
    page.get_by_text(texts.SAME_SIDES).wait_for()
    expect(page.get_by_label(texts.SIDE_SENTENCES["A"])).to_have_value("fruit flies like a banana")
    settle(page)
    page.go_back()
    expect(page.get_by_label(texts.SIDE_SENTENCES["A"])).to_have_value("time flies like an arrow", timeout=60_000)
    expect(page.get_by_text(texts.SAME_SIDES)).to_be_hidden(timeout=60_000)


def test_a_step_of_the_lines_tells_its_numbers_to_pointer_and_keyboard_without_plotly(view_at):
    page = arrive(view_at, FLIES)
    runs = [catalogue.load(catalogue.DEFAULT).trace(text, keep=("hidden",)) for text in TEXTS]
    groups = [word_groups(run.attention.query_tokens) for run in runs]
    spelled = [spell_words(run.attention.query_tokens, group) for run, group in zip(runs, groups, strict=True)]
    vectors = [word_vectors(run.hidden, group) for run, group in zip(runs, groups, strict=True)]
    found = word_similarity(cosines(*vectors), *spelled, (2, 2))

    def told(step: int) -> None:
        numbers = [re.escape(f"{line[step]:#.3g}".replace("-", "−")) for line in (found.word, found.shared, found.mean)]
        name = f"^layer {step}" if step else "^embeddings"
        expect(readout).to_have_text(re.compile(f"{name}“flies” in A and B {numbers[0]}.* {numbers[1]}.* {numbers[2]}$"))

    readout = page.get_by_test_id("lines-readout")
    chart = page.get_by_role("group", name=re.compile(f"^{texts.COSINES}"))
    ends = f"from {found.word[0]:.3g} to {found.word[-1]:.3g};"
    expect(chart.get_by_role("img")).to_have_attribute("aria-label", re.compile(ends))
    places = json.loads(chart.get_attribute("data-steps"))
    assert len(places) == len(found.word)
    chart.hover(position={"x": places[1] + 5, "y": 40})
    told(1)
    chart.press("ArrowRight")
    told(2)
    chart.press("End")
    told(len(places) - 1)
    chart.press("Escape")
    expect(readout).to_be_empty()
    chart.dispatch_event("pointerleave", {"pointerType": "mouse"})
    chart.press("ArrowRight")
    told(0)
    page.mouse.click(0, 0)
    expect(readout).to_be_empty()
    fetched = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [name for name in fetched if "modules/" in name]
    assert [name for name in fetched if "plotly" in name.lower()] == []


def test_with_everything_open_the_page_is_accessible_at_both_widths_and_in_both_themes(view_at, settle, axe, darken, resize):
    page = arrive(view_at, f"{FLIES}&focus=4", width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_text(texts.TABLE).click()
    page.get_by_test_id("stDataFrame").wait_for()
    page.get_by_text(texts.SIMILARITIES).click()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(2)
    settle(page)
    axe(page)
    resize(page, 1280)
    axe(page)
    darken(page)
    axe(page)
    resize(page, 390)
    axe(page)


def test_hostile_text_is_only_text_in_every_map(view_at, settle):
    one, other = "<img src=x onerror=alert(1)> cat", "<img src=x> [x](javascript:alert(3)) :red[y] cat"
    page = arrive(view_at, f"/compare?text={quote(one)}&text_b={quote(other)}")
    canvas(page, "a").hover(position=cell(page, "a", 1, 1))
    settle(page)
    assert page.locator("img[src='x']").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
