"""The stage of Next word with its server stopped: places, temperature and heads answer all the same, by the sums of the core."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from playwright.sync_api import BrowserContext, Page, expect

from pages.next_word import texts
from pages.ui.shell.numbers import percent
from pages.ui.stage import browser_texts
from tests.support.seen import dismiss_lost_connection, saved
from tests.support.serving import ROOT
from tx_core import load
from tx_core.analysis.probabilities import largest
from tx_core.fill_mask.next_words import Sampling, next_logits

TEXT = "The old man went to the"


def shown(page: Page) -> list[str]:
    lines = page.get_by_role("listbox", name=texts.PICTURE["likely"]).get_by_role("option").all_inner_texts()
    return [line.split()[-2] for line in lines]


def written_in(file: Path) -> set[str]:
    """The texts of an SVG."""
    return {element.text for element in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")}


def test_temperature_top_k_top_p_places_and_heads_are_looked_at_without_a_server(profile: BrowserContext, start_server: Callable):
    engine = load("writer")
    written = engine.tokenizer.pieces("door and began to")
    page = profile.new_page()
    page.set_viewport_size({"width": 1280, "height": 800})
    with start_server(ROOT) as url:
        page.goto(f"{url}/next_word?text={TEXT.replace(' ', '+')}&written={'.'.join(map(str, written))}")
        expect(page.get_by_test_id("next-said")).not_to_be_empty()
        page.locator(".st-key-next_word_export summary").click()  # open, it is told of every look
        expect(page.locator(".st-key-next_word_export_form")).to_be_visible()
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    dismiss_lost_connection(page)
    encoding = engine.encode(TEXT, None, written)
    logits = next_logits(engine, encoding, range(len(encoding) - 1 - len(written), len(encoding)))
    for at, temperature, top_k, top_p in (
        (0, 1.0, 0, 1.0),
        (2, 0.6, 0, 1.0),
        (1, 1.4, 40, 1.0),
        (4, 1.0, 0, 0.6),
        (0, 1.7, 20, 0.8),
    ):
        if at:
            page.get_by_test_id("written").locator(f"[data-at='{at}']").click()
        else:
            page.get_by_role("button", name=texts.PICTURE["next"], exact=True).click()
        for name, value in (("temperature", temperature), ("topK", top_k), ("topP", top_p)):
            page.get_by_role("combobox", name=texts.PICTURE[name], exact=True).select_option(f"{value:g}")
        shares = Sampling(temperature, top_k, top_p).shares(logits[at - 1 if at else -1])
        best = largest(shares, 12)
        expected = [percent(share).replace("\xa0", " ").split()[0] for share in np.sort(shares[best])[::-1] if share > 0]
        assert shown(page)[: len(expected)] == expected
    page.get_by_role("gridcell", name=re.compile("^Layer 5, head 3")).click()
    expect(page.get_by_test_id("stage-said")).to_contain_text("Layer 5, head 3.")
    expect(page.get_by_test_id("stage")).to_contain_text(browser_texts.AHEAD)
    page.get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    of_map = written_in(saved(page, browser_texts.EXPORT["svg"]))
    assert {"door", browser_texts.AHEAD} <= of_map
    page.get_by_role("combobox", name=browser_texts.EXPORT["figureOf"]).select_option("other")
    assert {expected[0] + "\xa0%", "100\xa0%"} & written_in(saved(page, browser_texts.EXPORT["svg"]))
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("heads=5-3.*temperature=1.7.*top_k=20.*top_p=0.8"))
    page.close()
