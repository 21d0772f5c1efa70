"""The path for beginners and the lessons that ship, played in a browser."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from pages import contents
from pages.fill_mask.texts import WHERE
from pages.ui.canvas.texts import QUESTION
from pages.ui.panels import lesson, texts
from pages.ui.panels.question_kinds import QUESTION_VIEWS
from pages.ui.panels.texts import BEGIN
from pages.ui.shell.level import ADVANCED, BASIC
from tests.browser.conftest import go_by_history
from tests.support.lesson_secrets import Received, secrets_of
from tx_core.classroom.questions import QUESTION_KINDS, Question

STEPS = lesson.shipped_lesson(lesson.LEARNING_PATH).steps
GUESSES = {"word": "walked", "number": "0.5", "head": "5-7", "open": "It looks at objects."}
"""A guess for each kind of question; of options the first is chosen, of tokens and cells the second."""
DRAWN = [kind for kind, view in QUESTION_VIEWS.items() if view.grid]
"""Kinds that are answered in a drawing."""
GAP = """heading => heading.getBoundingClientRect().y
  - document.querySelector('.st-key-fill_mask_text_blanks').getBoundingClientRect().bottom"""
"""The height of what stands between the words to click and a heading."""
IS_FOCUSED = "element => element.getRootNode().activeElement === element"
CUT = """() => {
  const clips = (one) => one.clientWidth > 1 && getComputedStyle(one).overflowX !== 'visible' && !one.matches('input')
  const within = (one) => [one, ...(one.shadowRoot?.querySelectorAll('*') ?? [])]
  const drawn = [...document.querySelectorAll('.st-key-lesson *')].flatMap(within)
  const places = [document.documentElement, ...drawn.filter(clips)]
  return places.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 200))
}"""
"""What of a step is wider than the place that it has."""


def answer(page: Page, question: Question, settle) -> None:
    """Guess in the way that the question asks for."""
    if question.kind == "choice":
        page.get_by_role("radiogroup").locator("label").first.click()
    elif question.kind in ("token", "cell"):
        page.get_by_role("gridcell").nth(1).click()
        expect(page.get_by_role("gridcell", selected=True)).to_have_count(1)
        settle(page)
    elif question.kind == "head":
        page.get_by_role("combobox", name=question.ask).fill(GUESSES["head"])
        page.get_by_role("option", name=GUESSES["head"], exact=True).click()
        settle(page)
    else:
        page.get_by_label(question.ask, exact=True).fill(GUESSES[question.kind])
    page.get_by_role("button", name=texts.CHECK_GUESS).click()
    expect(page.get_by_text(texts.HIDDEN_UNTIL_ANSWERED)).to_have_count(0, timeout=60_000)
    settle(page)


@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [(lesson.LEARNING_PATH, 390, True), *((name, 1280, False) for name in lesson.names_in_order())],
)
def test_a_lesson_is_played_to_its_end_and_sends_no_answer_before_the_guess(
    page_at, settle, axe, name: str, width: int, dark: bool
):
    followed: list[Received] = []
    page = page_at("/learn", width=width, dark=dark, prepare=lambda page: followed.append(Received(page)))
    (received,), steps = followed, lesson.shipped_lesson(name).steps
    page.get_by_role("link", name=BEGIN).nth(lesson.names_in_order().index(name)).click()
    for number, step in enumerate(steps, 1):
        page.wait_for_url(re.compile(rf"[?&]step={number}(&|$)"))
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        expect(page.get_by_role("heading", name=contents.page(step.page).question)).to_have_count(0, timeout=60_000)
        settle(page)
        assert received.holds(step.text)
        secrets = secrets_of(step)
        assert [one for one in secrets if received.holds(one)] == [], number
        if number == 2:
            axe(page)
        answer(page, step.question, settle)
        expect(page.get_by_role("heading", name=contents.page(step.page).question)).to_be_attached()
        assert received.holds(secrets[0])
        assert step.then is None or received.holds(step.then)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        if number == 2:
            axe(page)
        settle(page)  # what comes late is of this step, too
        received.parts.clear()
        if number < len(steps):
            page.get_by_role("link", name=texts.NEXT_STEP).click()
    page.get_by_role("link", name=texts.END_LESSON).click()
    expect(page.get_by_role("heading", name=contents.page("learn").question)).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_from_a_step_one_click_leads_down_to_what_it_speaks_of(page_at, settle, width: int):
    page = page_at(f"/{STEPS[1].page}?lesson=path&step=2&level=basic", width=width)
    page.emulate_media(reduced_motion="reduce")  # the view is there at once, instead of gliding there
    for number, picture in ((2, "fill_mask_map"), (3, "fill_mask_prediction"), (5, "self_attention_row")):
        step = STEPS[number - 1]
        if number != 2:
            go_by_history(page, f"/{step.page}?lesson=path&step={number}&level=basic")
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        answer(page, step.question, settle)
        page.get_by_role("button", name=texts.SEE_BELOW).click()
        settle(page)
        shown = page.locator(f".st-key-{picture}").first
        expect(shown).to_be_in_viewport()
        header = 56 if width < 640 else 0
        assert header <= shown.bounding_box()["y"] < 700, number


def test_back_leads_to_the_step_before_with_its_answer(page_at, settle):
    page = page_at("/fill_mask?lesson=path&step=2")
    answer(page, STEPS[1].question, settle)
    page.get_by_role("link", name=texts.NEXT_STEP).click()
    expect(page.get_by_role("heading", name=STEPS[2].title, exact=True)).to_be_visible()
    settle(page)
    page.go_back()
    expect(page.get_by_role("heading", name=STEPS[1].title, exact=True)).to_be_visible()
    expect(page.get_by_text(STEPS[1].then)).to_be_visible()


def step_of_kind(kind: str) -> tuple[Question, str]:
    """Find the first question of a kind in the lessons that ship, and the address of its step."""
    return next(
        (step.question, f"/{step.page}?lesson={name}&step={number}")
        for name in lesson.names_in_order()
        for number, step in enumerate(lesson.shipped_lesson(name).steps, 1)
        if step.question.kind == kind
    )


def go_to(page: Page, target: Locator) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(60):
        if target.evaluate(IS_FOCUSED):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} cannot be reached by Tab")


def guess_by_keyboard(page: Page, question: Question) -> None:
    """Make a guess without a pointer."""
    if question.kind in DRAWN:
        go_to(page, page.get_by_role("gridcell").first)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.get_by_role("gridcell").nth(1)).to_have_attribute("aria-selected", "true")
    elif question.kind == "choice":
        go_to(page, page.get_by_role("radiogroup", name=question.ask).get_by_role("radio").first)
        page.keyboard.press("Space")
    else:
        go_to(page, page.get_by_label(question.ask, exact=True))
        page.keyboard.type(GUESSES[question.kind])


@pytest.mark.parametrize("kind", QUESTION_KINDS)
def test_a_question_is_answered_by_keyboard_and_its_verdict_is_said(view_at, settle, axe, kind: str):
    question, address = step_of_kind(kind)
    page = view_at(address)
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_have_attribute("role", "status")
    expect(verdict).to_have_text("")
    axe(page)
    guess_by_keyboard(page, question)
    settle(page)
    go_to(page, page.get_by_role("button", name=texts.CHECK_GUESS))
    page.keyboard.press("Enter")
    if question.answer or kind == "open":
        expect(verdict).not_to_have_text("")
        expect(verdict).to_be_focused()
    settle(page)
    expect(page.get_by_test_id("verdict")).to_be_attached()
    if kind in DRAWN:
        assert texts_of(page, "answer") == [QUESTION["answer"]]
        assert QUESTION["guess"] in page.get_by_role("gridcell").nth(1).get_attribute("aria-label")
    axe(page)


def texts_of(page: Page, mark: str) -> list[str]:
    """Give what the names of the cells with a mark say of it."""
    names = [cell.get_attribute("aria-label") for cell in page.get_by_role("gridcell").all()]
    return [QUESTION[mark] for name in names if QUESTION[mark] in name]


@pytest.mark.parametrize("kind", QUESTION_KINDS)
def test_nothing_of_a_question_is_cut_on_a_phone_or_on_a_laptop_at_200_percent(page_at, settle, resize, kind: str):
    question, address = step_of_kind(kind)
    page = page_at(address, width=640)
    assert page.evaluate(CUT) == []
    resize(page, 390)
    assert page.evaluate(CUT) == []
    answer(page, question, settle)
    assert page.evaluate(CUT) == []
    resize(page, 640)
    assert page.evaluate(CUT) == []


def test_a_head_is_chosen_from_the_list_and_seen_on_the_wall(page_at, settle):
    question, address = step_of_kind("head")
    page = page_at(address)
    go_to(page, page.get_by_role("combobox", name=question.ask))
    page.keyboard.type("2-4")
    page.keyboard.press("Enter")
    settle(page)
    expect(page.get_by_role("gridcell", name="2-4")).to_have_attribute("aria-selected", "true")


def test_a_locked_lesson_shows_its_own_links_only(page_at, settle, axe):
    question, address = step_of_kind("token")
    page = page_at(f"{address}&lock=1")
    expect(page.get_by_test_id("stSidebar")).to_have_count(0, timeout=60_000)
    answer(page, question, settle)
    expect(page.get_by_role("heading", name=contents.page(address[1:].partition("?")[0]).question)).to_be_visible()
    links = page.get_by_test_id("stMain").get_by_role("link").all()
    names = {link.inner_text().split("\n")[-1] for link in links}
    assert names <= {texts.NEXT_STEP, texts.PREVIOUS_STEP, texts.LEAVE_LESSON}
    axe(page)
    page.get_by_role("link", name=texts.LEAVE_LESSON).click()
    expect(page.get_by_role("heading", name=contents.page("learn").question)).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_be_attached()


def test_the_strip_says_what_is_done_and_leads_by_keyboard_to_any_step(page_at, settle):
    page = page_at("/fill_mask?lesson=path&step=1")
    strip = page.get_by_test_id("step-strip").get_by_role("button")
    parts = lesson.parts_of(lesson.shipped_lesson(lesson.LEARNING_PATH))
    expect(strip).to_have_count(len(parts))
    expect(page.locator("[aria-current=step]")).to_have_accessible_name(f"Guess ({texts.STEP_TO_DO})")
    answer(page, STEPS[0].question, settle)
    expect(page.locator("[aria-current=step]")).to_have_accessible_name(f"Guess ({texts.STEP_DONE})")
    strip.nth(3).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/attention\?.*step=4"))
    expect(page.get_by_role("heading", name=STEPS[3].title, exact=True)).to_be_visible()
    expect(page.locator("[aria-current=step]")).to_have_accessible_name(f"{parts[3][0]} ({texts.STEP_TO_DO})")
    page.go_back()
    expect(page.locator("[aria-current=step]")).to_have_accessible_name(f"Guess ({texts.STEP_DONE})")


def test_the_path_is_seven_steps_and_three_questions():
    parts = lesson.parts_of(lesson.shipped_lesson(lesson.LEARNING_PATH))
    assert len(parts) == 8
    assert len(parts[-1][1]) == 3
    assert [number for _, numbers in parts for number in numbers] == list(range(1, len(STEPS) + 1))
    assert all(step.question for step in STEPS)


@pytest.mark.parametrize("level", [BASIC, ADVANCED])
def test_controls_that_a_step_does_not_show_leave_no_gap(page_at, settle, level: str):
    page = page_at(f"/fill_mask?lesson=path&step=2&level={level}", width=390)
    answer(page, STEPS[1].question, settle)
    heading = page.get_by_role("heading", name=WHERE, exact=True)
    expect(heading).to_be_visible()
    assert heading.evaluate(GAP) < 32
    expect(page.get_by_role("button", name=texts.OPTIONS)).to_have_count(0)
