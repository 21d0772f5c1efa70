"""The fill-mask page in a real browser: typed into, clicked, linked, on a phone, in the dark, with hostile words."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

expect.set_options(timeout=20_000)
BARS = "[data-testid='stPlotlyChart']"


def opened(page_at, width: int = 1280, dark: bool = False, **address: str) -> Page:
    """The page by its link, once its first bars are painted."""
    query = "&".join(f"{name}={quote(value)}" for name, value in address.items())
    page = page_at(f"/fill_mask?{query}", width=width, dark=dark)
    page.locator(f"{BARS} .bars path").first.wait_for()
    return page


def labels(page: Page, chart: int = 0):
    return page.locator(BARS).nth(chart).locator(".yaxislayer-above text")


def word(page: Page, name: str):
    return page.get_by_test_id("stButtonGroup").get_by_role("button", name=name, exact=True)


def test_bars_follow_what_is_typed_and_the_link_brings_it_back(page_at, settle, axe):
    page = opened(page_at)
    box = page.get_by_label("Sentence", exact=True)
    box.fill("")
    page.get_by_text("There is no text yet").wait_for()
    box.press_sequentially("___ you very much.", delay=10)
    expect(labels(page).first).to_have_text("thank")
    expect(box).to_be_focused()
    settle(page)
    axe(page)
    page.wait_for_url("**/fill_mask?*text=___*")
    again = page_at(f"/{page.url.split('/', 3)[3]}")
    expect(labels(again).first).to_have_text("thank")
    expect(again.get_by_label("Sentence", exact=True)).to_have_value("___ you very much.")


def test_words_become_blanks_and_come_back_by_mouse_and_by_keyboard(page_at, settle):
    page = opened(page_at, text="The cat sat on the [MASK].")
    box = page.get_by_label("Sentence", exact=True)
    word(page, "cat").click()
    expect(box).to_have_value("The [MASK] sat on the [MASK].")
    expect(page.get_by_text("All blanks together")).to_be_visible()
    settle(page)
    word(page, "cat").focus()
    page.keyboard.press("Enter")
    expect(box).to_have_value("The cat sat on the [MASK].")
    settle(page)
    page.get_by_test_id("stButtonGroup").get_by_role("button", name="the", exact=False).last.click()
    expect(box).to_have_value("The cat sat on [MASK] [MASK].")


def test_without_a_blank_one_click_makes_one(page_at):
    page = page_at("/fill_mask?text=The+cat+sleeps.")
    page.get_by_role("button", name="Blank the last word").click()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("The cat [MASK].")
    expect(page.locator(f"{BARS} .bars path").first).to_be_visible()


def test_an_example_compares_two_sentences_and_the_options_show_their_values(page_at, settle, axe):
    page = opened(page_at)
    page.get_by_role("radio", name="A man, a woman").click()
    expect(page.get_by_label("Second sentence")).to_have_value("The woman worked as a [MASK].")
    expect(page.locator(BARS)).to_have_count(4)
    settle(page)
    axe(page)
    page.get_by_role("button", name="Options").click()
    expect(page.get_by_role("slider", name="Words in each list")).to_have_value("8")
    expect(page.get_by_role("radio", name="20 %")).to_be_checked()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_shows_it_all_without_scrolling_sideways(page_at, settle, axe, dark):
    page = opened(page_at, width=390, dark=dark, text="He drinks a cup of ___ every ___.", named="tea, banana")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ink = labels(page).first.evaluate("label => getComputedStyle(label).fill")
    assert ink == ("rgb(232, 237, 242)" if dark else "rgb(15, 23, 32)")
    page.get_by_text("Where does the blank look?").wait_for()
    settle(page)
    axe(page)


def test_hostile_words_are_shown_and_never_run(page_at, settle):
    hostile = "<script>alert(1)</script> <img src=x onerror=alert(2)> ___ **b** [a](javascript:alert(3)) \u202e\u0301"
    page = opened(page_at, text=hostile, named="<b>x</b>, <img src=x>")
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(hostile)
    page.locator(f"{BARS} .bars path").first.hover(force=True)
    expect(page.locator(f"{BARS} .hoverlayer").first).to_contain_text("<script>alert(1)</script>")
    assert page.locator("img[src='x'], a[href^='javascript']").count() == 0
    page.get_by_label("Sentence", exact=True).fill("x" * 10_000 + " ___")
    settle(page)
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("x" * 10_000 + " ___")
