"""Summaries of all heads of a sentence, and of heads over many sentences: tables to choose from, with the numbers of the core."""

import re

import pytest
from playwright.sync_api import expect

from pages import contents
from pages.many_sentences import texts as many_texts
from pages.summaries import texts
from tests.support.seen import answered, drawn, linked, main, picture, says, silent, stage


def test_two_words_that_are_clicked_lead_to_the_heads_of_their_relation_and_on_to_a_sentence(arrive, for_everybody):
    page = arrive("/many_sentences?part=find")
    says(page, "Heads that lead from an object to its verb", "Layer 2, head 7 finds the related word")
    main(page).get_by_role("button", name=many_texts.RELATION.partition("{")[0]).click()
    for word in ("closed", "door"):
        page.get_by_role("button", name=word, exact=True).click()
    linked(page, key="obj", key_in="deprel", link="dependent")
    page.keyboard.press("Escape")
    says(page, "Heads that lead from a verb to its object", "Layer 2, head 6 finds the related word")
    answered(page)
    for_everybody(page)
    see = main(page).get_by_role("link", name=re.compile(many_texts.SEE_SENTENCE.partition("{")[0]))
    expect(see).to_have_count(6)
    see.first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("attention").question)
    linked(page, heads="2-6")
    drawn(picture(page, "^Heatmap.*Layer 2, head 6"))


@pytest.mark.ci
def test_a_layer_that_was_not_sent_is_computed(page_at):
    page = page_at(f"/summaries?part=values&level=advanced&text={'bird+' * 30}")
    heads = stage(page).get_by_role("combobox", name=texts.HEAD_LIST)
    expect(heads).to_have_value("1-2")
    with silent(page):  # its layer was sent
        heads.select_option("1-5")
        expect(stage(page)).to_contain_text("Layer 1, head 5: the longest value")
    heads.select_option("4-1")
    expect(stage(page)).to_contain_text("Layer 4, head 1: the longest value")
    expect(stage(page)).to_contain_text("all heads of layer 4")
    linked(page, heads="4-1")
