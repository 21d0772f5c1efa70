"""Patching: a cell is chosen, another part is put in, paths begin at a head, and A and B are exchanged."""

import pytest
from playwright.sync_api import expect

from pages.patching import texts
from pages.patching.inputs import EXAMPLES
from pages.ui.shell.numbers import percent
from tests.support.seen import answered, button, choose_head, linked, main, press, says, sentence, stage
from tx_core import load
from tx_core.causal.patch import patch

pytestmark = pytest.mark.ci


def test_the_answer_is_followed_by_vectors_heads_and_paths_and_the_other_way_round(arrive, for_everybody):
    page = arrive("/patching?level=advanced")
    view, engine = EXAMPLES[0].view, load("embedded")
    press(page, texts.PARTS["head"])
    linked(page, what="head")
    heads = patch(engine, source=view["text"], target=view["text_b"], answers=("are", "is"), what="head")
    choose_head(page, 5, 6)  # the second row from above is layer 5
    linked(page, head="2-6")
    says(
        page,
        "Layer 2, head 6, patched with A's result",
        percent(float(heads.probabilities[1, 5, 0])),
        f"{heads.effect[1, 5]:.2f}",
    )
    press(page, texts.PARTS["path"])
    linked(page, what="path", head="2-6")
    says(page, "Layer 2, head 6", texts.NO_PATH.format(sender="layer 2, head 6"))
    expect(stage(page).get_by_role("combobox", name=texts.SENDER)).to_have_value("2-6")
    press(page, texts.PARTS["residual"])
    button(page, texts.EXCHANGE).click()
    expect(sentence(page, texts.SENTENCE_A)).to_have_value(view["text_b"])
    says(page, "“is” rises from")
    answered(page)
    for_everybody(page)


def test_an_answer_of_two_tokens_is_explained_and_stays_in_its_box(arrive):
    page = arrive("/patching?level=advanced")
    button(page, texts.ANSWERS).click()
    box = page.get_by_role("textbox", name=texts.ANSWER_A)
    box.fill("unbelievable")
    box.press("Enter")
    expect(main(page).get_by_text("“unbelievable” is")).to_be_visible()
    expect(box).to_have_value("unbelievable")
    box.fill("were")
    box.press("Enter")
    says(page, "“were” rises from")
