"""Attention, as a reader goes through it: look at heads and words, change a head, write another sentence, on a phone."""

import re
from urllib.parse import quote_plus

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from pages.attention import inputs
from pages.ui.shell import texts as shell_texts
from pages.ui.shell.numbers import weight
from pages.ui.stage import browser_texts
from tests.support.seen import (
    address,
    answered,
    button,
    choose,
    drawing,
    drawn,
    fits,
    head,
    items,
    linked,
    listed,
    main,
    picture,
    press,
    redrawn,
    says,
    sentence,
    silent,
    until,
    write,
)
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

KEYS = "Mary lost her keys."
PATH = f"/attention?text={quote_plus(KEYS)}"


def row_of(text: str, layer: int, number: int, query: str, **options: object) -> dict[str, float]:
    """What a word gives to each token in a head, counted from 1, as the model computes it."""
    stack = catalogue.load(catalogue.DEFAULT).trace(text, **options).attention
    tokens = stack.query_tokens.tokens
    return dict(zip(tokens, stack.weights[layer - 1, number - 1, tokens.index(query)].tolist(), strict=True))


def tool(page: Page, name: str) -> Locator:
    """A control of the toolbar."""
    return main(page).get_by_role("button", name=name, exact=True)


def looks_at(page: Page, query: str, found: dict[str, float]) -> None:
    """Assert that the map says to what a word gives most: drawn, in words for those who see it or not, and in its list."""
    first = max(found, key=found.get)
    shown = drawn(picture(page, f"^Heatmap.*“{re.escape(query)}”.*{found[first]:.2f}.*“{re.escape(first)}”"))
    expect(main(page).get_by_text(shown.get_attribute("aria-label").removeprefix("Heatmap. "), exact=True).first).to_be_visible()
    strongest = main(page).get_by_role("region", name=browser_texts.MAP["strongest"]).get_by_role("listitem").first
    expect(strongest).to_have_text(re.compile(rf"{re.escape(first)}\s*{weight(found[first])}"))


def test_a_head_and_a_word_are_looked_at_and_come_back_by_link_reload_and_from_another_page(arrive):
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
    page.reload()
    looks_at(page, "keys", row_of(KEYS, 2, 7, "keys"))
    listed(page, "Masks").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Who may look at whom?")
    answered(page)
    listed(page, "Attention").click()
    looks_at(page, "keys", row_of(KEYS, 2, 7, "keys"))


def changed_links(page: Page, before: np.ndarray, after: np.ndarray, tokens: tuple[str, ...], query: int) -> None:
    """Assert that the links that changed most are those of the core, with their numbers before and after."""
    order = np.argsort(-np.abs(after - before)[query])
    expected = [f"{tokens[query]} → {tokens[key]} {before[query, key]:.3f} → {after[query, key]:.3f}" for key in order[:3]]
    found = items(page, browser_texts.CHANGED["links"])
    assert [one.rpartition(" ")[0] for one in found[:3]] == expected


@pytest.mark.ci
def test_changes_of_the_menu_are_run_compared_and_taken_back_on_a_phone_too(arrive, for_everybody, axe):
    page, changes = arrive(f"{PATH}&heads=2-3&focus=4"), browser_texts.CHANGES
    tool(page, browser_texts.CONTROLS["offHead"].format(head="layer 2, head 3")).click()
    linked(page, changes="off~2-3")
    head(page, 4, 1).click()
    linked(page, heads="4-1", changes="off~2-3")
    engine = catalogue.load(catalogue.DEFAULT)
    was = engine.trace(KEYS).attention
    now = engine.trace(KEYS, interventions=(Intervention("off", 1, 2),)).attention
    button(page, browser_texts.CHANGED["states"]["difference"]).click()
    linked(page, compared="difference")
    changed_links(page, was.weights[3, 0], now.weights[3, 0], was.query_tokens.tokens, 3)
    page.reload()
    changed_links(page, was.weights[3, 0], now.weights[3, 0], was.query_tokens.tokens, 3)
    tool(page, changes["menu"]).click()
    expect(button(page, changes["layerOff"])).to_be_visible()
    box = lambda name: main(page).get_by_role("combobox", name=changes[name], exact=True)  # noqa: E731
    box("query").select_option(label="5 keys")
    box("scope").select_option(label="In layer 4, head 1")
    button(page, changes["cutLink"]).click()
    linked(page, changes="off~2-3_cut~5-4~4-1")
    box("temperature").select_option("0.5")
    linked(page, changes="off~2-3_cut~5-4~4-1_temperature~0.5")
    box("normaliser").select_option("sparse")
    linked(page, changes="off~2-3_cut~5-4~4-1_temperature~0.5_sparse")
    box("normaliser").press("Escape")
    expect(tool(page, changes["menu"])).to_be_focused()
    for_everybody(page)
    toolbar = main(page).get_by_role("toolbar").first
    toolbar.hover()
    page.mouse.wheel(2000, 0)
    expect(toolbar.get_by_role("button").filter(visible=True).last).to_be_in_viewport(ratio=1)
    button(page, browser_texts.CHANGED["reset"]).click()
    looks_at(page, "her", row_of(KEYS, 4, 1, "her"))
    assert "changes" not in address(page)
    first = head(page, 1, 1).bounding_box()
    assert min(first["width"], first["height"]) >= 24
    assert first["y"] > picture(page, "^Heatmap").bounding_box()["y"]
    tool(page, changes["menu"]).click()
    uniform = button(page, changes["uniform"])
    expect(uniform).to_be_in_viewport()
    assert uniform.bounding_box()["height"] >= 32
    fits(page)
    axe(page)


def test_another_sentence_is_read_while_it_is_typed_and_an_example_is_taken_apart(arrive):
    page = arrive("/attention")
    first = inputs.EXAMPLES[0]
    expect(sentence(page)).to_have_value(first.view["text"])
    says(page, first.notice.partition(".")[0])
    head(page, 1, 8).click()
    choose(page, first.title)
    looks_at(page, "her", row_of(first.view["text"], 2, 8, "her"))
    counter = first.counters[0]
    choose(page, counter.title)
    expect(sentence(page)).to_have_value(counter.view["text"])
    looks_at(page, "her", row_of(counter.view["text"], 2, 8, "her"))
    sentence(page).press("End")
    sentence(page).press_sequentially(" Again", delay=15)
    says(page, "8 of 128")
    expect(sentence(page)).to_be_focused()
    linked(page, text=f"{counter.view['text']} Again")
    answered(page)
    write(page, "")
    expect(main(page).get_by_text(shell_texts.CHECK_INPUT, exact=True)).to_be_visible()
    write(page, "Back again.")
    shown = drawn(picture(page, "^Heatmap"))
    page.emulate_media(media="print")  # on paper stands the picture, and nothing to press
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_role("radio", name=shell_texts.BASIC)).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(shown).to_be_visible()


LONG = "The old man and his young wife sat down by the river. " * 9


@pytest.mark.ci
def test_of_a_long_text_all_layers_are_fetched_at_once_and_looked_at_and_zoomed_without_the_server(page_at):
    layers = set()
    note = lambda request: "/stage-run/" in request.url and layers.add(request.url[-1])  # noqa: E731
    page = page_at(f"/attention?text={quote_plus(LONG)}&heads=2-8", prepare=lambda page: page.on("requestfinished", note))
    until(page, lambda: layers == set("02345"), "every layer but that which came with the page's answer")
    with silent(page):
        head(page, 6, 2).click()
        says(page, "Layer 6, head 2.")
        heat = page.get_by_test_id("attention-heatmap")
        cell = re.search(r'"cell":[\d.]+', heat.get_attribute("data-shape"))[0]
        press(page, browser_texts.CONTROLS["view"])
        press(page, browser_texts.CONTROLS["zoomIn"])
        expect(heat).not_to_have_attribute("data-shape", re.compile(rf"{cell}\b"))
