"""The encoder-decoder in a real browser: it learns before the reader's eyes, on a phone and in the dark, too."""

import pytest
from playwright.sync_api import Page, expect

from pages.encoder_decoder import texts
from pages.ui.panels import texts as panel_texts
from tests.support.serving import SETTINGS
from tests.support.trainings import PRESS_WHILE_TYPING, bold, progress

SMALL = "vocab=12&length=6&batch=16&width=16&heads=2&feed=24&seed=3&numbers=7+3+11+2+5"
LONG = "vocab=12&length=16&batch=16&batches=600&width=128&layers=2&heads=2&feed=512"
SLOW = 60_000


def fits(page: Page) -> bool:
    return page.get_by_test_id("stMain").evaluate("({scrollWidth, clientWidth}) => scrollWidth <= clientWidth")


def test_a_training_is_watched_to_its_end_and_then_answers(page_at, axe, settle):
    page = page_at(f"/encoder_decoder?{SMALL}&batches=30")
    expect(page.get_by_text(bold(texts.UNTRAINED), exact=True)).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name=panel_texts.TRAIN, exact=True).click()
    expect(page.get_by_text(progress("finished", 30))).to_be_visible(timeout=SLOW)
    expect(page.get_by_text(bold(texts.TRAINED, done=30, total=30), exact=True)).to_be_visible(timeout=SLOW)
    expect(page.get_by_test_id("attention-heatmap")).to_have_count(2, timeout=SLOW)
    settle(page)
    axe(page)


def test_a_click_stops_a_training_and_another_visitor_has_none(page_at, settle):
    other, page = (page_at(f"/encoder_decoder?{LONG}") for _ in range(2))
    page.get_by_role("button", name=panel_texts.TRAIN, exact=True).click()
    expect(page.get_by_text(progress("running"))).to_be_visible(timeout=SLOW)
    other.get_by_role("button", name=texts.RANDOM_NUMBERS).click()
    settle(other)
    expect(other.get_by_role("button", name=panel_texts.TRAIN, exact=True)).to_be_enabled(timeout=SLOW)
    page.get_by_role("button", name=panel_texts.STOP, exact=True).click()
    expect(page.get_by_text(progress("stopped"))).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name=panel_texts.CONTINUE, exact=True).click()
    expect(page.get_by_text(progress("running"))).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name=panel_texts.STOP, exact=True).click()
    expect(page.get_by_role("button", name=panel_texts.TRAIN_AGAIN, exact=True)).to_be_visible(timeout=SLOW)


def test_a_saved_model_is_there_again_after_a_reload_once_its_file_is_loaded(page_at, settle, tmp_path):
    page = page_at(f"/encoder_decoder?{SMALL}&batches=30")
    page.get_by_role("button", name=panel_texts.TRAIN, exact=True).click()
    expect(page.get_by_text(bold(texts.TRAINED, done=30, total=30), exact=True)).to_be_visible(timeout=SLOW)
    settle(page)
    page.get_by_role("button", name=texts.FILE).click()
    with page.expect_download() as saved:
        page.get_by_role("button", name=texts.SAVE).click()
    saved.value.save_as(tmp_path / "copy.safetensors")
    page.reload()
    expect(page.get_by_text(bold(texts.UNTRAINED), exact=True)).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name=texts.FILE).click()
    page.locator("input[type=file]").set_input_files(tmp_path / "copy.safetensors")
    expect(page.get_by_text(bold(texts.TRAINED, done=30, total=30), exact=True)).to_be_visible(timeout=SLOW)


@pytest.mark.parametrize("part", ["train", "inside"])
def test_a_phone_in_the_dark_shows_all_of_it(view_at, axe, settle, part):
    page = view_at(f"/encoder_decoder?{SMALL}&part={part}", width=390, dark=True)
    expect(page.get_by_role("button", name="Share this view")).to_be_visible(timeout=SLOW)
    settle(page)
    assert fits(page)
    axe(page)


def test_the_numbers_typed_before_and_during_a_training_are_there_after_it_and_after_the_other_part(page_at, settle):
    page = page_at(f"/encoder_decoder?{SMALL}&batches=60")
    box = page.get_by_label(texts.NUMBERS)
    box.focus(timeout=SLOW)
    page.get_by_role("button", name=panel_texts.TRAIN, exact=True).evaluate(PRESS_WHILE_TYPING, "2 3 4 5 6")
    expect(page.get_by_role("button", name=panel_texts.STOP, exact=True)).to_be_visible(timeout=SLOW)
    expect(box).to_have_value("2 3 4 5 6")
    box.fill("6 5 4")
    expect(page.get_by_text(progress("finished", 60))).to_be_visible(timeout=SLOW)
    expect(page.get_by_text(f"{texts.INPUT} 6 5 4")).to_be_visible(timeout=SLOW)
    settle(page)
    expect(box).to_have_value("6 5 4")
    page.get_by_text(texts.PARTS["inside"], exact=True).click()
    expect(box).to_have_count(0, timeout=SLOW)
    page.get_by_text(texts.PARTS["train"], exact=True).click()
    expect(box).to_have_value("6 5 4", timeout=SLOW)


def test_a_training_waits_for_its_turn_and_begins_by_itself(page_at):
    pages = [page_at(f"/encoder_decoder?{LONG}") for _ in range(int(SETTINGS["TX_TRAININGS"]))]
    last = page_at(f"/encoder_decoder?{SMALL}&batches=10")
    for page in (*pages, last):
        page.get_by_role("button", name=panel_texts.TRAIN, exact=True).click(timeout=SLOW)
        expect(page.get_by_role("button", name=panel_texts.STOP, exact=True)).to_be_visible(timeout=SLOW)
    expect(last.get_by_text(panel_texts.QUEUE_NEXT)).to_be_visible(timeout=SLOW)
    pages[0].get_by_role("button", name=panel_texts.STOP, exact=True).click()
    expect(last.get_by_text(progress("finished", 10))).to_be_visible(timeout=SLOW)
    for page in pages[1:]:
        page.get_by_role("button", name=panel_texts.STOP, exact=True).click()
        expect(page.get_by_role("button", name=panel_texts.TRAIN_AGAIN, exact=True)).to_be_visible(timeout=SLOW)


WIDTHS = """box => {
  const letter = new Range()
  letter.setStart(box.querySelector('span').firstChild, 0)
  letter.setEnd(box.querySelector('span').firstChild, 1)
  return [letter.getBoundingClientRect().width, ...[...box.querySelectorAll('i')].map((mark) => mark.offsetWidth)]
}"""
"""The width of a letter of a box, and those of its marks, in whole pixels."""


def test_each_mark_stands_below_its_number(view_at):
    page = view_at(f"/encoder_decoder?{SMALL}")
    letter, *marks = page.locator("pre.scrolled").evaluate(WIDTHS)
    assert marks
    assert {abs(mark - letter) < 1 for mark in marks} == {True}
