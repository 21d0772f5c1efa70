"""A class: a teacher with a projector and students with phones join, guess, see all guesses beside the model's answer."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from pages.classroom import texts
from pages.classroom.events import EVENTS
from pages.fill_mask.texts import TOP_WORDS
from pages.ui.panels.lesson import shipped_lesson
from pages.ui.shell.address import FOR_CLASS
from pages.ui.shell.texts import LEAVE
from pages.ui.stage.browser_texts import CLASS_LEGEND, CONTROLS
from pages.ui.stage.texts import CLASS_GUESSED
from tests.browser.journeys.test_lesson_editor import choose
from tests.browser.journeys.test_lessons import guess_by_keyboard
from tests.support.seen import answered, fits, main
from tests.support.serving import WITHOUT_MODELS, free_port, running, streamlit_command, wait_until
from tx_core.classroom.lesson_file import pack_lesson
from tx_core.classroom.questions import Question
from tx_core.classroom.room_database import NO_DATABASE
from tx_core.classroom.rooms import ALPHABET, CODE_LETTERS, IS_LOCKED

STEPS = shipped_lesson("path").steps
HALF = texts.COUNT.format(count=1, share="50\u00a0%")


def press(page: Page, name: str) -> None:
    """Press a button, once it can be pressed."""
    one = main(page).get_by_role("button", name=name, exact=True)
    expect(one).to_be_enabled()
    one.press("Enter")


def unfold(page: Page, label: str) -> None:
    """Open a folded box, and wait until what is in it no longer moves: spinners, which turn for ever, stay in their places."""
    page.bring_to_front()  # a page behind another may not move at all
    page.get_by_text(label, exact=True).click()
    moving = "({ effect }) => effect.target?.closest('details') && effect.getComputedTiming().endTime !== Infinity"
    page.wait_for_function(f"() => !document.getAnimations().some({moving})")


def open_room(teacher: Page) -> str:
    """Open a room as a teacher; return its code."""
    press(teacher, texts.OPEN_BUTTON)
    code = main(teacher).get_by_text(re.compile(f"^[{ALPHABET}]{{{CODE_LETTERS}}}$")).first
    expect(code).to_be_visible()
    return code.inner_text().strip()


def join(page_at, code: str, nickname: str = "", **options: object) -> Page:
    """Join a room as a student, by its link."""
    student = page_at(f"/class?room={code}", **options)
    if nickname:
        student.get_by_label(texts.NICKNAME).fill(nickname)
    press(student, texts.JOIN_ROOM.format(code=code))
    expect(student.get_by_role("button", name=texts.SEND)).to_be_visible()
    return student


def guess(student: Page, word: str, question: Question = STEPS[0].question) -> None:
    """Answer a question that asks for a word."""
    student.get_by_label(question.ask).first.fill(word)
    press(student, texts.SEND)
    expect(main(student).get_by_text(texts.YOUR_GUESS.format(guess=word))).to_be_visible()


def own_stage(student: Page) -> None:
    """Wait until the page has run and its own stage stands in the place of the one that was fetched at once."""
    expect(student.locator(".st-key-step_stage")).to_be_attached()
    expect(student.get_by_test_id("stage")).to_have_count(1)


HOLD_RUN = """() => {
  const socket = Object.getPrototypeOf(WebSocket.prototype) // the class notes answers, its parent writes
  const { send } = socket
  const held = []
  socket.send = function (message) { held.push(() => send.call(this, message)) }
  window.release = () => {
    socket.send = send
    for (const one of held) one()
  }
}"""
"""Keeps all that a page would write to its server, such as that it runs again, until it is released."""


def note(page: Page) -> Locator:
    """What a room says to its members."""
    return page.locator(".note[role=status]")


def guesses(page: Page, question: Question = STEPS[0].question) -> dict[str, str]:
    """What everybody sees once the answers are revealed: each guess with its count and share."""
    items = page.get_by_role("list", name=question.ask).get_by_role("listitem")

    # One reading of the whole list, once it is laid out in lines: it is drawn again when the next answer of the room arrives.
    def laid_out() -> list[list[str]]:
        found = [text.split("\n") for text in items.all_inner_texts()]
        return found if all(len(parts) > 1 for parts in found) else []

    found = wait_until(laid_out, 30, "the list of guesses")
    return {parts[0].removeprefix("✓ ").strip(): " ".join(parts[1:]) for parts in found}


def test_a_teacher_and_two_students_play_a_step(arrive, page_at, axe):
    teacher = arrive("/class")
    fits(teacher)
    axe(teacher)
    teacher.get_by_text(texts.NICKNAMES).click()
    code = open_room(teacher)
    assert "teacher=" not in teacher.url  # the secret is not on the projector
    expect(note(teacher)).to_have_text(texts.NOBODY_YET)
    students = [join(page_at, code, "Ada", width=390, dark=True), join(page_at, code, "Grace")]
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=0, students=2))
    guess(students[0], "walked")
    guess(students[0], "went")
    guess(students[1], "<b>ran</b>")
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=2, students=2))
    for page in (teacher, *students):  # nobody is told before
        expect(page.get_by_role("list", name=STEPS[0].question.ask)).to_have_count(0)
    onward = main(teacher).get_by_role("button", name=texts.NEXT)
    place = onward.bounding_box()
    press(teacher, texts.REVEAL)
    expect(main(teacher).get_by_role("button", name=texts.REVEAL)).to_be_disabled()
    assert onward.bounding_box() == place  # a second press at once goes nowhere
    for page in (teacher, *students):
        found = guesses(page)
        assert HALF in found["went"] and HALF in found["<b>ran</b>"]
        inside = page.locator(".rows .bar.model").evaluate_all("all => all.map((bar) => [bar.clientWidth, bar.clientHeight])")
        assert min(min(sizes) for sizes in inside) > 2  # an outline as in the legend, of the smallest share, too
        assert "walked" not in found or texts.COUNT.format(count=0, share="0\u00a0%") in found["walked"]
    fits(students[0])
    for page in (teacher, students[0]):
        answered(page)
        axe(page)
    students[0].reload()
    assert "went" in guesses(students[0])
    unfold(students[1], texts.OWN_SENTENCE)
    students[1].get_by_label(texts.OWN_SENTENCE_LABEL).fill("Yesterday they <b>ran</b> to the [MASK].")
    press(students[1], texts.SEND_SENTENCE)
    expect(students[1].get_by_text(texts.SENTENCE_SENT.partition("{")[0])).to_be_visible()
    unfold(teacher, texts.SENTENCES)
    press(teacher, texts.SHOW)
    for page in (teacher, students[0]):
        expect(page.get_by_text("they <b>ran</b> to the").first).to_be_visible()
    press(teacher, texts.NEXT)
    for page in (teacher, *students):
        expect(page.get_by_role("heading", name=STEPS[1].title, exact=True)).to_be_visible()
    answered(teacher)
    unfold(teacher, texts.MANAGE)
    press(teacher, texts.CLOSE)
    press(teacher, texts.CLOSE_SURE)
    for page in (teacher, *students):
        expect(page.get_by_text(texts.CLOSED).first).to_be_visible()
    students[0].reload()
    expect(students[0].get_by_role("button", name=re.compile("^Join"))).to_have_count(0)


@pytest.mark.ci
def test_a_projector_shows_how_to_come_in_then_the_question_and_is_led_by_keys(page_at):
    teacher = page_at("/class")
    code = open_room(teacher)
    teacher.set_viewport_size({"width": 1920, "height": 1080})
    press(teacher, texts.TO_PROJECTOR)
    teacher.wait_for_url(re.compile("present=1"))
    qr = teacher.get_by_role("img", name=texts.QR_LABEL.format(code=code))
    qr.wait_for()
    wait_until(lambda: (qr.bounding_box() or {"height": 0})["height"] >= 0.6 * 1080, 30, "a code as large as the screen")
    expect(main(teacher).get_by_text(code, exact=True)).to_be_in_viewport(ratio=1)
    expect(teacher.get_by_text(STEPS[0].question.ask)).not_to_be_in_viewport()
    answered(teacher)
    teacher.keyboard.press("PageDown")
    expect(teacher.get_by_text(STEPS[0].question.ask)).to_be_in_viewport()
    assert teacher.evaluate("document.documentElement.scrollWidth <= innerWidth")
    teacher.keyboard.press("r")
    expect(teacher.get_by_test_id("stage")).to_be_visible()
    teacher.keyboard.press("PageUp")
    assert guesses(teacher)
    answered(teacher)
    teacher.evaluate("document.querySelector('main').scrollTo(0, 1e6)")
    for _ in ("to the picture", "to the next step"):
        teacher.keyboard.press("PageDown")
        answered(teacher)
    expect(teacher.get_by_text(STEPS[1].question.ask).first).to_be_visible()
    assert "present=1" in teacher.url
    teacher.get_by_role("button", name=LEAVE, exact=True).click()
    expect(teacher.get_by_role("button", name=texts.TO_PROJECTOR)).to_be_visible()
    assert "present" not in teacher.url


@pytest.mark.ci
def test_a_teacher_with_a_projector_and_two_phones_is_in_charge(page_at):
    teacher, alone = page_at("/class"), texts.COUNT.format(count=1, share="100\u00a0%")
    teacher.get_by_text(texts.ALONE).click()
    code = open_room(teacher)
    student, third = phones = [join(page_at, code, width=390, dark=True), join(page_at, code)]
    for phone in phones:
        expect(phone.get_by_test_id("stSidebar")).to_have_count(0)
    with teacher.context.expect_page() as opened:
        teacher.get_by_role("link", name=texts.PROJECTOR_WINDOW).click()
    projector = opened.value
    projector.set_viewport_size({"width": 1280, "height": 800})
    expect(projector.get_by_text(STEPS[0].question.ask)).to_be_visible()
    assert not {"teacher", code} & set(re.findall(r"[?&](\w+)=", projector.url)) and f"lead={code}" in projector.url
    press(teacher, texts.TIMER)
    teacher.get_by_role("button", name=texts.START_TIMER).click()
    for page in (projector, student):
        expect(page.get_by_role("timer")).to_have_text(re.compile(r"^Time left: [23]:\d\d$"))
    teacher.keyboard.press("Escape")
    for phone, word in zip(phones, ("Italy", "rude"), strict=True):
        guess(phone, word)
    press(teacher, texts.DISCUSS)
    expect(student.get_by_text(texts.YOUR_FIRST_VOTE.format(guess="Italy"))).to_be_visible()
    expect(student.get_by_role("list", name=STEPS[0].question.ask)).to_have_count(0)
    for phone, word in zip(phones, ("France", "rude"), strict=True):
        guess(phone, word)
    expect(note(projector)).to_have_text(texts.ANSWERED_AGAIN.format(answered=2, students=2))
    unfold(teacher, texts.WRITTEN)
    row = teacher.get_by_test_id("stHorizontalBlock").filter(has_text=texts.WRITTEN_COUNT.format(text="rude", count=1)).last
    row.get_by_role("button", name=texts.HIDE_WORD, exact=True).press("Enter")
    expect(row.get_by_role("button", name=texts.SHOW_WORD, exact=True)).to_be_visible()
    press(teacher, texts.REVEAL)
    stage, summary = projector.get_by_test_id("stage"), projector.locator(".below-picture")
    expect(stage.get_by_text("paris", exact=True).filter(visible=True)).to_be_in_viewport(ratio=1)
    expect(summary).to_contain_text("“france”")
    boxes = [part.bounding_box() for part in (stage, summary)]
    assert [box["width"] for box in boxes] == [1280, 1280] and sum(box["height"] for box in boxes) == pytest.approx(800, abs=2)
    assert boxes[0]["height"] > 700 and stage.evaluate("node => node.scrollHeight <= node.clientHeight")
    projector.keyboard.press("PageUp")
    for page in (teacher, projector, student):
        expect(page.get_by_text(f"{texts.SECOND_VOTE}: ").first).to_be_attached()
        assert {word: alone in said for word, said in guesses(page).items()} == {"france": True, "italy": True}
    projector.get_by_role("button", name=texts.LIVE_TEXTS["cloud"], exact=True).click()
    expect(projector.locator(".rows.cloud .label")).to_have_text(["✓ france"])
    press(teacher, texts.HIDE_AGAIN)
    for page in (projector, *phones):
        expect(page.get_by_text(f"{texts.SECOND_VOTE}: ")).to_have_count(0)
    teacher.get_by_text(texts.LOCK, exact=True).click()
    unfold(teacher, texts.MANAGE)
    choose(teacher, texts.WHO, texts.MEMBER.format(number=2, guesses=1))
    press(teacher, texts.REMOVE)
    expect(third.get_by_text(texts.REMOVED)).to_be_visible()
    press(third, texts.JOIN_ROOM.format(code=code))
    expect(third.get_by_text(IS_LOCKED)).to_be_visible()
    teacher.get_by_text(texts.OWN, exact=True).click()
    press(student, texts.NEXT)
    expect(student.get_by_role("heading", name=STEPS[1].title, exact=True)).to_be_visible()
    guess_by_keyboard(student, STEPS[1].question)
    press(student, texts.SEND)
    expect(student.get_by_test_id("stage")).to_be_visible()  # at their own pace, they are told at once


@pytest.mark.ci
def test_the_code_brings_the_same_student_back_a_link_without_the_secret_leads_to_no_room_and_without_events_it_is_asked_for(
    page_at, axe
):
    teacher = page_at("/class")
    code = open_room(teacher)
    student = page_at("/class", width=390)
    for _ in range(2):
        student.get_by_label(texts.CODE).fill(code.lower())
        student.get_by_role("button", name=texts.JOIN_BUTTON, exact=True).click()
        expect(student.get_by_role("heading", name=STEPS[0].title, exact=True)).to_be_visible()
        expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=0, students=1))
        answered(student)  # by now the browser keeps who it is
        student.goto(student.url.partition("?")[0])
    student.get_by_role("button", name=texts.BACK.format(code=code)).click()
    expect(student.get_by_role("heading", name=STEPS[0].title, exact=True)).to_be_visible()
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=0, students=1))
    answered(teacher)
    unfold(teacher, texts.MANAGE)
    secret = teacher.get_by_text(re.compile(r"/class\?teacher=")).inner_text().replace("\n", "")
    teacher.reload()
    expect(main(teacher).get_by_text(code, exact=True).first).to_be_visible()
    teacher.goto(secret)
    expect(main(teacher).get_by_text(code, exact=True).first).to_be_visible()
    assert "teacher=" not in teacher.url
    stranger = page_at(f"/class?lead={code}", expect=("Failed to load resource",))
    expect(stranger.get_by_role("link", name=texts.TO_ENTRANCE)).to_be_visible()
    axe(stranger)
    stranger.route(re.compile(EVENTS), lambda route: route.abort())
    stranger.goto(stranger.url.replace("lead=", "room="))
    press(stranger, texts.JOIN_ROOM.format(code=code))
    expect(stranger.get_by_text(texts.LIVE_TEXTS["slow"])).to_be_visible()
    press(teacher, texts.REVEAL)
    assert "france" in guesses(stranger)


@pytest.mark.ci
def test_phones_and_teacher_see_the_stage_of_a_step_with_the_guesses_in_it_and_look_without_the_server(page_at, axe):
    asks_word = shipped_lesson("masks-and-order").steps[0]
    lesson = shipped_lesson("path").model_copy(update={"steps": (asks_word, STEPS[-1])})  # a head of the wall
    teacher = page_at(f"/class?level=advanced&{FOR_CLASS}={pack_lesson(lesson)}")
    code = open_room(teacher)
    view, student = join(page_at, code, width=390, dark=True), join(page_at, code)
    guess(view, "Lima", asks_word.question)
    guess(student, "far", asks_word.question)
    expect(view.get_by_test_id("stage")).to_have_count(0)
    view.evaluate(HOLD_RUN)
    press(teacher, texts.REVEAL)
    expect(view.locator(".live").get_by_test_id("stage")).to_be_visible()
    expect(view.locator(".st-key-step_stage")).to_have_count(0)
    expect(main(view).get_by_text(texts.CHANGEABLE)).to_be_hidden()
    view.evaluate("release()")
    own_stage(view)
    listed_words = view.get_by_role("list", name=TOP_WORDS).get_by_role("listitem")
    expect(listed_words.filter(has_text="lima")).to_contain_text(CLASS_GUESSED.format(said=HALF))
    expect(view.get_by_text(re.compile("“far”")).first).to_be_visible()
    answered(view)
    unfold(teacher, texts.WRITTEN)
    expect(teacher.get_by_text("far (1)")).to_be_visible()
    written = teacher.get_by_text(re.compile(r"^\w+ \(1\)$")).all_inner_texts()
    teacher.get_by_role("button", name=texts.HIDE_WORD, exact=True).nth(written.index("far (1)")).click()
    expect(view.get_by_text(re.compile("“far”"))).to_have_count(0)
    answered(view)
    fits(view)
    axe(view)
    step, alone = lesson.steps[1], texts.COUNT.format(count=1, share="100 %")
    press(teacher, texts.NEXT)
    for page in (view, student):
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        answered(page)
    guess_by_keyboard(student, step.question)
    answered(student)
    press(student, texts.SEND)
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=1, students=2))
    view.evaluate(HOLD_RUN)
    press(teacher, texts.REVEAL)
    view.locator(".live").get_by_role("button", name=re.compile("^Switch off")).click()  # which the page's own stage does
    view.evaluate("release()")
    own_stage(view)
    expect(view.get_by_role("button", name=re.compile("^Undo: Layer"))).to_have_count(1)
    expect(teacher.get_by_role("gridcell", name=re.compile(re.escape(CLASS_GUESSED.format(said=alone))))).to_have_count(1)
    expect(teacher.get_by_text(CLASS_LEGEND).filter(visible=True).first).to_be_visible()
    answered(view)
    view.route("**", lambda route: route.abort())
    view.get_by_label(CONTROLS["head"], exact=True).select_option("0")
    expect(view.get_by_role("status").filter(has_text=re.compile(r"Layer \d, head 1\b"))).to_be_visible()
    assert view.url.endswith(f"?room={code}")


@pytest.mark.ci
def test_what_is_half_typed_survives_a_reload_a_teacher_who_goes_on_and_a_server_that_dies(browser: Browser, tmp_path: Path):
    url, log = f"http://127.0.0.1:{(port := free_port())}", tmp_path / "log.txt"
    with browser.new_context(base_url=url) as one, browser.new_context(base_url=url) as other:
        teacher, student = one.new_page(), other.new_page()
        box = student.get_by_label(STEPS[0].question.ask).first
        with running(streamlit_command(port), f"{url}/_stcore/health", log, **WITHOUT_MODELS) as server:
            teacher.goto("/class")
            student.goto(f"/class?room={open_room(teacher)}")
            student.get_by_role("button", name=re.compile("^Join room")).click()
            box.press_sequentially("wander")
            student.reload()
            expect(box).to_have_value("wander")
            box.evaluate("box => { box.dataset.old = '' }")
            server.kill()
        with running(streamlit_command(port), f"{url}/_stcore/health", log, **WITHOUT_MODELS):
            expect(box).not_to_have_attribute("data-old", "")  # the page has found the new server by itself
            expect(box).to_have_value("wander")
            press(teacher, texts.NEXT)
            onward = student.get_by_role("button", name=texts.LIVE_TEXTS["go"].format(step=2))
            expect(onward).to_be_visible()
            expect(box).to_have_value("wander")
            onward.press("Enter")
            expect(student.get_by_role("heading", name=STEPS[1].title, exact=True)).to_be_visible()


@pytest.mark.ci
def test_a_student_whose_answer_met_an_outage_gets_the_form_back_by_itself_with_what_was_typed(browser: Browser, tmp_path: Path):
    url, log, kept = f"http://127.0.0.1:{(port := free_port())}", tmp_path / "log.txt", tmp_path / "log.sqlite"
    with (
        browser.new_context(base_url=url) as context,
        running(streamlit_command(port), f"{url}/_stcore/health", log, **WITHOUT_MODELS),
    ):
        teacher, student = context.new_page(), context.new_page()
        teacher.goto("/class")
        student.goto(f"/class?room={open_room(teacher)}")
        student.get_by_role("button", name=re.compile("^Join room")).click()
        box = student.get_by_label(STEPS[0].question.ask).first
        box.fill("wander")
        away = kept.rename(tmp_path / "away.sqlite")
        student.get_by_role("button", name=texts.SEND, exact=True).click()
        expect(student.get_by_text(NO_DATABASE)).to_be_visible()
        away.rename(kept)
        expect(student.get_by_text(NO_DATABASE)).to_have_count(0)
        expect(box).to_have_value("wander")
        student.get_by_role("button", name=texts.SEND, exact=True).click()
        expect(student.get_by_text(texts.YOUR_GUESS.format(guess="wander"))).to_be_visible()
