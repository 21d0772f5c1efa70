"""Lessons: guess before the answer is revealed, by pointer and by keyboard; nothing of an answer is sent before."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.ui.panels import lesson, texts
from pages.ui.panels.question_kinds import QUESTION_VIEWS
from pages.ui.panels.texts import QUESTION
from tests.browser.conftest import TO_THE_TOP, go_by_history
from tests.support.lesson_secrets import Received, secrets_of
from tests.support.seen import address, answered, drawn, fits, linked, main, picture, says
from tx_core.classroom.questions import QUESTION_KINDS, Question

PATH = lesson.LEARNING_PATH
STEPS = lesson.shipped_lesson(PATH).steps
GUESSES = {"word": "walked", "number": "0.5", "head": "5-7", "open": "It looks at objects."}
"""A guess for each kind of question; of options the first is chosen, of tokens and cells the second."""
DRAWN = [kind for kind, view in QUESTION_VIEWS.items() if view.grid]
"""Kinds that are answered in a drawing."""
IS_FOCUSED = "element => element.getRootNode().activeElement === element"


def guess(page: Page, question: Question) -> None:
    """Guess in the way that the question asks for, and check the guess."""
    if question.kind == "choice":
        main(page).get_by_role("radiogroup", name=question.ask).get_by_role("radio").first.check(force=True)
    elif question.kind in ("token", "cell"):
        main(page).get_by_role("gridcell").nth(1).click()
        expect(main(page).get_by_role("gridcell", selected=True)).to_have_count(1)
    elif question.kind == "head":
        main(page).get_by_role("combobox", name=question.ask).fill(GUESSES["head"])
        page.get_by_role("option", name=GUESSES["head"], exact=True).click()
    else:
        main(page).get_by_label(question.ask, exact=True).fill(GUESSES[question.kind])
    answered(page)
    main(page).get_by_role("button", name=texts.CHECK_GUESS if question.answer else texts.GIVE_ANSWER).click()
    expect(page.get_by_text(texts.HIDDEN_UNTIL_ANSWERED)).to_have_count(0)
    answered(page)


def on_step(page: Page, number: int) -> None:
    """Wait until a step is there, with its view still closed."""
    linked(page, step=str(number))
    expect(page.get_by_role("heading", name=STEPS[number - 1].title, exact=True)).to_be_visible()
    answered(page)


def test_the_path_begins_from_the_list_of_lessons_and_sends_no_answer_before_the_guess(page_at, axe, darken, resize):
    followed: list[Received] = []
    page = page_at("/learn", prepare=lambda page: followed.append(Received(page)))
    (received,), current = followed, page.locator("[aria-current=step]")
    for name in lesson.names_in_order():
        expect(page.get_by_role("heading", name=lesson.shipped_lesson(name).title, exact=True)).to_be_visible()
    fits(page)
    axe(page)
    page.get_by_role("link", name=texts.BEGIN).first.click()
    for number, step in enumerate(STEPS[:3], 1):
        on_step(page, number)
        expect(page.get_by_test_id("stage")).to_have_count(0)
        assert received.holds(step.text)
        assert [one for one in secrets_of(step) if received.holds(one)] == [], number
        expect(current).to_have_accessible_name(re.compile(re.escape(f"({texts.STEP_TO_DO})")))
        guess(page, step.question)
        if number == 1:  # others are done by a change, too
            expect(current).to_have_accessible_name(re.compile(re.escape(f"({texts.STEP_DONE})")))
        expect(page.get_by_test_id("stage")).to_be_attached()
        assert step.then is None or received.holds(step.then)
        answered(page)
        received.parts.clear()
        if number == 2:
            page.get_by_role("button", name=texts.SEE_BELOW).click()
            expect(drawn(picture(page, "^Heatmap"))).to_be_in_viewport()  # which the step speaks of
            axe(page)
            resize(page, 390)
            darken(page)
            axe(page)
        fits(page)
        page.get_by_role("link", name=texts.NEXT_STEP).click()
    on_step(page, 4)
    page.get_by_test_id("step-strip").get_by_role("button").nth(4).press("Enter")
    on_step(page, 5)
    assert address(page)["lesson"] == PATH
    page.go_back()
    on_step(page, 4)
    page.go_back()
    expect(page.get_by_role("heading", name=STEPS[2].title, exact=True)).to_be_visible()
    says(page, STEPS[2].then)  # its answer stays


def step_of_kind(kind: str) -> tuple[Question, str]:
    """Return the first question of a kind in the lessons that ship, and the address of its step."""
    return next(
        (step.question, f"/{step.page}?lesson={name}&step={number}")
        for name in lesson.names_in_order()
        for number, step in enumerate(lesson.shipped_lesson(name).steps, 1)
        if step.question and step.question.kind == kind
    )


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until an element has the focus."""
    found = target.element_handle()  # once: to look a role up takes longer than to press a key
    for _ in range(60):
        if found.evaluate(IS_FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} cannot be reached by Tab")


def guess_by_keyboard(page: Page, question: Question) -> None:
    """Make a guess without a pointer."""
    if question.kind in DRAWN:
        tab_to(page, main(page).get_by_role("gridcell").first)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(main(page).get_by_role("gridcell").nth(1)).to_have_attribute("aria-selected", "true")
    elif question.kind == "choice":
        tab_to(page, main(page).get_by_role("radiogroup", name=question.ask).get_by_role("radio").first)
        page.keyboard.press("Space")
    else:
        tab_to(page, main(page).get_by_label(question.ask, exact=True))
        page.keyboard.type(GUESSES[question.kind])


@pytest.mark.ci
def test_a_question_of_each_kind_is_answered_by_keyboard_and_its_verdict_is_said(page_at, for_everybody):
    page = None
    for kind in QUESTION_KINDS:
        question, link = step_of_kind(kind)
        if page:
            go_by_history(page, link)
        else:
            page = page_at(link)
        answered(page)
        verdict = page.get_by_test_id("verdict")
        expect(verdict).to_have_text("")
        page.evaluate(TO_THE_TOP)
        guess_by_keyboard(page, question)
        answered(page)
        tab_to(page, main(page).get_by_role("button", name=texts.CHECK_GUESS if question.answer else texts.GIVE_ANSWER))
        page.keyboard.press("Enter")
        if question.answer or kind == "open":
            expect(verdict).not_to_have_text("")
            expect(verdict).to_be_focused()
        expect(page.get_by_text(texts.HIDDEN_UNTIL_ANSWERED)).to_have_count(0)
        if kind in DRAWN:
            cells = main(page).get_by_role("gridcell")
            names = cells.evaluate_all("cells => cells.map((cell) => cell.getAttribute('aria-label') ?? '')")
            assert len([name for name in names if QUESTION["answer"] in name]) == 1, kind
            assert QUESTION["guess"] in names[1], kind
            expect(cells.nth(1)).to_have_class(re.compile(r"\bguess\b"))  # outlined
    answered(page)
    for_everybody(page)
