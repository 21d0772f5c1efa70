"""The fill-mask page in a real browser: typed into, clicked, linked, on a phone, in the dark, with hostile words."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from pages.fill_mask import texts


def opened(page_at, title: str = "Most likely words", width: int = 1280, dark: bool = False, **address: str) -> Page:
    """The page by its link, once its first bars are painted."""
    query = "&".join(f"{name}={quote(value)}" for name, value in address.items())
    page = page_at(f"/fill_mask?{query}", width=width, dark=dark)
    bars(page, title).wait_for()
    return page


def bars(page: Page, title: str = "Most likely words"):
    return page.get_by_role("list", name=title).get_by_role("listitem").first


def word_at(bar) -> str:
    return bar.locator(".name").inner_text()


def word(page: Page, name: str):
    return page.get_by_test_id("stButtonGroup").get_by_role("button", name=name, exact=True)


def test_bars_follow_what_is_typed_and_the_link_brings_it_back(view_at, page_at, settle, axe):
    page = opened(view_at, text="___ you")
    chart = page.get_by_test_id("bars")
    chart.evaluate("chart => chart.classList.add('the-very-same')")
    before, box = chart.inner_text(), page.get_by_label("Sentence", exact=True)
    box.press("End")
    box.press_sequentially(" very much.", delay=10)
    expect(chart).not_to_have_text(before, use_inner_text=True)
    page.wait_for_url("**much.*")
    settle(page)
    expect(box).to_be_focused()
    expect(chart).to_have_class(re.compile("the-very-same"))  # one node for all that is typed: nothing flickers
    found, told = word_at(bars(page)), page.get_by_role("tooltip")
    bars(page).hover()
    expect(told).to_have_text(f"{found} you very much.")
    axe(page)
    bars(page).focus()
    page.keyboard.press("ArrowDown")
    second = page.get_by_role("listitem").and_(page.locator(":focus"))
    expect(second).to_have_accessible_description(f"{word_at(second)} you very much.")
    page.keyboard.press("Escape")
    page.mouse.move(0, 0)
    expect(told).to_be_hidden()
    again = opened(lambda path, **more: page_at(f"/{page.url.split('/', 3)[3]}"))
    assert word_at(bars(again)) == found
    expect(again.get_by_label("Sentence", exact=True)).to_have_value("___ you very much.")


def test_words_become_blanks_and_come_back_by_mouse_and_by_keyboard(view_at, settle):
    page = opened(view_at, text="The cat sat on the [MASK].")
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


def test_without_a_blank_one_click_makes_one(view_at):
    page = view_at("/fill_mask?text=The+cat+sleeps.")
    page.get_by_role("button", name="Blank the last word").click()
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("The cat [MASK].")
    expect(bars(page)).to_be_visible()


def test_an_example_compares_two_sentences_and_the_options_show_their_values(view_at, settle, axe):
    page = opened(view_at)
    page.get_by_role("radio", name="A man, a woman").click()
    expect(page.get_by_role("textbox", name="Second sentence", exact=True)).to_have_value("The woman worked as a [MASK].")
    expect(page.get_by_test_id("bars")).to_have_count(6)
    settle(page)
    axe(page)
    page.get_by_role("button", name="Options").click()
    expect(page.get_by_role("slider", name="Words in each list")).to_have_value("8")
    expect(page.get_by_role("radio", name="20 %")).to_be_checked()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_phone_shows_it_all_without_scrolling_sideways(view_at, settle, axe, dark):
    long = "antidisestablishmentarianism"
    page = opened(view_at, "Blank 1", width=390, dark=dark, text="A cup of ___ every ___.", named=f"tea, {long}, banana")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(bars(page, "Blank 1").locator(".name")).to_have_css("color", "rgb(232, 237, 242)" if dark else "rgb(15, 23, 32)")
    assert long in page.get_by_role("list", name="Your words at blank 1").inner_text()
    page.get_by_text(texts.WHERE).wait_for()
    settle(page)
    axe(page)


def test_hostile_words_are_shown_and_never_run(view_at, settle):
    hostile = "<script>alert(1)</script> <img src=x onerror=alert(2)> ___ **b** [a](javascript:alert(3)) \u202e\u0301"
    page = opened(view_at, text=hostile, named="<b>x</b>, <img src=x>")
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(hostile)
    bars(page).hover()
    expect(page.get_by_role("tooltip").first).to_contain_text("<script>alert(1)</script>")
    assert page.locator("img[src='x'], a[href^='javascript']").count() == 0
    page.get_by_label("Sentence", exact=True).fill("x" * 10_000 + " ___")
    settle(page)
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("x" * 10_000 + " ___")


@pytest.mark.parametrize("level", ["basic", "advanced"])
def test_what_stands_below_the_words_to_check_stays_while_they_are_typed(page_at, settle, level: str):
    page = opened(page_at, level=level, text="Yesterday I [MASK] to school.", named="went")
    listed, below = page.get_by_role("list", name=texts.CHECKED_WORDS), page.get_by_label("Head shown").last
    places = []
    for number, words in enumerate(["went", "went, go", "went, go, came", "went, go, came, walked"], 1):
        page.get_by_role("textbox", name=texts.CHECK_WORDS).fill(words)
        expect(listed.get_by_role("listitem")).to_have_count(number)
        settle(page)
        places.append(below.bounding_box()["y"])
    assert max(places) - min(places) < 1


def test_the_models_guess_is_called_one_also_where_the_sentence_was_an_example(view_at):
    page = opened(view_at)
    word(page, "[MASK]").click()
    expect(page.get_by_test_id("stAlert").get_by_text(texts.GUESS.partition("{")[0])).to_be_visible()
    expect(page.get_by_label("Sentence", exact=True)).not_to_have_value(re.compile("MASK"))
    word(page, "Yesterday").click()
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
