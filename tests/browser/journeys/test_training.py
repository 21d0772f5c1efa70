"""The pages that train: a short training is watched, stopped, continued, saved and loaded; and what the model then says."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages.classifier import texts as classifier_texts
from pages.encoder_decoder import texts
from pages.ui.panels import texts as panel_texts
from tests.support.seen import (
    PATIENCE,
    answered,
    button,
    choose,
    drawn,
    entries,
    fits,
    linked,
    main,
    picture,
    says,
    write,
)
from tests.support.serving import SETTINGS
from tests.support.trainings import PRESS_WHILE_TYPING, bold, progress

SMALL = "vocab=12&length=6&batch=16&width=16&heads=2&feed=24&seed=3&numbers=7+3+11+2+5"
LONG = "vocab=12&length=16&batch=16&batches=600&width=128&layers=2&heads=2&feed=512&numbers=7+3+11"
LABELS = "epochs=1&batch=128&width=8&feed=16&tokens=12&seed=5"


def press(page: Page, name: str) -> None:
    """Press a button of the training, once it can be pressed."""
    one = button(page, name)
    expect(one).to_be_enabled(timeout=PATIENCE)
    one.click()


def trained(page: Page, **counts: int) -> None:
    """Wait until the page says that its model is trained, and with how many batches."""
    expect(main(page).get_by_text(bold(texts.TRAINED, **counts), exact=True)).to_be_visible(timeout=60_000)
    answered(page)


def test_a_model_is_trained_answers_is_saved_and_is_there_again_from_its_file(arrive, for_everybody, tmp_path: Path):
    page = arrive(f"/encoder_decoder?{SMALL}&batches=40")
    says(page, bold(texts.UNTRAINED))
    drawn(picture(page, "^Heatmap"))
    before = main(page).get_by_text(re.compile("^output")).first.inner_text()
    press(page, panel_texts.TRAIN)
    expect(main(page).get_by_text(progress("finished", 40))).to_be_visible(timeout=60_000)
    trained(page, done=40, total=40)
    after = main(page).get_by_text(re.compile("^output")).first
    expect(after).not_to_have_text(before, use_inner_text=True)
    answer = after.inner_text()
    write(page, "2 3 4", texts.NUMBERS)
    linked(page, numbers="2 3 4")
    expect(after).not_to_have_text(answer, use_inner_text=True)
    page.go_back()
    expect(after).to_have_text(answer, use_inner_text=True, timeout=PATIENCE)
    answered(page)
    for_everybody(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    button(page, texts.FILE, exact=False).click()
    with page.expect_download() as saved:
        page.get_by_role("button", name=texts.SAVE).click()
    saved.value.save_as(tmp_path / "copy.safetensors")
    page.reload()
    expect(main(page).get_by_text(bold(texts.UNTRAINED), exact=True)).to_be_visible(timeout=PATIENCE)
    button(page, texts.FILE, exact=False).click()
    page.locator("input[type=file]").set_input_files(tmp_path / "copy.safetensors")
    trained(page, done=40, total=40)
    expect(after).to_have_text(answer, use_inner_text=True)


@pytest.mark.ci
def test_what_is_typed_before_and_during_a_training_is_there_after_it_and_after_another_part(arrive):
    page = arrive(f"/encoder_decoder?{SMALL}&batches=60")
    box = main(page).get_by_label(texts.NUMBERS)
    box.focus()
    button(page, panel_texts.TRAIN).evaluate(PRESS_WHILE_TYPING, "2 3 4 5 6")
    expect(button(page, panel_texts.STOP)).to_be_visible(timeout=PATIENCE)
    expect(box).to_have_value("2 3 4 5 6")
    box.fill("6 5 4")
    expect(main(page).get_by_text(progress("finished", 60))).to_be_visible(timeout=60_000)
    expect(main(page).get_by_text(f"{texts.INPUT} 6 5 4")).to_be_visible(timeout=PATIENCE)
    answered(page)
    choose(page, texts.PARTS["inside"])
    expect(box).to_have_count(0)
    choose(page, texts.PARTS["train"])
    expect(box).to_have_value("6 5 4", timeout=PATIENCE)


@pytest.mark.ci
def test_trainings_are_stopped_and_continued_and_one_waits_for_its_turn(page_at, arrive, for_everybody):
    pages = [
        arrive(f"/encoder_decoder?{LONG}"),
        *(page_at(f"/encoder_decoder?{LONG}") for _ in range(int(SETTINGS["TX_TRAININGS"]) - 1)),
    ]
    last = page_at(f"/encoder_decoder?{SMALL}&batches=10")
    for page in (*pages, last):
        press(page, panel_texts.TRAIN)
        expect(button(page, panel_texts.STOP)).to_be_visible(timeout=PATIENCE)
    expect(main(last).get_by_text(panel_texts.QUEUE_NEXT)).to_be_visible(timeout=PATIENCE)
    press(pages[0], panel_texts.STOP)
    expect(main(pages[0]).get_by_text(progress("stopped"))).to_be_visible(timeout=PATIENCE)
    expect(main(last).get_by_text(progress("finished", 10))).to_be_visible(timeout=60_000)
    press(pages[0], panel_texts.CONTINUE)
    expect(main(pages[0]).get_by_text(progress("running"))).to_be_visible(timeout=PATIENCE)
    for page in pages:
        press(page, panel_texts.STOP)
        expect(button(page, panel_texts.TRAIN_AGAIN)).to_be_visible(timeout=60_000)
    answered(pages[0])
    for_everybody(pages[0])


def test_masks_and_shapes_are_those_of_the_sizes_that_are_asked_for(arrive, for_everybody):
    page = arrive("/encoder_decoder?part=inside&hidden=64&split=4")
    expect(main(page).get_by_role("table").first).to_be_visible(timeout=PATIENCE)
    for cell in ("(16, 4, 12, 12)", "(16, 4, 12, 10)", "(16, 12, 64)"):
        expect(main(page).get_by_role("cell", name=cell, exact=True).first).to_be_visible()
    for words in ("80 of 100", "72 of 144", "96 of 120"):  # 10 source tokens, two of them padding; 12 target tokens
        drawn(picture(page, words))
    choose(page, texts.PARTS["train"])
    page.go_back()
    expect(main(page).get_by_role("cell", name="(16, 4, 12, 12)", exact=True).first).to_be_visible(timeout=PATIENCE)
    for_everybody(page)


def test_a_classifier_learns_from_its_texts_and_says_what_each_word_adds(arrive, for_everybody):
    page = arrive(f"/classifier?{LABELS}")
    says(page, bold(classifier_texts.UNTRAINED))
    labels = "Probability of each label"
    before = entries(page, labels)
    press(page, panel_texts.TRAIN)
    expect(main(page).get_by_text(bold(classifier_texts.TRAINED, done=15, total=15), exact=True)).to_be_visible(timeout=60_000)
    answered(page)
    assert entries(page, labels) != before
    write(page, "it was so good", classifier_texts.SENTENCE)
    linked(page, text="it was so good")
    drawn(picture(page, "^Contribution.*“(it|was|so|good)”"))
    drawn(picture(page, "^Heatmap.*4 words"))
    page.go_back()
    drawn(picture(page, "^Heatmap.*7 words"))
    for_everybody(page)


@pytest.mark.ci
def test_a_classifier_learns_from_a_file_of_one_s_own_whose_words_are_only_text(page_at, for_everybody):
    page = page_at(f"/classifier?{LABELS}&data=own")
    rows = "".join(f"{word} day number {place},{word}\n" for place in range(12) for word in ("sunny", "<b>rainy</b>"))
    page.locator("input[type=file]").set_input_files(
        {"name": "mine.csv", "mimeType": "text/csv", "buffer": f"text,label\n{rows}".encode()}
    )
    expect(main(page).get_by_text(re.compile("mine.csv")).first).to_be_visible(timeout=PATIENCE)
    answered(page)
    press(page, panel_texts.TRAIN)
    expect(main(page).get_by_text(bold(classifier_texts.TRAINED, done=1, total=1), exact=True)).to_be_visible(timeout=60_000)
    answered(page)
    write(page, "sunny day", classifier_texts.SENTENCE)
    found = entries(page, "Probability of each label")
    assert {one.rsplit(" ", 2)[0] for one in found} == {"sunny", "<b>rainy</b>"}
    fits(page)
    for_everybody(page)
