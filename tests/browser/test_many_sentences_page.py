"""Many sentences in a real browser: a head chosen on the wall, a file read, stopped, kept apart from others', on a phone too."""

import re

from playwright.sync_api import Page, expect

from pages import contents
from pages.many_sentences import texts
from tx_core.corpus.scan_file import NOT_A_SCAN, CorpusScan, new_origin, only_named, write_scan
from tx_core.corpus.sentence_file import NO_TEXT, embedded_sentences
from tx_core.corpus.sentence_stream import SourceFile
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue

SLOW = 60_000
RUN = {"name": "Run", "exact": True}


def upload(page: Page, text: str | bytes, name: str = "mine.txt") -> None:
    data = text.encode() if isinstance(text, str) else text
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/plain", "buffer": data})


def test_a_head_chosen_on_the_wall_is_named_and_stands_in_the_link(view_at, axe, settle):
    page = view_at("/many_sentences")
    page.get_by_test_id("head-table").locator("[data-layer='1'][data-head='2']").click(timeout=SLOW)
    expect(page.get_by_text(re.compile(r"^Layer 2, head 3 .+\d\.\d"))).to_be_visible(timeout=SLOW)
    settle(page)
    assert "heads=2-3" in page.url
    expect(page.get_by_role("link", name=re.compile(texts.SEE_SENTENCE.partition(" (")[0]))).to_have_count(5)
    axe(page)
    page.get_by_role("link", name=re.compile(texts.SEE_SENTENCE.partition(" (")[0])).first.click()
    expect(page.get_by_role("heading", name=contents.page("attention").question)).to_be_visible(timeout=SLOW)
    expect(page.get_by_text(re.compile("^Layer 2, head 3[.]")).first).to_be_visible(timeout=SLOW)


def test_a_reading_shows_how_far_it_is_and_stops_at_a_click(page_at, settle, axe):
    page = page_at("/many_sentences?texts=own")
    upload(page, "".join(f"The man number {place} stood in front of the old house and waited.\n" for place in range(15_000)))
    expect(page.get_by_text(texts.READ_FILE[1].format(count=15_000, source="mine.txt"))).to_be_visible(timeout=SLOW)
    page.get_by_role("button", **RUN).click()
    expect(page.get_by_text(re.compile(r"Reading: sentence [\d,]+ of 15,000"))).to_be_visible(timeout=SLOW)
    axe(page)
    page.get_by_role("button", name="Stop", exact=True).click()
    stopped = texts.STOPPED[1].replace("{read:,}", "[0-9,]+").format(count=15_000)
    expect(page.get_by_text(re.compile(stopped))).to_be_visible(timeout=SLOW)
    expect(page.get_by_test_id("head-table")).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("button", **RUN)).to_be_enabled(timeout=SLOW)


def test_two_visitors_see_each_their_own_file(page_at, settle):
    pages = [page_at("/many_sentences?texts=own") for _ in range(2)]
    for number, page in enumerate(pages):
        upload(page, f"Visitor {number} was in the old house again.\n" * 3, f"{number}.txt")
        expect(page.get_by_text(texts.READ_FILE[1].format(count=3, source=f"{number}.txt"))).to_be_visible(timeout=SLOW)
    for page in pages:
        page.get_by_role("button", **RUN).click()
    for number, page in enumerate(pages):
        expect(page.get_by_text(f"Visitor {number} was in the old house").first).to_be_visible(timeout=SLOW)
        settle(page)
        assert page.get_by_text(f"Visitor {1 - number}").count() == 0


def test_the_result_of_a_scan_is_opened_and_a_head_of_it_chosen(page_at, settle, axe):
    engine, sentences = catalogue.load(catalogue.DEFAULT), embedded_sentences()
    origin = new_origin(engine.name, half=False, column="", part_sentences=4096, files=[SourceFile("mine.txt", 1, 2)])
    scan = CorpusScan(origin, 1, True, only_named(read_all(engine, sentences)))
    page = page_at("/many_sentences?texts=scan")
    expect(page.get_by_text(texts.SCAN_FIRST)).to_be_visible(timeout=SLOW)
    upload(page, write_scan(scan), "heads.json")
    page.get_by_test_id("head-table").locator("[data-layer='1'][data-head='2']").click(timeout=SLOW)
    expect(page.get_by_text(re.compile(r"^Layer 2, head 3 .+\d\.\d"))).to_be_visible(timeout=SLOW)
    settle(page)
    axe(page)
    expect(page.get_by_text(texts.SCANNED_BY.format(revision=origin.revision, version=origin.version))).to_be_visible()
    expect(page.get_by_text(texts.SCAN_FIRST)).to_have_count(0)
    upload(page, b"{}", "other.json")
    expect(page.get_by_text(NOT_A_SCAN)).to_be_visible(timeout=SLOW)


def test_files_that_are_too_large_or_no_text_are_refused_in_words(page_at):
    page = page_at("/many_sentences?texts=own")
    upload(page, b"a" * 6_000_000)
    expect(page.get_by_text("File must be 5.0MB or smaller")).to_be_visible(timeout=SLOW)
    page.reload()
    upload(page, b"\x89PNG\r\n\x1a\n\0\0\0")
    expect(page.get_by_text(NO_TEXT)).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("button", **RUN)).to_be_disabled()


def test_a_phone_in_the_dark_shows_all_of_it(page_at, axe, settle):
    page = page_at("/many_sentences?texts=own", width=390, dark=True)
    upload(page, "id,text\n" + "1,The <b>dog</b> saw a man near the house today.\n2,,\n" * 3, "mine.csv")
    expect(page.get_by_text(texts.READ_COLUMN[1].format(count=3, source="mine.csv", column="text"))).to_be_visible(timeout=SLOW)
    page.get_by_role("button", **RUN).click()
    expect(page.get_by_text(texts.READ[1].partition(" with")[0].format(count=3))).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("The <b>dog</b> saw a man").first).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("button", name="Share this view")).to_be_visible(timeout=SLOW)
    settle(page)
    assert page.get_by_test_id("stMain").evaluate("({scrollWidth, clientWidth}) => scrollWidth <= clientWidth")
    axe(page)
