"""The classifier in a real browser: it learns, says what it goes by, and fits on a phone in the dark."""

import re

from playwright.sync_api import expect

from pages.classifier import texts
from pages.ui.panels import texts as panel_texts
from tests.support.trainings import PRESS_WHILE_TYPING, bold

SMALL = "epochs=1&batch=128&width=8&feed=16&tokens=12&seed=5"
SLOW = 60_000


def test_it_learns_and_then_labels_a_sentence(page_at, axe, settle):
    page = page_at(f"/classifier?{SMALL}")
    expect(page.get_by_text(bold(texts.UNTRAINED), exact=True)).to_be_visible(timeout=SLOW)
    box = page.get_by_label(texts.SENTENCE)
    settle(page)
    box.focus()
    page.get_by_role("button", name=panel_texts.TRAIN, exact=True).evaluate(PRESS_WHILE_TYPING, "it was so good")
    expect(page.get_by_text(bold(texts.TRAINED, done=15, total=15), exact=True)).to_be_visible(timeout=SLOW)
    expect(page).to_have_url(re.compile("text=it"), timeout=SLOW)
    expect(box).to_have_value("it was so good", timeout=SLOW)
    confusion, templates = page.get_by_test_id("stDataFrame").first, page.get_by_test_id("stDataFrame").last
    expect(confusion).to_be_visible(timeout=SLOW)
    expect(templates).to_be_visible(timeout=SLOW)
    expect(page.get_by_test_id("attention-heatmap")).to_be_visible(timeout=SLOW)
    settle(page)
    axe(page)


def test_a_phone_in_the_dark_shows_all_of_it(page_at, axe, settle):
    page = page_at(f"/classifier?{SMALL}&data=own", width=390, dark=True)
    box = page.locator("input[type=file]")
    rows = "".join(f"{word} day {place},{word}\n" for place in range(12) for word in ("sunny", "rainy"))
    box.set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": b"text,label\n" + rows.encode()})
    summary = texts.DATA_SUMMARY.format(train=20, test=4, labels="rainy, sunny", source="mine.csv")
    expect(page.get_by_text(summary)).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("button", name="Share this view")).to_be_visible(timeout=SLOW)
    settle(page)
    assert page.get_by_test_id("stMain").evaluate("({scrollWidth, clientWidth}) => scrollWidth <= clientWidth")
    axe(page)
