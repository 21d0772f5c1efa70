"""What a visitor saves opens elsewhere: figures as SVG and PNG, the web page without a network; no text is markup in any."""

import json
import re
import struct
import zlib
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tx_core import models

TEXT = "Tom lost his keys."
HOSTILE = "</svg></script><script>alert(1)</script><img src=x onerror=alert(2)> & ]]> 'a' \"b\" \u202eabc"
FADED = """() => Promise.all(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished))
  .then(() => null)"""
SVG = "{http://www.w3.org/2000/svg}"


def panel(page: Page) -> Locator:
    return page.get_by_test_id("stExpander").filter(has_text="Carry it away")


def opened(page: Page, settle, form: str = "Figure") -> Page:
    """The page with one form of carrying away open."""
    page.get_by_text("Carry it away").click()
    settle(page)
    if form != "Figure":
        panel(page).get_by_text(form, exact=True).click()
        settle(page)
    return page


def saved(page: Page, button: str, folder: Path) -> Path:
    """The file that a button saves."""
    with page.expect_download() as download:
        panel(page).get_by_role("button", name=button).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def test_the_svg_holds_every_token_and_number_of_the_screen_as_text_in_the_width_asked_for(page_at, settle, tmp_path):
    page = opened(page_at(f"/?text={quote(TEXT)}&heads=4-5&focus=4"), settle)
    file = saved(page, "Save as SVG", tmp_path)
    assert file.name == "attention-embedded-layer4-head5.svg"
    root = ElementTree.parse(file).getroot()
    assert root.get("width") == "174mm"
    written = [node.text for node in root.iter(f"{SVG}text")]
    run = models.load("embedded").trace(TEXT)
    weights = run.attention.weights[3, 4]
    shown = [f"{weight:.2f}".removeprefix("0") for weight in weights.ravel() if weight >= 0.005]
    assert [text for text in written if re.fullmatch(r"1?\.\d\d", text)] == shown
    assert set(run.attention.query_tokens.tokens) < set(written)
    assert "layer 4, head 5" in root.find(f"{SVG}desc").text
    assert "“Tom lost his keys.”" in " ".join(written)


def test_the_png_is_as_wide_as_asked_for_and_knows_its_size_on_paper(page_at, settle, tmp_path):
    page = opened(page_at(f"/?text={quote(TEXT)}"), settle)
    width = panel(page).get_by_role("spinbutton", name="Width in mm")
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


def test_a_changed_run_is_saved_as_before_after_and_difference(page_at, settle, tmp_path):
    page = opened(page_at(f"/?text={quote(TEXT)}&heads=4-5&changes=off~1-2"), settle)
    root = ElementTree.parse(saved(page, "Save as SVG", tmp_path)).getroot()
    written = [node.text for node in root.iter(f"{SVG}text")]
    assert [text for text in written if text in ("Before", "After", "Difference")] == ["Before", "After", "Difference"]
    assert "Layer 1, head 2 off" in root.find(f"{SVG}desc").text
    panel(page).get_by_text("Web page", exact=True).click()
    settle(page)
    file = saved(page, "Save as HTML", tmp_path)
    alone = page.context.new_page()
    alone.goto(file.as_uri())
    expect(alone.get_by_test_id("attention-difference")).to_have_attribute("data-shape", re.compile("cell"))


def test_hostile_text_is_text_in_the_svg(page_at, settle, tmp_path):
    page = opened(page_at(f"/?text={quote(HOSTILE)}&pair={quote(HOSTILE)}"), settle)
    root = ElementTree.parse(saved(page, "Save as SVG", tmp_path)).getroot()
    assert {node.tag.removeprefix(SVG) for node in root.iter()} == {"svg", "title", "desc", "g", "path", "clipPath", "text"}
    assert "<script>alert(1)</script>" in root.find(f"{SVG}desc").text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_web_page_works_without_a_network_and_hostile_text_stays_text(
    page_at, settle, axe, browser: Browser, tmp_path, dark: bool
):
    page = opened(page_at(f"/?text={quote(HOSTILE)}&heads=1-2"), settle, "Web page")
    file = saved(page, "Save as HTML", tmp_path)
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
    seen = {"Figure": "the PNG is", "Numbers": "49 weights", "Web page": "One file that opens", "Python": "It ends with"}
    for form, words in seen.items():
        panel(page).get_by_text(form, exact=True).click()
        panel(page).get_by_text(words).wait_for()
        settle(page)
        page.mouse.move(0, 0)
        expect(page.locator("[data-stale='true']")).to_have_count(0)
        page.evaluate(FADED)
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    panel(page).get_by_text("With transformers alone").click()
    expect(panel(page).get_by_text("AutoTokenizer").first).to_be_visible()


def test_numbers_are_saved_as_files(page_at, settle, tmp_path):
    page = opened(page_at(f"/?text={quote(TEXT)}&heads=4-5"), settle, "Numbers")
    entries = json.loads(saved(page, "Save as JSON", tmp_path).read_bytes())
    assert entries["text"] == TEXT
    assert entries["maps"] == [[[4, 5]]]
    panel(page).get_by_text("Every layer and head").click()
    settle(page)
    assert saved(page, "Save as NPZ", tmp_path).name == "attention-embedded-all.npz"


VIEWS = {
    "bars": (f"/fill_mask?text={quote(HOSTILE + ' ___')}", "The predictions", {"Most likely words"}),
    "changed": ("/fill_mask?text=The+___+sat&changes=off~1-2", "What your changes do", {"before", "after"}),
    "comparison": (f"/compare?text={quote(TEXT)}&text_b={quote(HOSTILE)}&vary=text", "A, B and B − A", {"B − A", "A: lost"}),
    "lines": ("/compare?text=time+flies&text_b=fruit+flies&vary=text", "The word through the layers", {"embeddings"}),
    "table": ("/summaries?part=glance", "", {"Layer ↓ Head →", "1", "2"}),
    "matrices": ("/summaries?part=layers&text=time+flies", "", {"Rollout from the input", "time", "layer 2"}),
    "points": ("/summaries?part=alike&text=time+flies", "", {"head", "kind"}),
}


@pytest.mark.parametrize(("path", "what", "words"), VIEWS.values(), ids=VIEWS)
def test_every_kind_of_view_is_saved_as_text_and_shapes_and_as_a_page_that_works_offline(
    page_at, settle, axe, browser: Browser, tmp_path, path: str, what: str, words: set[str]
):
    page = page_at(path, dark=True)
    page.get_by_text("Carry it away").click()
    settle(page)
    if what:
        panel(page).get_by_text(what, exact=True).click()
        settle(page)
    root = ElementTree.parse(saved(page, "Save as SVG", tmp_path)).getroot()
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= {"svg", "title", "desc", "g", "path", "clipPath", "text"}
    assert words <= {node.text for node in root.iter(f"{SVG}text")}
    panel(page).get_by_text("Web page", exact=True).click()
    settle(page)
    file = saved(page, "Save as HTML", tmp_path)
    context = browser.new_context(offline=True, color_scheme="dark", viewport={"width": 390, "height": 800})
    alone, faults = context.new_page(), []
    alone.on("request", lambda request: faults.append(request.url) if not request.url.startswith("file:") else None)
    for event in ("pageerror", "dialog"):
        alone.on(event, lambda fault: faults.append(str(fault)))
    alone.goto(file.as_uri())
    expect(alone.locator("canvas").first).to_be_visible()
    assert alone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert alone.evaluate("document.scripts.length") == 1
    axe(alone)
    assert faults == []
    context.close()
