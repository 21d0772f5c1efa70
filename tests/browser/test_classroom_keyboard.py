"""A class by keyboard alone and by ear: all kinds of questions are answered, and both pages say what happens."""

import re

from playwright.sync_api import Page, expect

from pages.classroom import texts
from pages.ui.panels.lesson import FOR_CLASS
from pages.ui.panels.question_kinds import QUESTION_VIEWS
from pages.ui.panels.texts import NO_GUESS
from tests.browser.test_classroom_page import FAST, lesson_of_all_kinds, note, press
from tests.browser.test_lessons import CUT, DRAWN, GUESSES, go_to, guess_by_keyboard
from tx_core.classroom.lesson_file import pack_lesson
from tx_core.classroom.questions import Question

MAPPED = [kind for kind, view in QUESTION_VIEWS.items() if view.class_axes]
"""Kinds whose guesses are drawn on a map."""
ROLES = {"word": "textbox", "open": "textbox", "number": "spinbutton", "choice": "radiogroup"}
"""What the box of a question is to a screen reader; its name is the question."""


def press_by_tab(page: Page, name: str) -> None:
    """Go to a button by Tab and press it."""
    button = page.get_by_role("button", name=name, exact=True)
    expect(button).to_be_enabled(timeout=FAST)
    go_to(page, button)
    page.keyboard.press("Enter")


def said(page: Page):
    """What a screen reader is told of the last run of the page."""
    return page.get_by_test_id("said")


TWICE = """async (words) => {
  const [main, region] = ['stMain', 'said'].map((name) => document.querySelector(`[data-testid=${name}]`))
  const box = Object.assign(document.createElement('p'), { className: 'twice_said', textContent: words })
  const pause = () => new Promise((done) => setTimeout(done, 400)) // twice as long as a change is waited for
  const heard = []
  for (let time = 0; time < 2; time += 1) {
    main.append(box)
    await pause()
    heard.push(region.textContent)
    box.remove()
    await pause()
  }
  return heard
}"""
"""Writes words into a box that is said, takes them away, and writes them again; gives what a screen reader is told."""


def test_words_that_come_again_are_said_again(page_at):
    page = page_at("/words")
    first, second = page.evaluate(TWICE, NO_GUESS)
    assert (first.strip(), second.strip()) == (NO_GUESS, NO_GUESS)
    assert first != second


def guess_of(page: Page, question: Question) -> str:
    """Name the guess that `guess_by_keyboard` makes."""
    if question.kind in DRAWN:
        return page.get_by_role("gridcell", selected=True).get_attribute("aria-label")
    return question.options[0] if question.kind == "choice" else GUESSES[question.kind]


def enter_by_keyboard(page_at, code: str) -> Page:
    """Join a room by its link, on a phone in the dark."""
    student = page_at(f"/class?room={code}", width=390, dark=True)
    press_by_tab(student, texts.JOIN_ROOM.format(code=code))
    expect(note(student)).to_have_text(texts.WAITING, timeout=FAST)
    return student


def answer_by_keyboard(student: Page, question: Question, settle) -> None:
    """Send a guess, which is said, and before it, once in a box and once in a drawing, nothing, which is said, too."""
    if question.kind in ROLES:
        expect(student.get_by_role(ROLES[question.kind], name=question.ask)).to_be_visible()
    if question.kind in ("word", "token"):
        press_by_tab(student, texts.SEND)
        expect(said(student)).to_contain_text(NO_GUESS, timeout=FAST)
        settle(student)
    guess_by_keyboard(student, question)
    settle(student)
    guess = guess_of(student, question)
    press_by_tab(student, texts.SEND)
    expect(said(student)).to_contain_text(texts.YOUR_GUESS.format(guess=guess), timeout=FAST)


def test_every_kind_of_question_is_answered_and_revealed_by_keyboard_and_said(page_at, settle, axe):
    lesson = lesson_of_all_kinds()
    teacher = page_at(f"/class?{FOR_CLASS}={pack_lesson(lesson)}", width=640)  # as on a laptop at 200 %
    press(teacher, texts.OPEN_BUTTON)
    code = teacher.get_by_test_id("stMetricValue")
    expect(code).to_have_text(re.compile(r"^[A-Z]{6}$"), timeout=FAST)
    student = enter_by_keyboard(page_at, code.inner_text().strip())
    regions = [(note(page).element_handle(), page) for page in (teacher, student)]
    for number, step in enumerate(lesson.steps, 1):
        expect(student.get_by_role("heading", name=step.title, exact=True)).to_be_visible(timeout=FAST)
        expect(said(student)).to_contain_text(step.title)
        settle(student)
        assert student.evaluate(CUT) == []
        answer_by_keyboard(student, step.question, settle)
        expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=1, students=1), timeout=FAST)
        axe(student)
        press(teacher, texts.REVEAL)
        expect(note(student)).to_have_text(texts.REVEALED, timeout=FAST)
        for page in (teacher, student):
            results = page.get_by_role("img", name=re.compile(re.escape(step.question.ask)))
            expect(results).to_have_count(int(step.question.kind in MAPPED))
            settle(page)
            if step.question.kind in DRAWN:
                axe(page)
            assert page.evaluate(CUT) == []
        if number < len(lesson.steps):
            press(teacher, texts.NEXT)
    for region, page in regions:  # one that is drawn anew says nothing
        assert region.is_visible() and page.evaluate("one => one.matches('[role=status]')", region)
