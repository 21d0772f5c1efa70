"""The path for beginners, played from the first step to the last in a browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.learn.texts import BEGIN
from pages.ui.panels import lesson, texts

STEPS = lesson.shipped_lesson(lesson.PATH).steps
GUESSES = ["walked", "yesterday", "go", "lost", "0.5", "went", "went", "coffee", "go", "5-7"]


def answer(page: Page, number: int, settle) -> None:
    """Guess in the way that the question asks for."""
    question, guess = STEPS[number - 1].question, GUESSES[number - 1]
    if question.kind in ("token", "choice"):
        page.get_by_role("radiogroup").get_by_text(guess, exact=True).click()
    elif question.kind == "head":
        page.get_by_role("combobox", name=question.ask).fill(guess)
        page.get_by_role("option", name=guess, exact=True).click()
    else:
        page.get_by_label(question.ask, exact=True).fill(guess)
    page.get_by_role("button", name=texts.CHECK_GUESS).click()
    expect(page.get_by_text(texts.HIDDEN_UNTIL_ANSWERED)).to_have_count(0)
    settle(page)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_path_is_played_from_the_first_step_to_the_last(page_at, settle, axe, width: int, dark: bool):
    page = page_at("/learn", width=width, dark=dark)
    page.get_by_role("link", name=BEGIN).click()
    for number, step in enumerate(STEPS, 1):
        page.wait_for_url(re.compile(rf"[?&]step={number}(&|$)"))
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        expect(page.get_by_role("heading", name=contents.page(step.page).question)).to_have_count(0)
        settle(page)
        if number == 2:
            axe(page)
        answer(page, number, settle)
        expect(page.get_by_role("heading", name=contents.page(step.page).question)).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        if number == 2:
            axe(page)
        if number < len(STEPS):
            page.get_by_role("link", name=texts.NEXT_STEP).click()
    page.get_by_role("link", name=texts.END_LESSON).click()
    expect(page.get_by_role("heading", name=contents.page("learn").question)).to_be_visible()


def test_back_leads_to_the_step_before_with_its_answer(page_at, settle):
    page = page_at("/fill_mask?lesson=path&step=2")
    answer(page, 2, settle)
    page.get_by_role("link", name=texts.NEXT_STEP).click()
    expect(page.get_by_role("heading", name=STEPS[2].title, exact=True)).to_be_visible()
    settle(page)
    page.go_back()
    expect(page.get_by_role("heading", name=STEPS[1].title, exact=True)).to_be_visible()
    expect(page.get_by_text(STEPS[1].then)).to_be_visible()
