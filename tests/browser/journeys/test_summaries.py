"""Summaries of all heads of a sentence, and of heads over many sentences: tables to choose from, with the numbers of the core."""

import re
from pathlib import Path
from urllib.parse import quote_plus

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.many_sentences import texts as many_texts
from pages.summaries import texts
from pages.summaries.parts import PARTS
from pages.ui.shell.numbers import percent
from pages.ui.stage import browser_texts
from tests.browser.conftest import go_by_history
from tests.browser.test_stages import charts
from tests.support.seen import (
    PATIENCE,
    answered,
    choose_head,
    drawn,
    linked,
    main,
    picture,
    press,
    saved,
    says,
    silent,
    stage,
)
from tx_core.analysis.attribution import attribute
from tx_core.analysis.logit_lens import logit_lens
from tx_core.analysis.patterns import name_heads, pattern_sums
from tx_core.analysis.rollout import rollout
from tx_core.analysis.similarity import head_similarity, most_similar_heads
from tx_core.analysis.value_weighted import value_weighted
from tx_core.corpus.scan_file import NOT_A_SCAN, CorpusScan, new_origin, only_named, write_scan
from tx_core.corpus.sentence_file import NO_TEXT, embedded_sentences
from tx_core.corpus.sentence_stream import SourceFile
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue

TEA = "A cup of [MASK] in the morning."
PATH = f"/summaries?text={quote_plus(TEA)}"
BLANK = 4  # the place of the blank, from 0
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


def rollout_says(page: Page) -> None:
    """Assert that what has arrived at the blank by rollout is what the core computes."""
    shares = rollout(catalogue.load(catalogue.DEFAULT).trace(TEA).attention.weights)[-1, BLANK]
    best = np.argsort(-shares)[0]
    drawn(picture(page, f"{best + 1} .* {shares[best]:.2f}"))


def values_say(page: Page) -> None:
    """Assert that the longest and the shortest value are those of the core."""
    engine = catalogue.load(catalogue.DEFAULT)
    found = value_weighted(engine, engine.trace(TEA, keep=("weights", "value")).attention, 0).values[1]
    drawn(picture(page, f"^{texts.HEAD_BY_VALUES}"))
    says(page, "Layer 1, head 2", f"({found.max():.2f})", f"({found.min():.2f})")


def similar_heads_say(page: Page) -> None:
    """Assert that the table lists the nearest heads, and that a click on one chooses it."""
    weights = catalogue.load(catalogue.DEFAULT).trace(TEA).attention.weights
    found = [
        (f"Layer {place // 8 + 1}, head {place % 8 + 1}", f"{share:.3f}")
        for place, share in most_similar_heads(head_similarity(weights), 1, 5)
    ]
    rows = stage(page).get_by_role("row")
    for number, (name, share) in enumerate(found, start=1):
        expect(rows.nth(number)).to_contain_text(re.compile(f"{name}.*{share}"), timeout=PATIENCE)
    rows.get_by_role("button", name=found[0][0]).click()
    expect(stage(page)).to_contain_text(f"Nearest to {found[0][0].lower()}")
    drawn(picture(page, "Distances on the map"))


def lens_says(page: Page) -> None:
    """Assert that the answer and its share after the last layer are the model's."""
    engine = catalogue.load(catalogue.DEFAULT)
    found = logit_lens(engine, engine.trace(TEA, keep=("hidden",)), BLANK)
    says(page, found.answer, percent(float(found.probability[-1])))
    drawn(picture(page, f"^{texts.FINAL_PROBABILITY}"))


def gradients_say(page: Page) -> None:
    """Assert that integrated gradients sum up to what knowing the words changed."""
    engine = catalogue.load(catalogue.DEFAULT)
    encoding = engine.encode(TEA)
    word = int(engine.blank_logits([encoding]).rows[0][0].argmax())
    found = attribute(engine, encoding, BLANK, word)
    says(page, f"{found.baseline:.2f}".replace("-", "−"), f"{found.score:.2f}".replace("-", "−"), f"{found.integrated.sum():.2f}")
    drawn(picture(page, f"^{texts.INTEGRATED}.*{np.abs(found.integrated).max():.2f}"))


SAID = {
    "layers": rollout_says,
    "values": values_say,
    "alike": similar_heads_say,
    "lens": lens_says,
    "owed": gradients_say,
}
"""What each part says, beside the table of heads."""


@pytest.mark.ci
def test_rollout_and_values_say_what_the_core_computes(arrive, parts_for_everybody):
    page = arrive(f"{PATH}&heads=1-2")
    parts_for_everybody(page, {PARTS[part].button: SAID[part] for part in ("layers", "values", "alike")})


@pytest.mark.ci
def test_the_lens_and_the_gradients_say_what_the_core_computes(arrive, parts_for_everybody):
    page = arrive(f"{PATH}&heads=1-2&part=lens")
    parts_for_everybody(page, {PARTS[part].button: SAID[part] for part in ("lens", "owed")})


def upload(page: Page, text: str | bytes, name: str = FILE) -> None:
    """Upload a file of sentences."""
    data = text.encode() if isinstance(text, str) else text
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/plain", "buffer": data})


def test_the_built_in_sentences_are_read_already_and_lead_to_those_where_a_head_does_most(arrive, for_everybody):
    page = arrive("/many_sentences")
    report = read_all(catalogue.load(catalogue.DEFAULT), embedded_sentences())
    (kind,) = [one for one in report.patterns if (one.layer, one.head) == (1, 2)]
    choose_head(page, 2, 3)
    linked(page, heads="2-3")
    says(page, "Layer 2, head 3 ", f"{kind.confidence:.2f}", "308")
    answered(page)
    for_everybody(page)
    see = main(page).get_by_role("link", name=re.compile(many_texts.SEE_SENTENCE.partition("{")[0]))
    expect(see).to_have_count(5)
    see.first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(contents.page("attention").question)
    linked(page, heads="2-3")
    drawn(picture(page, "^Heatmap.*Layer 2, head 3"))


@pytest.mark.ci
def test_a_file_of_one_s_own_is_read_stopped_and_seen_by_nobody_else(page_at):
    page, other = (page_at("/many_sentences?texts=own") for _ in range(2))
    run = main(page).get_by_role("button", name=many_texts.RUN, exact=True)
    upload(page, b"\x89PNG\r\n\x1a\n\0\0\0")
    says(page, NO_TEXT)
    expect(run).to_be_disabled()
    upload(page, "".join(f"The man number {place} stood in front of the old house and waited.\n" for place in range(15_000)))
    says(page, many_texts.READ_FILE[1].format(count=15_000, source=FILE))
    run.click()
    says(page, "Reading: sentence ")
    main(page).get_by_role("button", name=many_texts.STOP, exact=True).click()
    says(page, "stopped after", "15,000")
    says(page, "Layer 1, head 1 ")
    upload(other, "Somebody <b>else</b> was in the old house again.\n" * 3, "other.txt")
    says(other, many_texts.READ_FILE[1].format(count=3, source="other.txt"))
    main(other).get_by_role("button", name=many_texts.RUN, exact=True).click()
    says(other, "Somebody <b>else</b> was in the old house")
    answered(page)
    assert main(page).get_by_text("Somebody").count() == 0
    assert main(other).get_by_text("The man number").count() == 0


@pytest.mark.ci
def test_the_result_of_a_scan_is_opened_and_a_head_of_it_chosen(arrive):
    engine, sentences = catalogue.load(catalogue.DEFAULT), embedded_sentences()
    origin = new_origin(engine.name, half=False, column="", part_sentences=4096, files=[SourceFile(FILE, 1, 2)])
    page = arrive("/many_sentences?texts=scan")
    says(page, many_texts.SCAN_FIRST)
    upload(page, write_scan(CorpusScan(origin, 1, True, only_named(read_all(engine, sentences)))), "heads.json")
    choose_head(page, 2, 3)
    linked(page, heads="2-3")
    says(page, "Layer 2, head 3 ")
    says(page, many_texts.SCANNED_BY.format(revision=origin.revision, version=origin.version))
    upload(page, b"{}", "other.json")
    says(page, NOT_A_SCAN)


@pytest.mark.ci
def test_a_layer_that_was_not_sent_is_computed_and_a_page_saved_of_one_token_offers_no_other(page_at, tmp_path: Path):
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
    go_by_history(page, "/summaries?part=layers&level=advanced")
    expect(charts(page)).to_have_count(3)
    press(page, browser_texts.EXPORT["menu"])
    file = tmp_path / "rollout.html"
    file.write_bytes(saved(page, browser_texts.EXPORT["webPage"]).read_bytes())
    kept = page.context.new_page()
    kept.goto(file.as_uri())
    expect(charts(kept)).to_have_count(3)
    expect(stage(kept).get_by_role("combobox", name=texts.ASK_QUERY)).to_be_disabled()
