"""The pages that train: a short training is watched, stopped, continued, saved and loaded; and what the model then says."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.classifier import texts as classifier_texts
from pages.encoder_decoder import texts
from pages.ui.stage import texts as stage_texts
from tests.support.seen import PATIENCE, answered, linked, main, write
from tests.support.serving import SETTINGS
from tests.support.trainings import PRESS_WHILE_TYPING, progress
from tx_core.lessons.labels import FINE_TUNED

SMALL = "vocab=12&length=6&batch=16&width=16&heads=2&feed=24&seed=3&numbers=7+3+11+2+5"
LONG = "vocab=12&length=16&batch=16&batches=600&width=128&layers=2&heads=2&feed=512&numbers=7+3+11"


def training(page: Page) -> Locator:
    """The part of the stage that tells of the training."""
    return main(page).get_by_test_id("training")


def press(page: Page, name: str) -> None:
    """Press a button of the training."""
    main(page).get_by_test_id("stage").get_by_role("button", name=name, exact=True).click()


def said(page: Page) -> Locator:
    """What the model makes of the input, in words."""
    return main(page).get_by_test_id("stage-said")


def trained(page: Page, done: int) -> None:
    """Wait until the model that is shown is trained on so many batches."""
    expect(said(page)).to_contain_text(re.compile(rf"^After {done:,} of"), timeout=60_000)
    answered(page)


def output(page: Page) -> Locator:
    """What the model answers."""
    return main(page).get_by_role("row").filter(has_text=texts.OUTPUT)


def test_a_model_is_trained_and_answers(arrive, for_everybody):
    page = arrive(f"/encoder_decoder?{SMALL}&batches=40")
    expect(said(page)).to_contain_text(stage_texts.UNTRAINED_MOMENT)
    before = output(page).inner_text()
    press(page, stage_texts.TRAIN)
    expect(training(page).get_by_text(progress("finished", 40))).to_be_visible(timeout=60_000)
    trained(page, 40)
    expect(output(page)).not_to_have_text(before, use_inner_text=True)
    answer = output(page).inner_text()
    write(page, "2 3 4", texts.NUMBERS)
    linked(page, numbers="2 3 4")
    expect(output(page)).not_to_have_text(answer, use_inner_text=True)
    for_everybody(page)


@pytest.mark.ci
def test_what_is_typed_before_and_during_a_training_is_there_after_it(arrive):
    page = arrive(f"/encoder_decoder?{SMALL}&batches=60")
    box = main(page).get_by_label(texts.NUMBERS)
    box.focus()
    main(page).get_by_test_id("stage").get_by_role("button", name=stage_texts.TRAIN, exact=True).evaluate(
        PRESS_WHILE_TYPING, "2 3 4 5 6"
    )
    expect(main(page).get_by_role("button", name=stage_texts.STOP, exact=True)).to_be_visible(timeout=PATIENCE)
    expect(box).to_have_value("2 3 4 5 6")
    box.fill("6 5 4")
    expect(training(page).get_by_text(progress("finished", 60))).to_be_visible(timeout=60_000)
    expect(main(page).get_by_role("row").filter(has_text=texts.INPUT)).to_have_text(re.compile("6\\s*5\\s*4"), timeout=PATIENCE)
    answered(page)


@pytest.mark.ci
def test_trainings_are_stopped_and_continued_and_one_waits_for_its_turn(page_at, arrive):
    pages = [
        arrive(f"/encoder_decoder?{LONG}"),
        *(page_at(f"/encoder_decoder?{LONG}") for _ in range(int(SETTINGS["TX_TRAININGS"]) - 1)),
    ]
    last = page_at(f"/encoder_decoder?{SMALL}&batches=10")
    for page in (*pages, last):
        press(page, stage_texts.TRAIN)
        expect(main(page).get_by_role("button", name=stage_texts.STOP, exact=True)).to_be_visible(timeout=PATIENCE)
    expect(training(last).get_by_text(stage_texts.QUEUE_NEXT)).to_be_visible(timeout=PATIENCE)
    press(pages[0], stage_texts.STOP)
    expect(training(pages[0]).get_by_text(progress("stopped"))).to_be_visible(timeout=PATIENCE)
    expect(training(last).get_by_text(progress("finished", 10))).to_be_visible(timeout=60_000)
    press(pages[0], stage_texts.CONTINUE)
    expect(training(pages[0]).get_by_text(progress("running"))).to_be_visible(timeout=PATIENCE)
    for page in pages:
        press(page, stage_texts.STOP)
        expect(main(page).get_by_role("button", name=stage_texts.TRAIN_AGAIN)).to_be_visible(timeout=60_000)


@pytest.mark.ci
def test_the_classifier_that_ships_labels_one_s_own_sentence_and_leads_to_what_its_training_moved(arrive, for_everybody):
    page = arrive("/classifier")
    expect(said(page)).to_contain_text(re.compile(rf"^{classifier_texts.FINE_TUNED}: (positive|negative), "))
    write(page, "The story is dull.", classifier_texts.SENTENCE)
    linked(page, text="The story is dull.", model=FINE_TUNED)
    expect(main(page).get_by_text("“dull” contributes most to “negative”")).to_be_visible(timeout=PATIENCE)
    for_everybody(page)
    main(page).get_by_role("link", name=classifier_texts.BEFORE_AND_AFTER).click()
    linked(page, text="The story is dull.", vary="model", model_b=FINE_TUNED)
    expect(said(page)).to_contain_text("The largest difference between words", timeout=PATIENCE)
