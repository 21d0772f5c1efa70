"""The pages that train: a short training is watched, and what the model then says."""

import re

from playwright.sync_api import expect

from pages.encoder_decoder import texts
from pages.ui.stage import texts as stage_texts
from tests.support.seen import answered, button, linked, main, write
from tests.support.trainings import PRESS_WHILE_TYPING, progress

SMALL = "vocab=12&length=6&batch=16&width=16&heads=2&feed=24&seed=3&numbers=7+3+11+2+5"


def test_a_model_is_trained_on_what_is_typed_meanwhile_and_answers(arrive, for_everybody):
    page = arrive(f"/encoder_decoder?{SMALL}&batches=60")
    said = main(page).get_by_test_id("stage-said")
    expect(said).to_contain_text(stage_texts.UNTRAINED_MOMENT)
    box, output = main(page).get_by_label(texts.NUMBERS), main(page).get_by_role("row").filter(has_text=texts.OUTPUT)
    before = output.inner_text()
    box.focus()
    button(page, stage_texts.TRAIN).evaluate(PRESS_WHILE_TYPING, "2 3 4 5 6")
    expect(button(page, stage_texts.STOP)).to_be_visible()
    expect(box).to_have_value("2 3 4 5 6")
    box.fill("6 5 4")
    expect(main(page).get_by_test_id("training").get_by_text(progress("finished", 60))).to_be_visible()
    expect(main(page).get_by_role("row").filter(has_text=texts.INPUT)).to_have_text(re.compile("6\\s*5\\s*4"))
    expect(said).to_contain_text(re.compile("^After 60 of"))
    expect(output).not_to_have_text(before, use_inner_text=True)
    answered(page)
    write(page, "2 3 4", texts.NUMBERS)
    linked(page, numbers="2 3 4")
    for_everybody(page)
