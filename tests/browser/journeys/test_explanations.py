"""Explanations: a pair of one's own, both questions, a word that leads on, and a pair that is none."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from pages import contents
from pages.explanations import texts
from pages.explanations.inputs import EXAMPLES
from tests.browser.test_stages import charts
from tests.support.seen import answered, choose, linked, main, press, says, sentence, stage
from tx_core import load
from tx_core.causal.deciding_words import SAME_SENTENCES, explain_pair

pytestmark = pytest.mark.ci
ROSES, ROSE = "The roses in my garden [MASK] red.", "The rose in my garden [MASK] red."


def test_an_own_pair_is_explained_a_word_leads_on_and_a_pair_that_is_none_is_told(arrive, for_everybody):
    page = arrive(f"/explanations?text={quote_plus(ROSES)}&text_b={quote_plus(ROSE)}&level=advanced")
    found = explain_pair(load("embedded"), ROSES, ROSE)
    says(page, texts.TITLES["rather"].format(answer=found.answers[0], other=found.answers[1]))
    cells = charts(page).first.get_by_role("group")
    for key in ("ArrowRight", "ArrowRight"):  # from the first word
        cells.press(key)
    score = f"{found.rather[0].scores[1]:.3f}"
    expect(charts(page).first.get_by_test_id("spot-readout")).to_contain_text(score)
    cells.press("ArrowRight")
    cells.press("Enter")
    cells.press("Escape")
    linked(page, word="3")
    expect(stage(page).get_by_test_id("listing")).to_contain_text("“in”")
    press(page, texts.ASKS["alone"])
    linked(page, word="3", ask="alone")
    says(page, texts.TITLES["alone"].format(answer=found.answers[0]))
    for_everybody(page)
    stage(page).get_by_role("link", name=texts.LEADS[1][1]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("patching").question)
    linked(page, text=ROSES, text_b=ROSE, cell="1-4")
    page.go_back()
    says(page, texts.TITLES["alone"].format(answer=found.answers[0]))
    box = sentence(page, texts.SENTENCE_B)
    box.fill(ROSES)
    box.press("Enter")
    expect(main(page).get_by_text(SAME_SENTENCES)).to_be_visible()
    expect(box).to_have_value(ROSES)
    choose(page, EXAMPLES[1].title)
    answered(page)
    says(page, re.sub("{.*", "", texts.SAID))
