"""The path for beginners, played from the first step to the last in a browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages import contents
from pages.learn.texts import BEGIN
from pages.ui.panels import lesson, texts
from tx_core.classroom.lesson_file import Question

STEPS = lesson.shipped_lesson(lesson.LEARNING_PATH).steps
GUESSES = {"word": "walked", "number": "0.5", "head": "5-7", "open": "It looks at objects."}
"""A guess for each kind of question; of tokens and options, the first is chosen."""


def answer(page: Page, question: Question, settle) -> None:
    """Guess in the way that the question asks for."""
    if question.kind in ("token", "choice"):
        page.get_by_role("radiogroup").locator("label").first.click()
    elif question.kind == "head":
        page.get_by_role("combobox", name=question.ask).fill(GUESSES["head"])
        page.get_by_role("option", name=GUESSES["head"], exact=True).click()
    else:
        page.get_by_label(question.ask, exact=True).fill(GUESSES[question.kind])
    page.get_by_role("button", name=texts.CHECK_GUESS).click()
    expect(page.get_by_text(texts.HIDDEN_UNTIL_ANSWERED)).to_have_count(0)
    settle(page)


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [(lesson.LEARNING_PATH, 390, True), *((name, 1280, False) for name in lesson.names_in_order())],
)
def test_a_lesson_is_played_from_the_first_step_to_the_last(page_at, settle, axe, name: str, width: int, dark: bool):
    page = page_at("/learn", width=width, dark=dark)
    page.get_by_role("link", name=BEGIN).nth(lesson.names_in_order().index(name)).click()
    steps = lesson.shipped_lesson(name).steps
    for number, step in enumerate(steps, 1):
        page.wait_for_url(re.compile(rf"[?&]step={number}(&|$)"))
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        expect(page.get_by_role("heading", name=contents.page(step.page).question)).to_have_count(0)
        settle(page)
        if number == 2:
            axe(page)
        answer(page, step.question, settle)
        expect(page.get_by_role("heading", name=contents.page(step.page).question)).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        if number == 2:
            axe(page)
        if number < len(steps):
            page.get_by_role("link", name=texts.NEXT_STEP).click()
    page.get_by_role("link", name=texts.END_LESSON).click()
    expect(page.get_by_role("heading", name=contents.page("learn").question)).to_be_visible()


def test_back_leads_to_the_step_before_with_its_answer(page_at, settle):
    page = page_at("/fill_mask?lesson=path&step=2")
    answer(page, STEPS[1].question, settle)
    page.get_by_role("link", name=texts.NEXT_STEP).click()
    expect(page.get_by_role("heading", name=STEPS[2].title, exact=True)).to_be_visible()
    settle(page)
    page.go_back()
    expect(page.get_by_role("heading", name=STEPS[1].title, exact=True)).to_be_visible()
    expect(page.get_by_text(STEPS[1].then)).to_be_visible()
