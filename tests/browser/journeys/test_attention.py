"""Attention, as a reader goes through it: look at heads and words, change a head, write another sentence, on a phone."""

import re
from urllib.parse import quote_plus

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from pages.ui.canvas.texts import CHANGED_MAP, MAP
from pages.ui.panels import texts
from pages.ui.shell import examples
from pages.ui.shell import texts as shell_texts
from pages.ui.shell.numbers import weight
from tests.support.messages import HINT_ELSEWHERE, TOO_LONG_TO_SHARE, name_in_head
from tests.support.seen import (
    PATIENCE,
    address,
    answered,
    button,
    cell,
    choose,
    drawing,
    drawn,
    fits,
    head,
    items,
    linked,
    main,
    picture,
    redrawn,
    says,
    sentence,
    switch,
    told,
    write,
)
from tx_core.analysis.views import view
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

KEYS = "Mary lost her keys."
PATH = f"/attention?text={quote_plus(KEYS)}"


def row_of(text: str, layer: int, number: int, query: str, **options: object) -> dict[str, float]:
    """What a word gives to each token in a head, counted from 1, as the model computes it."""
    stack = catalogue.load(catalogue.DEFAULT).trace(text, **options).attention
    tokens = stack.query_tokens.tokens
    return dict(zip(tokens, stack.weights[layer - 1, number - 1, tokens.index(query)].tolist(), strict=True))


def looks_at(page: Page, query: str, found: dict[str, float]) -> None:
    """Assert that the map says to what a word gives most: drawn, in words for those who see it or not, and in its list."""
    first = max(found, key=found.get)
    shown = drawn(picture(page, f"^Heatmap.*“{re.escape(query)}”.*{found[first]:.2f}.*“{re.escape(first)}”"))
    expect(main(page).get_by_text(told(shown).removeprefix("Heatmap. "), exact=True).first).to_be_visible()
    strongest = main(page).get_by_role("region", name=MAP["strongest"]).get_by_role("listitem").first
    expect(strongest).to_have_text(re.compile(rf"{re.escape(first)}\s*{weight(found[first])}"), timeout=PATIENCE)


def test_a_head_and_a_word_are_looked_at_and_come_back_by_link_back_and_reload(arrive, for_everybody):
    page = arrive(f"{PATH}&heads=2-8&focus=4")
    looks_at(page, "her", row_of(KEYS, 2, 8, "her"))
    before = drawing(picture(page, "^Heatmap"))
    head(page, 1, 8).click()
    linked(page, heads="1-8", focus="4")
    redrawn(picture(page, "^Heatmap"), before)
    looks_at(page, "her", row_of(KEYS, 1, 8, "her"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    linked(page, heads="2-7")
    expect(head(page, 2, 7)).to_have_attribute("aria-selected", "true")
    looks_at(page, "her", row_of(KEYS, 2, 7, "her"))
    main(page).get_by_role("group", name=re.compile("^Heatmap")).press("ArrowDown")
    linked(page, focus="5")
    looks_at(page, "keys", row_of(KEYS, 2, 7, "keys"))
    picture(page, "^Heatmap").click(position=cell(picture(page, "^Heatmap"), 3, 2))
    linked(page, focus="4")
    found = row_of(KEYS, 2, 7, "her")
    expect(main(page).get_by_text(re.compile(rf"^her → lost\s*{found['lost']:.3f}$"))).to_be_visible()  # at the pointer
    looks_at(page, "her", found)
    words = told(picture(page, "^Heatmap"))
    page.reload()
    expect(picture(page, "^Heatmap")).to_have_attribute("aria-label", words, timeout=30_000)
    page.go_back()
    looks_at(page, "keys", row_of(KEYS, 2, 7, "keys"))
    for_everybody(page)


@pytest.mark.ci
def test_several_heads_whole_words_and_hidden_special_tokens_are_what_the_core_makes_of_the_run(arrive, for_everybody):
    text, pair = "A pancake with an old arrow", "It was good."
    page = arrive(f"/attention?text={quote_plus(text)}&pair={quote_plus(pair)}&heads=1-8")
    head(page, 2, 3).click(modifiers=["Shift"])
    linked(page, heads="1-8_2-3")
    for key, heads in (("Space", "1-8"), ("Space", "1-8_2-3"), ("Enter", "2-3")):
        page.keyboard.press(key)
        linked(page, heads=heads)
    page.keyboard.press("Space")
    expect(main(page).get_by_role("gridcell", selected=True)).to_have_count(1)  # the last one stays
    head(page, 1, 8).click(modifiers=["Shift"])
    linked(page, heads="2-3_1-8")
    switch(page, texts.WHOLE_WORDS)
    switch(page, texts.HIDE_SPECIAL)
    linked(page, words="1", hide="1")
    shown = view(catalogue.load(catalogue.DEFAULT).trace(text, pair).attention, merge_words=True, hide_special=True)
    weights = shown.weights[[0, 1], [7, 2]].mean(0)
    row = shown.queries.index("pancake")
    best = int(weights[row].argmax())
    main(page).get_by_role("group", name=re.compile("^Heatmap")).focus()
    for _ in range(row + 1):
        page.keyboard.press("ArrowDown")
    looks_at(page, "pancake", {shown.keys[best]: float(weights[row, best])})
    says(page, texts.SPECIAL_HIDDEN.partition("{")[0])
    main(page).get_by_text(texts.WEIGHTS_TABLE).click()
    expect(main(page).get_by_test_id("stDataFrame")).to_have_count(1)
    answered(page)
    for_everybody(page)


def changed_links(page: Page, before: np.ndarray, after: np.ndarray, tokens: tuple[str, ...], query: int) -> None:
    """Assert that the links that changed most are those of the core, with their numbers before and after."""
    order = np.argsort(-np.abs(after - before)[query])
    expected = [f"{tokens[query]} → {tokens[key]} {before[query, key]:.3f} → {after[query, key]:.3f}" for key in order[:3]]
    found = items(page, CHANGED_MAP["changedLinks"])
    assert [one.rpartition(" ")[0] for one in found[:3]] == expected
    signs = ["+" if after[query, key] >= before[query, key] else "−" for key in order[:3]]
    assert [one.rpartition(" ")[2][0] for one in found[:3]] == signs


def test_a_head_is_switched_off_shown_before_and_after_and_taken_back(arrive, for_everybody):
    page = arrive(f"{PATH}&heads=2-3&focus=4")
    off = button(page, texts.SWITCH_OFF_HEAD.format(layer=2, head=3))
    place = off.bounding_box()["y"]
    off.click()
    linked(page, changes="off~2-3")
    answered(page)
    on = button(page, texts.SWITCH_ON_HEAD.format(layer=2, head=3))
    assert on.bounding_box()["y"] == pytest.approx(place, abs=2)  # what a click adds does not move what was clicked
    head(page, 4, 1).click()
    linked(page, heads="4-1", changes="off~2-3")
    engine = catalogue.load(catalogue.DEFAULT)
    was = engine.trace(KEYS).attention
    now = engine.trace(KEYS, interventions=(Intervention("off", 1, 2),)).attention
    for name in CHANGED_MAP["titles"]:
        drawn(picture(page, f"^{name}.*Layer 4, head 1.*“her”"))
    changed_links(page, was.weights[3, 0], now.weights[3, 0], was.query_tokens.tokens, 3)
    difference = picture(page, f"^{CHANGED_MAP['titles'][2]}")
    difference.hover(position=cell(difference, 2, 1))  # one pointer for all three
    numbers = " → ".join(f"{one.weights[3, 0, 2, 1]:.3f}" for one in (was, now))
    expect(main(page).get_by_text(re.compile(rf"^lost → mary\s*{numbers} \([+−]0\.\d{{3}}\)$"))).to_be_visible()
    page.reload()
    drawn(picture(page, f"^{CHANGED_MAP['titles'][2]}"))
    changed_links(page, was.weights[3, 0], now.weights[3, 0], was.query_tokens.tokens, 3)
    button(page, texts.HIDE_FOCUSED.format(token="her")).click()
    linked(page, changes="off~2-3_hide~4")
    answered(page)
    for_everybody(page)
    button(page, name_in_head("off", 2, 3), exact=False).click()
    linked(page, changes="hide~4")
    answered(page)
    button(page, texts.RESET_CHANGES, exact=False).click()
    looks_at(page, "her", row_of(KEYS, 4, 1, "her"))
    assert "changes" not in address(page)


def test_the_panel_of_changes_opens_beside_the_map_and_changes_what_it_says(arrive, for_everybody):
    page = arrive(f"{PATH}&heads=2-3&focus=4")
    button(page, texts.CHANGE_SOMETHING).click()
    uniform = button(page, texts.SET_TO_UNIFORM, exact=False)
    expect(uniform).to_be_visible()
    answered(page)
    panel = uniform.bounding_box()
    assert panel["x"] + panel["width"] <= picture(page, "^Heatmap").bounding_box()["x"]
    uniform.click()
    linked(page, changes="even~2-3")
    answered(page)
    after = CHANGED_MAP["titles"][1]
    drawn(picture(page, f"^{after}.*“her”"))
    found = items(page, CHANGED_MAP["changedLinks"])
    assert {one.split(" → ")[2].split()[0] for one in found} == {f"{1 / 7:.3f}"}
    choose(page, texts.NORMALISER_LABELS["sparse"])
    linked(page, changes="even~2-3_sparse")
    for_everybody(page)


def test_another_sentence_is_read_while_it_is_typed_and_an_example_is_taken_apart(arrive, for_everybody):
    page = arrive("/attention")
    first = examples.curated()[0]
    expect(sentence(page)).to_have_value(first.text)
    says(page, first.notice.partition(".")[0])
    page.set_viewport_size({"width": 1280, "height": 800})  # the first screen of a laptop
    expect(drawn(picture(page, "^Heatmap"))).to_be_in_viewport(ratio=0.95)
    head(page, 1, 8).click()
    says(page, HINT_ELSEWHERE)
    button(page, shell_texts.SHOW_EXAMPLE, exact=False).click()
    looks_at(page, "her", row_of(first.text, 2, 8, "her"))
    counter = first.counters[0]
    choose(page, counter.title)
    expect(sentence(page)).to_have_value(counter.text)
    looks_at(page, "her", row_of(counter.text, 2, 8, "her"))
    sentence(page).press("End")
    sentence(page).press_sequentially(" Again", delay=15)
    says(page, "8 of 128")
    expect(sentence(page)).to_be_focused()
    linked(page, text=f"{counter.text} Again")
    answered(page)
    page.go_back()
    expect(sentence(page)).to_have_value(counter.text)
    long = "word " * 2000
    write(page, long)
    says(page, "2,002 of 128")
    expect(sentence(page)).to_have_value(long)
    button(page, shell_texts.SHARE).click()
    expect(page.get_by_text(TOO_LONG_TO_SHARE)).to_be_visible()
    page.keyboard.press("Escape")
    write(page, "")
    expect(main(page).get_by_text(shell_texts.CHECK_INPUT, exact=True)).to_be_visible()
    write(page, "Back again.")
    drawn(picture(page, "^Heatmap"))
    for_everybody(page)


@pytest.mark.ci
def test_a_long_map_zooms_in_its_box_and_the_page_stays_as_wide_as_a_phone(arrive):
    page = arrive(f"/attention?text={'+'.join(['dog', 'cat'] * 40)}", width=390)
    for _ in range(4):
        button(page, MAP["zoomIn"]).click()
    box = main(page).get_by_role("group", name=re.compile("^Heatmap"))
    assert box.evaluate("box => box.scrollWidth > box.clientWidth + 100")
    fits(page)
    box.press("End")
    linked(page, focus="82")
    says(page, "[SEP]")
    button(page, MAP["showAll"]).click()
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_on_a_phone_the_heads_come_before_the_map_and_are_as_large_as_a_finger_needs(arrive, axe):
    page = arrive(f"{PATH}&heads=2-6", width=390, dark=True)
    fits(page)
    first = head(page, 1, 1).bounding_box()
    assert min(first["width"], first["height"]) >= 24
    assert first["y"] < drawn(picture(page, "^Heatmap")).bounding_box()["y"]
    expect(head(page, 2, 6)).to_be_in_viewport()
    head(page, 3, 3).click()
    linked(page, heads="3-3")
    drawn(picture(page, "^Heatmap.*Layer 3, head 3"))
    button(page, texts.CHANGE_SOMETHING).click()
    uniform = button(page, texts.SET_TO_UNIFORM, exact=False)
    expect(uniform).to_be_in_viewport()
    assert uniform.bounding_box()["y"] > 450  # it opens from below
    fits(page)
    axe(page)
