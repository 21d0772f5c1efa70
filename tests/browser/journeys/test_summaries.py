"""Summaries of all heads of a sentence, and of heads over many sentences: tables to choose from, with the numbers of the core."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.many_sentences import texts as many_texts
from pages.summaries import texts
from pages.ui.stage import browser_texts
from pages.ui.stage import texts as stage_texts
from tests.support.seen import (
    answered,
    choose_head,
    drawn,
    linked,
    main,
    picture,
    says,
    silent,
    stage,
)
from tx_core.analysis.patterns import name_heads, pattern_sums
from tx_core.corpus.sentence_file import NO_TEXT
from tx_core.engine import catalogue

TEA = "A cup of [MASK] in the morning."
PATH = f"/summaries?text={quote_plus(TEA)}"
FILE = "mine.txt"


def test_a_head_chosen_in_the_table_is_described_and_leads_to_its_map(arrive, for_everybody):
    page = arrive(f"{PATH}&heads=1-1")
    stack = catalogue.load(catalogue.DEFAULT).trace(TEA).attention
    kinds = {(one.layer + 1, one.head + 1): one for one in name_heads(pattern_sums(stack.weights, stack.query_tokens))}
    for layer, number in ((2, 3), (1, 4)):
        choose_head(page, layer, number)
        linked(page, heads=f"{layer}-{number}")
        says(page, f"Layer {layer}, head {number} ", f"{kinds[layer, number].confidence:.2f}")
    stage(page).get_by_role("button", name=browser_texts.CONTROLS["headAfter"]).click()
    linked(page, heads="1-5")
    stage(page).get_by_role("combobox", name=texts.COLOUR_BY).select_option(texts.COLOURS["distance"])
    linked(page, heads="1-5", colour="distance")
    says(page, texts.KINDS_SUBJECTS["distance"])
    page.reload()
    says(page, "Layer 1, head 5 ")
    for_everybody(page)
    stage(page).get_by_role("link", name=texts.SEE_HEAD).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("attention").question)
    linked(page, heads="1-5", text=TEA)
    page.go_back()
    says(page, "Layer 1, head 5 ")


def upload(page: Page, text: str | bytes, name: str = FILE) -> None:
    """Upload a file of sentences."""
    data = text.encode() if isinstance(text, str) else text
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/plain", "buffer": data})


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
def test_a_file_of_one_s_own_is_read_stopped_and_seen_by_nobody_else(page_at):
    page, other = (page_at("/many_sentences?texts=own") for _ in range(2))
    run = main(page).get_by_role("button", name=many_texts.RUN, exact=True)
    upload(page, b"\x89PNG\r\n\x1a\n\0\0\0")
    says(page, NO_TEXT)
    expect(run).to_have_count(0)
    upload(page, "".join(f"The man number {place} stood in front of the old house and waited.\n" for place in range(15_000)))
    says(page, stage_texts.SENTENCES_READ[1].format(count=15_000, source=FILE))
    run.click()
    says(page, "Reading: sentence ")
    main(page).get_by_role("button", name=many_texts.STOP, exact=True).click()
    says(page, "stopped after", "15,000")
    says(page, "Layer 1, head 1 ")
    upload(other, "Somebody <b>else</b> was in the old house again.\n" * 3, "other.txt")
    says(other, stage_texts.SENTENCES_READ[1].format(count=3, source="other.txt"))
    main(other).get_by_role("button", name=many_texts.RUN, exact=True).click()
    says(other, "Somebody <b>else</b> was in the old house")
    answered(page)
    assert main(page).get_by_text("Somebody").count() == 0
    assert main(other).get_by_text("The man number").count() == 0


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
