"""The page on blocks in a real browser: parts are turned to, cells explained, on a phone and in the dark."""

import re

import pytest
from playwright.sync_api import expect

from pages.heads_and_blocks import texts
from pages.ui.canvas.texts import MATRIX_ROW
from tx_core.engine import catalogue
from tx_core.lessons.bert_parts import embedding_run

PATH = "/heads_and_blocks"
TEXT = "?text=A+bird+sings."
SLOW = 60_000
MULTIPLIED = {"embeddings": False, "heads": True, "norm": False}
"""Whether something is multiplied in a part."""


def test_turning_to_a_part_shows_its_matrices_and_explains_a_cell(view_at, settle):
    page = view_at(PATH)
    expect(page.get_by_test_id("matrix-headh")).to_be_visible()
    expect(page.get_by_test_id("matrix-sum")).to_contain_text("bias")
    page.get_by_role("radio", name=texts.FEED_FORWARD).click()
    expect(page.get_by_test_id("matrix-widened")).to_be_visible()
    settle(page)
    expect(page.get_by_test_id("matrix-row")).to_have_count(1)  # the row of the part before fades out
    expect(page.get_by_test_id("matrix-row")).to_contain_text(f"{texts.UP} · token")
    page.wait_for_url(re.compile("part=feed.*cell=widened"))


def numbers(written: str) -> list[float]:
    written = written.replace("·10", "e").translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789"))
    return [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", written)]


def test_a_sum_and_a_norm_write_out_their_arithmetic(view_at):
    run = embedding_run(catalogue.load("embedded"), "A bird sings.")
    page = view_at(f"{PATH}{TEXT}&part=embeddings&cell=sum-3-2")
    line = page.locator("p.sum-line")
    expect(line).to_contain_text(" + ", timeout=SLOW)
    parts = [float(part[2, 1]) for part in (run.words, run.positions, run.segments, run.summed)]
    assert numbers(line.inner_text()) == pytest.approx(parts, abs=0.0051)
    page = view_at(f"{PATH}{TEXT}&part=norm&cell=mean-2-1")
    expect(page.locator("p.sum-line")).to_contain_text(re.compile(rf"more\) ÷ {run.words.shape[1]} = "), timeout=SLOW)
    page = view_at(f"{PATH}{TEXT}&part=norm&cell=ours-2-1")
    expect(page.locator("p.sum-line")).to_contain_text(re.compile(" × .* = "), timeout=SLOW)


def test_a_row_that_goes_on_beyond_the_screen_says_so(view_at):
    expect(view_at(PATH + TEXT, width=390).get_by_test_id("sideways")).to_be_visible(timeout=SLOW)
    page = view_at(f"{PATH}{TEXT}&heads=1")
    expect(page.get_by_test_id("matrix-output")).to_be_visible(timeout=SLOW)
    expect(page.get_by_test_id("sideways")).to_be_hidden()


def test_a_head_that_is_switched_off_leaves_the_picture_and_the_link(view_at, settle):
    page = view_at(PATH + TEXT)
    page.get_by_role("button", name="8", exact=True).click()
    expect(page.get_by_test_id("matrix-headh")).to_be_hidden()
    settle(page)
    page.wait_for_url(re.compile("heads=1-2-3-4-5-6-7"))


@pytest.mark.parametrize("part", ["embeddings", "heads", "feed", "norm", "depth", "journey"])
def test_a_part_fits_a_phone_is_open_to_everyone_and_its_legend_has_the_frame_of_a_factor_where_there_is_one(
    view_at, axe, darken, part
):
    page = view_at(f"{PATH}{TEXT}&part={part}&words=2-3", width=390)
    if part in MULTIPLIED:
        legend = page.locator("p.legend")
        expect(legend).to_contain_text(MATRIX_ROW["madeFrom"], timeout=SLOW)
        assert (MATRIX_ROW["times"] in legend.inner_text()) == MULTIPLIED[part]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.locator(".katex-display").last.wait_for()
    page.evaluate("document.fonts.ready")  # an equation is wider in another font
    axe(page)
    darken(page)
    axe(page)
