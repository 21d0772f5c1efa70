"""What a visitor saves opens elsewhere: figures as SVG, PNG and PDF, the web page without a network; no text is markup in any."""

import json
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from pages.compare.drawings import packed_comparison
from pages.summaries.texts import KINDS_SUBJECTS
from pages.ui.canvas.charts import lines_chart, moved_chart, probability_chart
from pages.ui.canvas.head_table import HeadCell, LegendEntry
from pages.ui.canvas.mask_grid import Heatmap, Matrices
from pages.ui.canvas.plotly_figures import PointKind
from pages.ui.export import texts
from pages.ui.export.figure import (
    MODULE,
    STILL,
    STYLE,
    THEME_COLOURS,
    charts_figure,
    grid_chart,
    listing_chart,
    points_chart,
    signed_chart,
)
from pages.ui.export.menu import stand_alone
from pages.ui.export.records import Code, Export, WebPage
from pages.ui.shell.numbers import percent
from tests.support.messages import name_in_head
from tx_core.analysis.comparison import Comparison
from tx_core.engine import catalogue
from tx_core.settings import app_version

TEXT = "Tom lost his keys."
HOSTILE = "</svg></script><script>alert(1)</script><img src=x onerror=alert(2)> & ]]> 'a' \"b\" \u202eabc"
UNICODE = "שלום مرحبا 你好 💥 → ≈ naïve – “€”"
FADED = """() => Promise.all(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))
  .then(() => null)"""
RESTED = """async button => {
  for (let [top, frames] = [null, 0]; frames < 20; frames += 1) {
    await new Promise(requestAnimationFrame)
    const now = button.getBoundingClientRect().top
    if (now !== top) [top, frames] = [now, 0]
  }
}"""
"""Waits until a button has stood still for twenty frames: a picture above it that is still made moves it from the pointer."""
SVG = "{http://www.w3.org/2000/svg}"


def panel(page: Page) -> Locator:
    return page.get_by_test_id("stExpander").filter(has_text=texts.TITLE)


def opened(page: Page, settle, form: str = texts.FIGURE) -> Page:
    """The page with one form of its export open."""
    page.get_by_text(texts.TITLE).click()
    settle(page)
    if form != texts.FIGURE:
        panel(page).get_by_text(form, exact=True).click()
        settle(page)
    return page


def saved(page: Page, button: str, folder: Path) -> Path:
    """The file that a button saves."""
    pressed = panel(page).get_by_role("button", name=button)
    pressed.scroll_into_view_if_needed()
    pressed.evaluate(RESTED)
    with page.expect_download() as download:
        pressed.click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def test_the_svg_holds_every_token_and_number_of_the_screen_as_text_in_the_width_asked_for(view_at, settle, tmp_path):
    page = opened(view_at(f"/attention?text={quote(TEXT)}&heads=4-5&focus=4"), settle)
    file = saved(page, "Save as SVG", tmp_path)
    assert file.name == "attention-embedded-layer4-head5.svg"
    root = ElementTree.parse(file).getroot()
    assert root.get("width") == "174mm"
    written = [node.text for node in root.iter(f"{SVG}text")]
    run = catalogue.load("embedded").trace(TEXT)
    weights = run.attention.weights[3, 4]
    shown = [f"{weight:.2f}".removeprefix("0") for weight in weights.ravel() if weight >= 0.005]
    assert [text for text in written if re.fullmatch(r"1?\.\d\d", text)] == shown
    assert set(run.attention.query_tokens.tokens) < set(written)
    assert "layer 4, head 5" in root.find(f"{SVG}desc").text
    assert "“Tom lost his keys.”" in " ".join(written)
    source = root.find(f"{SVG}desc").text
    assert catalogue.revision("embedded") in source
    assert app_version() in source
    link = source.split()[-1]
    assert parse_qs(urlsplit(link).query) == parse_qs(urlsplit(page.url).query)
    assert link in "".join(written)


def test_the_png_is_as_wide_as_asked_for_and_knows_its_size_on_paper(view_at, settle, tmp_path):
    page = opened(view_at(f"/attention?text={quote(TEXT)}"), settle)
    width = panel(page).get_by_role("spinbutton", name=texts.ASK_WIDTH.format(unit="mm"))
    width.fill("84")
    width.press("Enter")
    expect(panel(page).get_by_role("status")).to_contain_text("84 ×")
    file = saved(page, "Save as PNG", tmp_path).read_bytes()
    assert file.startswith(b"\x89PNG\r\n\x1a\n")
    wide, _ = struct.unpack(">II", file[16:24])
    assert wide == round(84 / 25.4 * 300)
    assert file[37:41] == b"pHYs"
    assert struct.unpack(">II", file[41:49]) == (11811, 11811)
    assert struct.unpack(">I", file[50:54])[0] == zlib.crc32(file[37:50])


def pdf_of(file: bytes) -> tuple[str, list[str]]:
    """The page of a PDF with its size, and every text that a reader of it can find; each object begins where the table says."""
    start = int(re.search(rb"startxref\n(\d+)\n%%EOF\n$", file)[1])
    assert file.startswith(b"%PDF-1.") and file[start:].startswith(b"xref\n0 ")
    offsets = [int(one) for one in re.findall(rb"^(\d{10}) 00000 n $", file[start:], flags=re.MULTILINE)]
    objects = [file[offset:].partition(b"\nendobj\n")[0] for offset in offsets]
    assert [one.split(b"\n")[0] for one in objects] == [b"%d 0 obj" % number for number in range(1, len(objects) + 1)]
    page = next(one for one in objects if b"/Type /Page " in one).decode("ascii")
    contents = objects[int(re.search(r"/Contents (\d+) 0 R", page)[1]) - 1]
    commands = zlib.decompress(contents.partition(b"stream\n")[2].rpartition(b"\nendstream")[0]).decode("ascii")
    found = re.findall(r"/ActualText <feff([0-9a-f]*)>|<([0-9a-f]*)> Tj", commands)
    return page, [bytes.fromhex(wide).decode("utf-16-be") or bytes.fromhex(latin).decode("cp1252") for wide, latin in found]


def test_the_pdf_holds_every_text_of_the_svg_in_the_chosen_size(view_at, settle, tmp_path):
    page = opened(view_at(f"/attention?text={quote(f'{UNICODE} lost his keys.')}&heads=4-5"), settle)
    root = ElementTree.parse(saved(page, "Save as SVG", tmp_path)).getroot()
    file = saved(page, "Save as PDF", tmp_path)
    assert file.name == "attention-embedded-layer4-head5.pdf"
    sheet, texts_found = pdf_of(file.read_bytes())
    written = [node.text.replace("−", "–") for node in root.iter(f"{SVG}text")]
    assert texts_found == written
    width = re.search(r"/MediaBox \[0 0 ([\d.]+) ", sheet)[1]
    assert float(width) == pytest.approx(174 / 25.4 * 72, abs=0.01)
    assert any("שלום" in text for text in texts_found)
    subject = root.find(f"{SVG}desc").text.encode("utf-16-be").hex().encode()
    assert b"/Subject <feff" + subject + b">" in file.read_bytes()


def test_a_changed_run_is_saved_as_before_after_and_difference(page_at, settle, tmp_path):
    page = opened(page_at(f"/?text={quote(TEXT)}&heads=4-5&changes=off~1-2"), settle)
    root = ElementTree.parse(saved(page, "Save as SVG", tmp_path)).getroot()
    written = [node.text for node in root.iter(f"{SVG}text")]
    assert [text for text in written if text in ("Before", "After", "Difference")] == ["Before", "After", "Difference"]
    assert name_in_head("off", 1, 2) in root.find(f"{SVG}desc").text
    panel(page).get_by_text(texts.WEB_PAGE, exact=True).click()
    settle(page)
    file = saved(page, texts.SAVE_WEB_PAGE, tmp_path)
    alone = page.context.new_page()
    alone.goto(file.as_uri())
    expect(alone.get_by_test_id("attention-difference")).to_have_attribute("data-shape", re.compile("cell"))


def test_hostile_text_is_text_in_the_svg(view_at, settle, tmp_path):
    page = opened(view_at(f"/attention?text={quote(HOSTILE)}&pair={quote(HOSTILE)}"), settle)
    root = ElementTree.parse(saved(page, "Save as SVG", tmp_path)).getroot()
    assert {node.tag.removeprefix(SVG) for node in root.iter()} == {"svg", "title", "desc", "g", "path", "clipPath", "text"}
    assert "<script>alert(1)</script>" in root.find(f"{SVG}desc").text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_web_page_works_without_a_network_and_hostile_text_stays_text(
    page_at, settle, axe, browser: Browser, tmp_path, dark: bool
):
    page = opened(page_at(f"/?text={quote(HOSTILE)}&heads=1-2"), settle, texts.WEB_PAGE)
    file = saved(page, texts.SAVE_WEB_PAGE, tmp_path)
    context = browser.new_context(offline=True, color_scheme="dark" if dark else "light", viewport={"width": 390, "height": 800})
    alone, faults = context.new_page(), []
    alone.on("request", lambda request: faults.append(request.url) if not request.url.startswith("file:") else None)
    for event in ("pageerror", "dialog"):
        alone.on(event, lambda fault: faults.append(str(fault)))
    alone.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    alone.goto(file.as_uri())
    canvas = alone.get_by_test_id("attention-heatmap")
    expect(canvas).to_have_attribute("data-shape", re.compile("cell"))
    shape = json.loads(canvas.get_attribute("data-shape"))
    canvas.click(position={"x": shape["left"] + 2, "y": shape["top"] + 1.5 * shape["cell"]})
    expect(alone.get_by_test_id("attention-strongest").locator("li").first).to_be_visible()
    expect(alone.get_by_text("<script>alert(1)</script>").first).to_be_visible()
    assert alone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert alone.evaluate("document.images.length + document.scripts.length") == 1
    axe(alone)
    assert faults == []
    context.close()


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_every_form_is_free_of_barriers_and_no_wider_than_the_screen(page_at, settle, axe, width: int, dark: bool):
    page = opened(page_at(f"/?text={quote(TEXT)}", width=width, dark=dark), settle)
    seen = {
        texts.FIGURE: "the PNG is",
        texts.DATA: texts.WEIGHTS.format(count=49),
        texts.WEB_PAGE: texts.WEB_PAGE_FILE,
        texts.CODE: texts.NEEDS_PROJECT,
    }
    for form, words in seen.items():
        panel(page).get_by_text(form, exact=True).click()
        panel(page).get_by_text(words).wait_for()
        settle(page)
        page.mouse.move(0, 0)
        expect(page.locator("[data-stale='true']")).to_have_count(0)
        page.evaluate(FADED)
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    panel(page).get_by_text(texts.TRANSFORMERS_CODE).click()
    expect(panel(page).get_by_text("AutoTokenizer").first).to_be_visible()


def test_numbers_are_saved_as_files(view_at, settle, tmp_path):
    page = opened(view_at(f"/attention?text={quote(TEXT)}&heads=4-5"), settle, texts.DATA)
    entries = json.loads(saved(page, texts.SAVE_AS.format(form="JSON"), tmp_path).read_bytes())
    assert entries["text"] == TEXT
    assert entries["maps"] == [[[4, 5]]]
    panel(page).get_by_text(texts.ALL_WEIGHTS).click()
    settle(page)
    assert saved(page, texts.SAVE_AS.format(form="NPZ"), tmp_path).name == "attention-embedded-all.npz"


def test_the_table_of_heads_is_saved_from_its_page_as_the_screen_shows_it(view_at, settle, tmp_path):
    page = opened(view_at("/summaries?part=glance&heads=2-3"), settle)
    root = ElementTree.parse(saved(page, "Save as SVG", tmp_path)).getroot()
    cells = page.get_by_test_id("head-table").locator("button")
    assert set(cells.locator(".share").all_text_contents()) < {node.text for node in root.iter(f"{SVG}text")}
    assert KINDS_SUBJECTS["pattern"] in root.find(f"{SVG}desc").text


def drawings() -> dict[str, tuple[Callable[..., bytes], set[str]]]:
    """Every kind of drawing with hostile words, and words that it must hold."""
    steps, words = ["input", "1", "2"], [HOSTILE, "cat"]
    cell, entry = HeadCell("broad", "≈", "0.87", "#a8912a", 0.87, "told"), LegendEntry(HOSTILE, "≈", "#a8912a")
    kinds = [PointKind("broad", "#a8912a", "star")] * 2
    charts = [
        probability_chart(HOSTILE, words, [0.25, 0.00002], limit=0.2),
        signed_chart("Gradients", words, [0.25, -0.5], limit=0.5),
        moved_chart("Changes", words, [0.25, 0.5], [0.5, 0.0], limit=0.4),
        lines_chart("Depth", steps, {HOSTILE: [0.1, 0.5, 0.9], "shared": [0, 0, 1]}, band=([0, 0, 0], [1, 1, 1]), note=HOSTILE),
        points_chart("Map", np.array([[0.0, 0.0], [1.0, 2.0]]), "1-2", kinds, 0, [1]),
        grid_chart([[cell, cell]], [entry], (0, 1)),
        listing_chart("Answers", ["word", ""], [[HOSTILE, "3.1 %"]]),
        None,
    ]
    told = {percent(0.25), percent(0.00002), "−0.50", "25.0 → 50.0\u00a0%", "shared", "1-2", "broad", "Answers", "3.1 %"}
    both = Comparison(
        ((0, 0), (1, None), (None, 1)),
        ("cat", HOSTILE, "dog"),
        (False,) * 3,
        np.eye(2, dtype=np.float32),
        np.full((2, 2), 0.5, np.float32),
        np.zeros((3, 3), np.float32),
        np.eye(3) > 2,
    )
    tokens, titles = (["cat", HOSTILE], ["cat", "dog"]), (f"A · {HOSTILE}", "B", "B − A")

    def compared(**more: object) -> bytes:
        given = {"drawing": "comparison"} | more
        return packed_comparison(both, tokens, titles, alt="told", scale="blues", focus=1, **given)

    cells = Heatmap("Rollout", "weights", np.array([[0.25, 0.75]]), "told", note="sums to 1")
    board = Matrices(("layer 1",), tuple(words), (cells,))
    return {
        "charts": (charts_figure(charts, "told", across=2), told),
        "comparison": (compared, {"B: dog", "B − A", "hatched: a word without a partner"}),
        "matrices": (lambda **more: board.packed(**{"drawing": "matrices"} | more), {"Rollout", "layer 1", ".25", "sums to 1"}),
    }


@pytest.mark.parametrize("kind", ["charts", "comparison", "matrices"])
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_every_kind_of_drawing_is_text_and_shapes_in_a_file_and_works_offline(
    browser: Browser, axe, tmp_path, kind: str, width: int, dark: bool
):
    picture, words = drawings()[kind]
    about = {"caption": HOSTILE, "title": HOSTILE, "file": "drawn", "captioned": True, "panel": texts.FIGURE_PANEL}
    asked = picture(width=174.0, unit="mm", colours=THEME_COLOURS["Light"], **about)
    pages = {
        "picture": WebPage(MODULE, (STYLE,), "", lambda: asked),
        "still": WebPage(STILL, (), "", picture, ("word", "share"), lambda: [(HOSTILE, 0.25)]),
    }
    scheme = "dark" if dark else "light"
    context = browser.new_context(offline=True, color_scheme=scheme, viewport={"width": width, "height": 900})
    page, faults = context.new_page(), []
    for event in ("pageerror", "dialog"):
        page.on(event, lambda fault: faults.append(str(fault)))
    for name, alone in pages.items():
        file = tmp_path / f"{name}.html"
        file.write_text(stand_alone(Export(HOSTILE, HOSTILE, "drawn", picture, alone, (), Code("", str), {})), encoding="utf-8")
        page.goto(file.as_uri())
        expect(page.locator("canvas").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        axe(page)
        if name == "picture":
            with page.expect_download() as download:
                page.get_by_role("button", name="Save as SVG").click()
            root = ElementTree.parse(download.value.path()).getroot()
            with page.expect_download() as download:
                page.get_by_role("button", name="Save as PDF").click()
            _, found = pdf_of(Path(download.value.path()).read_bytes())
            assert found == [node.text.replace("−", "–") for node in root.iter(f"{SVG}text")]
    tags = {node.tag.removeprefix(SVG) for node in root.iter()}
    assert tags <= {"svg", "title", "desc", "g", "path", "clipPath", "text"}
    assert words <= {node.text for node in root.iter(f"{SVG}text")}
    assert not [node for node in root.iter() if "NaN" in "".join(node.attrib.values())]
    assert faults == []
    context.close()
