"""What a visitor saves: figures, a page that works without a network, and what is printed."""

import re
import struct
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from pages.ui.stage import browser_texts
from tests.support.seen import main
from tests.support.serving import ROOT
from tx_core.analysis.packing import codes
from tx_core.engine import catalogue
from tx_core.settings import app_version

TOM = "Tom lost his keys."
PATH = f"/attention?text={quote(TOM)}&heads=4-5&focus=4"
HOSTILE = "</svg></script><script>alert(1)</script><img src=x onerror=alert(2)> & ]]> 'a' \"b\" \u202eabc שלום 💥"
SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {"svg", "title", "desc", "g", "path", "clipPath", "text"}


def colours(weights: np.ndarray) -> set[str]:
    """The colours of weights in light: evenly between the stops of the scale, from zero to one, by their square root."""
    palette = (ROOT / "assets/canvas/core/palette.js").read_text("utf-8")
    stops = re.findall(r"#\w{6}", palette.partition("light: [")[2].partition("]")[0])
    channels = np.array([[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in stops], float)
    places = np.unique(codes(weights) >> 8) / 255 * (len(stops) - 1)
    mixed = np.stack([np.interp(places, range(len(stops)), channel) for channel in channels.T], axis=-1)
    return {"#" + "".join(f"{int(value + 0.5):02x}" for value in colour) for colour in mixed}


def opened_stage(page: Page) -> Page:
    """The page with the export of its stage open."""
    main(page).get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    return page


def saved_by_stage(page: Page, button: str, folder: Path) -> Path:
    """The file that a button of the stage saves."""
    with page.expect_download() as download:
        main(page).get_by_role("button", name=browser_texts.EXPORT[button], exact=True).click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def test_a_figure_holds_the_numbers_and_its_source_as_text_in_svg_and_png(arrive, for_everybody, tmp_path: Path):
    page = opened_stage(arrive(PATH))
    file = saved_by_stage(page, "svg", tmp_path)
    assert file.name == "attention-embedded-layer4-head5.svg"
    root = ElementTree.parse(file).getroot()
    written = [node.text for node in root.iter(f"{SVG}text")]
    run = catalogue.load(catalogue.DEFAULT).trace(TOM)
    shown = [f"{weight:.2f}".removeprefix("0") for weight in run.attention.weights[3, 4].ravel() if weight >= 0.005]
    assert [text for text in written if re.fullmatch(r"1?\.\d\d", text)] == shown
    assert set(run.attention.query_tokens.tokens) < set(written)
    assert colours(run.attention.weights[3, 4]) <= {node.get("fill") for node in root.iter(f"{SVG}path")}
    inks = [node.get("fill") for node in root.iter(f"{SVG}text") if re.fullmatch(r"1?\.\d\d", node.text)]
    strongest, weakest = shown.index(max(shown)), shown.index(min(shown))
    assert (inks[strongest], inks[weakest]) == ("#ffffff", "#000000")  # read on a dark and on a pale cell
    source = root.find(f"{SVG}desc").text
    assert "layer 4, head 5" in source and catalogue.revision("embedded") in source and app_version() in source
    assert parse_qs(urlsplit(source.split()[-1]).query) == parse_qs(urlsplit(page.url).query)
    width = main(page).get_by_role("spinbutton", name=browser_texts.EXPORT["width"])
    width.fill("84")
    width.press("Enter")
    png = saved_by_stage(page, "png", tmp_path).read_bytes()
    assert struct.unpack(">II", png[16:24])[0] == round(84 / 25.4 * 300)
    assert (png[37:41], struct.unpack(">II", png[41:49])) == (b"pHYs", (11811, 11811))
    *_, wide, high = map(float, ElementTree.parse(saved_by_stage(page, "svg", tmp_path)).getroot().get("viewBox").split())
    pixels = struct.unpack(">II", png[16:24])
    assert pixels[1] == round(pixels[0] * high / wide)
    page.keyboard.press("Escape")
    for_everybody(page)


@pytest.mark.ci
def test_a_changed_run_is_saved_as_before_after_and_difference_and_works_offline(arrive, browser: Browser, axe, tmp_path: Path):
    page = opened_stage(arrive(f"/fill_mask?text={quote(HOSTILE + ' [MASK]')}&heads=4-5&changes=off~1-2"))
    root = ElementTree.parse(saved_by_stage(page, "svg", tmp_path)).getroot()
    assert {node.tag.removeprefix(SVG) for node in root.iter()} <= SHAPES
    assert "<script>alert(1)</script>" in root.find(f"{SVG}desc").text
    assert "Layer 1, head 2: switched off" in root.find(f"{SVG}desc").text
    written = [node.text for node in root.iter(f"{SVG}text")]
    assert [text for text in written if text in ("Before", "After", "Difference")] == ["Before", "After", "Difference"]
    main(page).get_by_role("combobox", name=browser_texts.EXPORT["figureOf"]).select_option("other")
    words = ElementTree.parse(saved_by_stage(page, "svg", tmp_path)).getroot()
    assert {node.tag.removeprefix(SVG) for node in words.iter()} <= SHAPES
    assert len([node for node in words.iter(f"{SVG}text") if node.text]) > 5
    assert not [node for node in words.iter() if "NaN" in "".join(node.attrib.values())]
    assert words.find(f"{SVG}desc").text.startswith("The effect of a change on blank 1")
    file = saved_by_stage(page, "webPage", tmp_path)
    with browser.new_context(offline=True, color_scheme="dark", viewport={"width": 390, "height": 800}) as context:
        alone, faults = context.new_page(), []
        alone.on("request", lambda request: faults.append(request.url) if not request.url.startswith("file:") else None)
        for event in ("pageerror", "dialog"):
            alone.on(event, lambda fault: faults.append(str(fault)))
        alone.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        alone.goto(file.as_uri())
        alone.get_by_role("button", name="Difference", exact=True).click()
        expect(alone.get_by_role("img", name=re.compile("^Heatmap"))).to_be_visible()
        expect(alone.get_by_text("<script>alert(1)</script>").filter(visible=True).first).to_be_visible()
        assert alone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert alone.evaluate("document.images.length + document.scripts.length") == 1
        axe(alone)
        assert faults == []


NOTE_PRINTED = """() => {
  const isFrame = (node) => node instanceof HTMLIFrameElement && node.srcdoc
  window.printed = new Promise((done) => new MutationObserver((changes) => {
    const frame = changes.flatMap(({ addedNodes }) => [...addedNodes]).find(isFrame)
    if (frame) done(frame.srcdoc)
  }).observe(document.body, { childList: true }))
}"""


@pytest.mark.ci
def test_what_is_printed_is_one_page_of_the_size_of_the_picture(arrive):
    page = opened_stage(arrive(f"/attention?text={quote('Привет, Mary — 日本語 שלום')}&heads=2-8"))
    page.evaluate(NOTE_PRINTED)
    main(page).get_by_role("button", name=browser_texts.EXPORT["pdf"], exact=True).click()
    paper = page.context.new_page()
    paper.set_content(page.evaluate("window.printed"))
    pdf = paper.pdf(prefer_css_page_size=True)
    paper.close()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    assert b"/FontFile" in pdf
    width, _ = (float(number) for number in re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf).groups())
    assert width == pytest.approx(174 / 25.4 * 72, abs=2)
