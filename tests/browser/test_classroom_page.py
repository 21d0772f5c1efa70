"""A room from its opening to its deletion: one teacher and two students, each in a browser of their own."""

import math
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from pages import contents
from pages.classroom import texts
from pages.classroom.events import EVENTS
from pages.classroom.results import sentence_of
from pages.fill_mask.texts import GUESSED_BESIDES, TOP_WORDS
from pages.ui.canvas.texts import BARS, CLASS_GUESSED, CLASS_LEGEND, UNLISTED_GUESS
from pages.ui.panels.lesson import FOR_CLASS, names_in_order, shipped_lesson
from pages.ui.shell.level import ADVANCED, LEVEL
from pages.ui.shell.texts import BACK_TO_CLASS
from tests.browser.test_presenter_view import LEAST_SHARE, SCREENS, SMALLEST_TEXT
from tests.support.serving import wait_until
from tx_core.classroom.lesson_file import Lesson, pack_lesson
from tx_core.classroom.questions import QUESTION_KINDS
from tx_core.classroom.rooms import ALPHABET, CODE_LETTERS

STEPS = shipped_lesson("path").steps
FAST = 60_000
TEXT_SIZE = "one => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom"
"""The size of a text on the screen."""


def unfold(page: Page, label: str) -> None:
    """Open a folded box, and wait until what is in it no longer moves: a click meanwhile misses it."""
    page.get_by_text(label, exact=True).click()
    page.wait_for_function("() => !document.getAnimations().some(({ effect }) => effect.target?.closest('details'))")


def open_room(page_at, nickname: bool = False) -> tuple[Page, str]:
    """Open a room as a teacher; give the page and the code."""
    teacher = page_at("/class")
    if nickname:
        teacher.get_by_text(texts.NICKNAMES).click()
    teacher.get_by_role("button", name=texts.OPEN_BUTTON).click()
    code = teacher.get_by_test_id("stMetricValue")
    expect(code).to_have_text(re.compile(f"^[{ALPHABET}]{{{CODE_LETTERS}}}$"), timeout=FAST)
    return teacher, code.inner_text().strip()


def join(page_at, code: str, nickname: str = "", **options) -> Page:
    """Join a room as a student, by its link."""
    student = page_at(f"/class?room={code}", **options)
    if nickname:
        student.get_by_label(texts.NICKNAME).fill(nickname)
    student.get_by_role("button", name=texts.JOIN_ROOM.format(code=code)).click()
    expect(student.get_by_role("heading", name=STEPS[0].title, exact=True)).to_be_visible(timeout=FAST)
    return student


def answer_box(student: Page):
    """The box in which the first step asks for a word."""
    return student.get_by_test_id("stForm").get_by_role("textbox").first


def guess(student: Page, word: str) -> None:
    """Answer the first step, which asks for a word."""
    answer_box(student).fill(word)
    student.get_by_role("button", name=texts.SEND).click()
    expect(student.get_by_test_id("stMain").get_by_text(texts.YOUR_GUESS.format(guess=word))).to_be_visible(timeout=FAST)


def note(page: Page):
    """What a room says to its members."""
    return page.get_by_role("status").filter(has_text=re.compile(r"\w"))


def rows(page: Page) -> dict[str, str]:
    """What everybody sees once the answers are revealed: each guess with its count and share."""
    items = page.get_by_role("list", name=STEPS[0].question.ask).get_by_role("listitem")
    expect(items.first).to_be_visible(timeout=FAST)
    found = [item.inner_text().split("\n") for item in items.all()]
    return {parts[0].removeprefix("✓ ").strip(): " ".join(parts[1:]) for parts in found}


def test_a_room_is_played_from_its_opening_to_its_deletion(page_at, axe, settle, tmp_path: Path):
    teacher, code = open_room(page_at, nickname=True)
    assert "teacher=" not in teacher.url  # the secret is not on the projector
    expect(note(teacher)).to_have_text(texts.NOBODY_YET)
    students = [join(page_at, code, "Ada", width=390, dark=True), join(page_at, code, "Grace")]
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=0, students=2), timeout=FAST)
    axe(students[0])
    guess(students[0], "walked")
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=1, students=2), timeout=FAST)
    guess(students[0], "went")
    guess(students[1], "ran")
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=2, students=2), timeout=FAST)
    for page in (teacher, *students):  # nobody is told before
        expect(page.get_by_role("list", name=STEPS[0].question.ask)).to_have_count(0)
    axe(teacher)

    teacher.get_by_role("button", name=texts.REVEAL).click()
    for page in (teacher, *students):
        found = rows(page)
        assert texts.COUNT.format(count=1, share="50\u00a0%") in found["went"]
        assert texts.COUNT.format(count=1, share="50\u00a0%") in found["ran"]
        assert "walked" not in found or texts.COUNT.format(count=0, share="0\u00a0%") in found["walked"]
    expect(students[0].get_by_role("button", name=texts.SEND)).to_have_count(0, timeout=FAST)
    assert students[0].evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for page in (teacher, students[0]):
        settle(page)
        axe(page)

    students[0].reload()
    assert "went" in rows(students[0])
    expect(students[0].get_by_test_id("stMain").get_by_text(texts.YOUR_LAST_GUESS.format(guess="went"))).to_be_visible()

    unfold(students[1], texts.OWN_SENTENCE)
    students[1].get_by_label(texts.OWN_SENTENCE_LABEL).fill("Yesterday they <b>ran</b> to the [MASK].")
    students[1].get_by_role("button", name=texts.SEND_SENTENCE).click()
    expect(students[1].get_by_text(texts.SENTENCE_SENT.partition("{")[0])).to_be_visible(timeout=FAST)
    unfold(teacher, texts.SENTENCES)
    teacher.get_by_role("button", name=texts.REFRESH).click()
    teacher.get_by_role("button", name=texts.SHOW).click()
    for page in (teacher, students[0]):
        expect(page.locator(".live .shown")).to_contain_text("they <b>ran</b> to the", timeout=FAST)

    teacher.get_by_role("button", name=texts.NEXT).click()
    for page in (teacher, *students):
        expect(page.get_by_role("heading", name=STEPS[1].title, exact=True)).to_be_visible(timeout=FAST)

    settle(teacher)
    unfold(teacher, texts.MANAGE)
    with teacher.expect_download() as saved:
        teacher.get_by_role("button", name=texts.EXPORT).click()
    written = Path(saved.value.path()).read_text("utf-8-sig")
    assert [line.split(",")[:3] for line in written.splitlines()[1:]] == [["1", "Ada", "1"], ["2", "Grace", "1"]]
    teacher.get_by_role("button", name=texts.CLOSE).click()
    teacher.get_by_role("button", name=texts.CLOSE_SURE).click()
    for page in (teacher, *students):
        expect(page.get_by_text(texts.CLOSED).first).to_be_visible(timeout=FAST)
    students[0].reload()
    expect(students[0].get_by_role("button", name=re.compile("^Join"))).to_have_count(0)


def test_the_count_stays_when_the_room_is_drawn_again_in_other_colours(page_at, darken):
    teacher, code = open_room(page_at)
    join(page_at, code)
    joined = texts.ANSWERED.format(answered=0, students=1)
    expect(note(teacher)).to_have_text(joined, timeout=FAST)
    darken(teacher)
    expect(teacher.locator(".live.dark")).to_have_count(1, timeout=FAST)
    expect(note(teacher)).to_have_text(joined)


def test_the_view_of_a_step_opens_after_the_answers_and_leads_back(page_at, settle, axe):
    teacher, code = open_room(page_at)
    student = join(page_at, code)
    expect(student.get_by_role("link", name=texts.OPEN_VIEW)).to_have_count(0)
    teacher.get_by_role("button", name=texts.REVEAL).click()
    student.get_by_role("link", name=texts.OPEN_VIEW).click(timeout=FAST)
    student.wait_for_url(re.compile(STEPS[0].page))
    said = student.get_by_text(texts.CLASS_SAID.format(number=1, title=STEPS[0].title))
    expect(said).to_be_visible(timeout=FAST)
    assert "went" in rows(student)
    axe(student)
    student.get_by_test_id("stSidebar").get_by_role("link", name=contents.page("masks").name, exact=True).click()
    expect(student.get_by_role("heading", name=contents.page("masks").question)).to_be_visible(timeout=FAST)
    settle(student)
    expect(said).to_have_count(0)
    student.get_by_test_id("stSidebar").get_by_role("link", name=BACK_TO_CLASS.format(number=1)).click(timeout=FAST)
    expect(student.get_by_test_id("stMain").get_by_text(texts.NO_GUESS_OF_YOURS)).to_be_visible(timeout=FAST)


def ask_room(teacher: Page, student: Page, cell: str) -> None:
    """Let a student guess a cell, then reveal the answers and open the view as its teacher."""
    student.get_by_role("gridcell", name=cell, exact=True).click(timeout=FAST)
    student.get_by_role("button", name=texts.SEND).click()
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=1, students=1), timeout=FAST)
    press(teacher, texts.REVEAL)
    teacher.get_by_role("link", name=texts.OPEN_VIEW).click(timeout=FAST)
    teacher.wait_for_url(re.compile("fill_mask"))


def test_the_guesses_of_a_class_stand_in_the_pictures_of_the_view(page_at, settle, axe):
    asked = (STEPS[1], STEPS[-1])  # about a token of the map, then about a head of the wall
    lesson = shipped_lesson("path").model_copy(update={"steps": asked})
    teacher = page_at(f"/class?{LEVEL}={ADVANCED}&{FOR_CLASS}={pack_lesson(lesson)}")
    press(teacher, texts.OPEN_BUTTON)
    code = teacher.get_by_test_id("stMetricValue")
    expect(code).to_have_text(re.compile(r"^[A-Z]{6}$"), timeout=FAST)
    student = page_at(f"/class?room={code.inner_text().strip()}")
    student.get_by_role("button", name=texts.JOIN_ROOM.partition("{")[0]).click()
    ask_room(teacher, student, "school")
    settle(teacher)
    switch = teacher.locator(".st-key-level").bounding_box()
    assert teacher.locator(".st-key-class_results").bounding_box()["y"] >= switch["y"] + switch["height"]
    parts = teacher.locator(".st-key-class_results .columns .part")
    lines = parts.evaluate_all("parts => parts.map((part) => part.getClientRects().length)")
    assert len(lines) >= 2 and set(lines) == {1}  # the sign of a share stays with its number
    drawn = teacher.get_by_test_id("attention-map")
    expect(drawn).to_have_attribute("data-guesses", "1")
    expect(drawn.get_by_text(CLASS_LEGEND)).to_be_visible()
    said = CLASS_GUESSED.format(said=texts.COUNT.format(count=1, share="100\u00a0%"))
    expect(drawn.get_by_role("listitem").filter(has_text="school")).to_contain_text(said)
    axe(teacher)
    teacher.get_by_test_id("head-wall").get_by_role("gridcell").first.click()
    expect(drawn).to_have_attribute("data-guesses", "0")
    expect(drawn.get_by_text(CLASS_LEGEND)).to_be_hidden()
    settle(teacher)
    teacher.get_by_test_id("stSidebar").get_by_role("link", name=BACK_TO_CLASS.format(number=1)).click()
    press(teacher, texts.NEXT)
    ask_room(teacher, student, "2-3")
    settle(teacher)
    guessed = teacher.get_by_test_id("head-wall").get_by_role("gridcell").filter(has=teacher.locator(".guessed"))
    expect(guessed).to_have_count(1)
    expect(guessed).to_have_attribute("aria-label", re.compile(f"2.*3.*{said}"))


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_guesses_of_a_class_stand_in_the_list_of_words_of_the_view(page_at, settle, axe, width: int, dark: bool):
    teacher, code = open_room(page_at)
    students = [join(page_at, code, width=width, dark=dark), join(page_at, code)]
    guess(students[0], "Went")
    guess(students[1], "wandered")
    teacher.get_by_role("button", name=texts.REVEAL).click()
    view = students[0]
    view.get_by_role("link", name=texts.OPEN_VIEW).click(timeout=FAST)
    view.wait_for_url(re.compile(STEPS[0].page))
    half = texts.COUNT.format(count=1, share="50\u00a0%")
    listed = view.get_by_role("list", name=TOP_WORDS).get_by_role("listitem")
    expect(listed.filter(has_text="went")).to_contain_text(CLASS_GUESSED.format(said=half), timeout=FAST)
    expect(listed.filter(has_text=half)).to_have_count(1)
    expect(view.get_by_text(BARS["classLegend"], exact=True)).to_be_visible()
    said = GUESSED_BESIDES.format(words=UNLISTED_GUESS.format(word="wandered", said=half))
    expect(view.get_by_text(said, exact=True)).to_be_visible()
    settle(view)
    row = listed.filter(has_text=half)
    row.evaluate("row => Promise.allSettled(row.getAnimations({ subtree: true }).map((one) => one.finished)).then(() => null)")
    model, crowd = row.locator(".bar.after").bounding_box(), row.locator(".bar.class").bounding_box()
    assert crowd["y"] >= model["y"] + model["height"]
    axis = crowd["width"] / 0.5  # both are on one axis, which ends at 100 %
    found = float(row.locator(".plot .number").inner_text().removesuffix("\u00a0%")) / 100
    assert model["width"] == pytest.approx(found * axis, abs=1.5)
    expect(view.locator(".st-key-class_results details")).not_to_have_attribute("open", "")
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    axe(view)


def test_what_a_student_types_is_not_lost_when_the_teacher_goes_on(page_at, settle):
    teacher, code = open_room(page_at)
    student = join(page_at, code)
    box = answer_box(student)
    box.click()
    student.keyboard.type("wandered")
    teacher.get_by_role("button", name=texts.NEXT).click()
    onward = student.get_by_role("button", name=texts.LIVE_TEXTS["go"].format(step=2))
    expect(onward).to_be_visible(timeout=FAST)
    expect(box).to_have_value("wandered")
    onward.press("Enter")
    expect(student.get_by_role("heading", name=STEPS[1].title, exact=True)).to_be_visible(timeout=FAST)


def test_what_stands_open_in_a_room_stays_open_when_the_answers_are_revealed(page_at):
    teacher, code = open_room(page_at)
    student = join(page_at, code)
    unfold(student, texts.OWN_SENTENCE)
    unfold(teacher, texts.SENTENCES)
    student.get_by_label(texts.OWN_SENTENCE_LABEL).fill("Half a sent")
    press(teacher, texts.REVEAL)
    for page in (student, teacher):
        expect(page.get_by_role("link", name=texts.OPEN_VIEW)).to_be_visible(timeout=FAST)
    expect(student.get_by_label(texts.OWN_SENTENCE_LABEL)).to_be_visible()
    expect(student.get_by_label(texts.OWN_SENTENCE_LABEL)).to_have_value("Half a sent")
    expect(teacher.get_by_role("button", name=texts.REFRESH)).to_be_visible()


def test_where_events_are_blocked_the_room_is_asked_every_few_seconds(page_at):
    teacher, code = open_room(page_at)
    student = page_at(f"/class?room={code}", expect=("Failed to load resource",))
    student.route(re.compile(EVENTS), lambda route: route.abort())
    student.get_by_role("button", name=texts.JOIN_ROOM.format(code=code)).click()
    expect(student.get_by_text(texts.LIVE_TEXTS["slow"])).to_be_visible(timeout=60_000)
    teacher.get_by_role("button", name=texts.REVEAL).click()
    assert "went" in rows(student)


def lesson_of_all_kinds() -> Lesson:
    """A lesson with one question of each kind, taken from those that ship."""
    asked = [step for name in names_in_order() for step in shipped_lesson(name).steps if step.question]
    steps = tuple(next(step for step in asked if step.question.kind == kind) for kind in QUESTION_KINDS)
    assert steps[0].title == STEPS[0].title
    return shipped_lesson("path").model_copy(update={"steps": steps})


def press(page: Page, name: str) -> None:
    """Press a button by keyboard."""
    button = page.get_by_role("button", name=name, exact=True)
    expect(button).to_be_enabled(timeout=FAST)
    button.press("Enter")


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_a_projector_shows_first_how_students_come_in(page_at, width: int, height: int):
    teacher, letters = open_room(page_at)
    teacher.set_viewport_size({"width": width, "height": height})
    press(teacher, texts.TO_PROJECTOR)
    teacher.wait_for_url(re.compile("present=1"))
    teacher.locator(f"html[data-fitted='st-key-classroom_qr {width} {height}']").wait_for(state="attached", timeout=60_000)
    picture = teacher.locator("[data-staged]")
    expect(picture.get_by_text(letters, exact=True)).to_be_visible()
    expect(picture.get_by_text(f"/class?room={letters}")).to_be_visible()
    expect(teacher.get_by_text(STEPS[0].question.ask)).to_be_hidden()
    code = picture.get_by_role("img", name=texts.QR_LABEL.format(code=letters)).bounding_box()
    assert code["height"] >= LEAST_SHARE * height
    assert code["y"] >= 0 and code["y"] + code["height"] <= height
    assert teacher.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    sizes = picture.evaluate(
        "one => [...one.querySelectorAll('*')].flatMap(host => [...(host.shadowRoot?.querySelectorAll('p') ?? [])])"
        ".map(text => parseFloat(getComputedStyle(text).fontSize) * text.currentCSSZoom)"
    )
    assert len(sizes) == 2 and min(sizes) >= 2 * SMALLEST_TEXT * height / 1080
    teacher.keyboard.press("ArrowDown")
    expect(teacher.get_by_text(STEPS[0].question.ask)).to_be_visible()
    expect(note(teacher)).to_have_text(texts.NOBODY_YET)


def test_a_projector_shows_a_question_without_the_marks_of_the_glossary(page_at):
    lesson = shipped_lesson("path").model_copy(update={"steps": (STEPS[2],)})  # it asks about a layer and a head
    teacher = page_at(f"/class?{FOR_CLASS}={pack_lesson(lesson)}")
    press(teacher, texts.OPEN_BUTTON)
    marks = teacher.locator(".st-key-classroom_for_the_room button.term")
    expect(marks.first).to_be_visible(timeout=FAST)
    code = teacher.get_by_test_id("stMetricValue").inner_text().strip()
    joined = page_at(f"/class?room={code}")
    joined.get_by_role("button", name=texts.JOIN_ROOM.format(code=code)).click()
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=0, students=1), timeout=FAST)
    teacher.keyboard.press("p")
    teacher.locator("html[data-fitted^='st-key-classroom_live']").wait_for(state="attached", timeout=60_000)
    expect(teacher.get_by_text(STEPS[2].question.ask)).to_be_visible()
    for mark in marks.all():
        expect(mark).to_be_hidden()


def bottom(shown: Locator) -> float:
    box = shown.bounding_box()
    return box["y"] + box["height"] if box else math.inf


def test_a_room_is_shown_on_a_projector_and_led_by_keys(page_at, settle):
    lesson = lesson_of_all_kinds()
    teacher = page_at(f"/class?{FOR_CLASS}={pack_lesson(lesson)}")
    press(teacher, texts.OPEN_BUTTON)
    code = teacher.get_by_test_id("stMetricValue")
    expect(code).to_have_text(re.compile(r"^[A-Z]{6}$"), timeout=FAST)
    letters = code.inner_text().strip()
    student = join(page_at, letters)
    guess(student, "walked")
    teacher.set_viewport_size({"width": 1920, "height": 1080})
    teacher.get_by_test_id("stMain").press("p")
    fitted = teacher.locator("html[data-fitted='st-key-classroom_live 1920 1080']")
    fitted.wait_for(state="attached", timeout=60_000)
    expect(teacher.get_by_text(lesson.steps[0].question.ask)).to_be_visible()
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=1, students=1))
    for width, height in reversed(SCREENS):
        teacher.set_viewport_size({"width": width, "height": height})
        teacher.locator(f"html[data-fitted='st-key-classroom_live {width} {height}']").wait_for(state="attached", timeout=60_000)
        asked = teacher.locator("[data-staged]").bounding_box()
        assert asked["height"] >= LEAST_SHARE * height and asked["y"] + asked["height"] <= height
    expect(teacher.locator("[data-staged] .meter")).to_be_hidden()
    question, count = (teacher.locator(f"[data-staged] {part}").evaluate(TEXT_SIZE) for part in (".ask", ".note"))
    assert question >= 2 * SMALLEST_TEXT and SMALLEST_TEXT <= count < question / 2  # how many have answered is a quiet line
    expect(teacher.locator("[data-staged]").get_by_text(sentence_of(lesson.steps[0]))).to_be_visible()
    teacher.keyboard.press("ArrowDown")
    expect(teacher.locator("[data-staged] .code")).to_have_text(letters)
    teacher.locator("html[data-fitted='st-key-classroom_qr 1920 1080']").wait_for(state="attached", timeout=60_000)
    assert teacher.locator("[data-staged]").bounding_box()["height"] >= 0.7 * 1080
    teacher.keyboard.press("ArrowUp")
    teacher.evaluate("() => document.addEventListener('keydown', ({ key }) => (window.lastKey = key))")
    teacher.keyboard.press("r")
    assert teacher.evaluate("window.lastKey") is None  # Streamlit, which listens there, too, would run the page again
    assert "walked" in rows(teacher) and "walked" in rows(student)
    fitted.wait_for(state="attached", timeout=60_000)
    teacher.wait_for_function("() => document.querySelector('[data-staged]').getBoundingClientRect().height >= 0.7 * innerHeight")
    last = teacher.locator("[data-staged]").get_by_role("listitem").last
    wait_until(lambda: bottom(last) <= 1080, 120, "all that was guessed in sight")
    teacher.keyboard.press("ArrowRight")
    for page in (teacher, student):
        expect(page.get_by_text(lesson.steps[1].question.ask).first).to_be_visible(timeout=FAST)
    assert "present=1" in teacher.url
