"""A teacher makes a lesson from views of two pages, saves, opens and shares it; and loses nothing of it by a reload."""

import re

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from pages import contents
from pages.lesson_editor import texts
from pages.ui.panels.lesson import LEARNING_PATH, shipped_lesson
from pages.ui.panels.question_kinds import QUESTION_VIEWS
from pages.ui.panels.texts import END_LESSON, HIDDEN_UNTIL_ANSWERED
from pages.ui.shell.texts import ADD_AND_WRITE, CANNOT_BE_SHOWN, WRITE_LESSON
from pages.ui.stage import browser_texts
from tests.browser.journeys.test_lessons import guess
from tests.support.seen import answered, fits, listed, main, saved
from tx_core.classroom.lesson_file import read_lesson, write_lesson

MARKUP = "**bold** <b>tag</b> $x$ [link](http://example.org) `code`"
TRIES = 10
PLACED = """([title, label]) => {
  const named = [...document.querySelectorAll('input')].filter((one) => one.value === title)
  return named.length === 1 && named[0].getAttribute('aria-label') === label
}"""
"""Whether a title stands in one box only, and that box has this name."""


def add_view_of_stage(page: Page, count: int) -> None:
    """Add the view of a stage, as it is looked at, to the lesson."""
    page.get_by_role("button", name=browser_texts.EXPORT["menu"], exact=True).click()
    page.get_by_role("button", name=browser_texts.EXPORT["addToLesson"]).click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name=WRITE_LESSON.format(count=count))).to_be_visible()
    answered(page)


def box_of(page: Page, label: str):
    """The box of a label; that of the draft before may stand beside it for a moment."""
    return page.locator('[data-testid="stElementContainer"][data-stale="false"]').get_by_label(label, exact=True)


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list."""
    box, found = box_of(page, label), page.get_by_role("option", name=option, exact=True)
    for _ in range(TRIES):  # a list closes when the page answers something that was clicked before
        answered(page)
        box.fill("")
        box.fill(option)
        try:
            found.click(timeout=1500)
            break
        except TimeoutError:
            continue
    expect(box).to_have_value(option)
    answered(page)


def open_step(page: Page, number: int) -> None:
    """Choose a step from the list."""
    page.get_by_role("radio", name=re.compile(rf"^{number}\.")).check(force=True)
    expect(box_of(page, texts.STEP_TITLE.format(number=number))).to_be_visible()
    answered(page)


def write(page: Page, label: str, text: str) -> None:
    """Write into a box, and leave it."""
    box_of(page, label).fill(text)
    box_of(page, label).press("Tab")
    answered(page)


def put_file(page: Page, written: bytes) -> None:
    """Open a lesson from a file."""
    page.locator("input[type=file]").set_input_files({"name": "x.yaml", "mimeType": "text/yaml", "buffer": written})


def test_a_lesson_is_made_from_two_pages_saved_opened_shared_and_played(page_at, axe, server: str):
    page = page_at("/attention?text=Mary+lost+her+keys.&heads=2-7&focus=4")
    page.get_by_role("gridcell", name="Layer 2, head 8", exact=True).click()
    add_view_of_stage(page, 1)
    listed(page, contents.page("fill_mask").name).click()
    expect(page.get_by_role("heading", name=contents.page("fill_mask").question)).to_be_visible()
    answered(page)
    page.get_by_test_id("stage").get_by_label(browser_texts.CONTROLS["head"], exact=True).select_option("2")
    page.wait_for_url(re.compile(r"heads=\d-3"))
    answered(page)
    page.get_by_role("button", name=ADD_AND_WRITE).click()  # one click adds what is seen, and leads back
    expect(page.get_by_role("heading", name=contents.page("lesson_editor").question)).to_be_visible()
    open_step(page, 2)
    write(page, texts.STEP_TITLE.format(number=2), "A blank")
    write(page, texts.STEP_TEXT.format(number=2), "Fill it.")
    expect(box_of(page, texts.STEP_TEXT.format(number=2))).to_have_value("Fill it.")
    page.get_by_role("button", name=texts.UP, exact=True).click()
    page.wait_for_function(PLACED, arg=["A blank", texts.STEP_TITLE.format(number=1)])
    choose(page, texts.KIND.format(number=1), texts.KINDS["word"])
    expect(box_of(page, texts.ASK.format(number=1))).to_have_value(QUESTION_VIEWS["word"].first_ask)
    write(page, texts.STEP_TEXT.format(number=1), MARKUP)
    open_step(page, 2)
    expect(page.get_by_test_id("stage").get_by_label(browser_texts.CONTROLS["head"], exact=True)).to_have_value("7")
    choose(page, texts.KIND.format(number=2), texts.KINDS["token"])
    choose(page, texts.MEASURE_BOXES["query"].format(number=2), "her")
    write(page, texts.TITLE, MARKUP)
    fits(page)
    axe(page)
    written = saved(page, texts.SAVE).read_bytes()
    lesson = read_lesson(written)
    assert [step.question.kind for step in lesson.steps] == ["word", "token"]
    assert [step.page for step in lesson.steps] == ["fill_mask", "attention"]
    assert (lesson.title, lesson.steps[0].text, lesson.steps[1].view["heads"]) == (MARKUP, MARKUP, "2-8")
    assert lesson.steps[0].view["heads"].endswith("-3")
    link = "".join(main(page).get_by_text(re.compile(r"lesson=z\.")).first.inner_text().split())
    page.get_by_role("button", name=texts.START_ANEW).click()
    expect(page.get_by_text(texts.NO_STEPS)).to_be_visible()
    put_file(page, written)
    page.get_by_role("button", name=texts.EDIT_FILE).click()
    expect(page.get_by_role("button", name=texts.SAVE)).to_be_visible()
    answered(page)
    assert saved(page, texts.SAVE).read_bytes() == written
    guest = page_at(link.removeprefix(server))
    for step in lesson.steps:
        expect(guest.get_by_role("heading", name=step.title, exact=True)).to_be_visible()
        expect(guest.get_by_text(HIDDEN_UNTIL_ANSWERED)).to_be_visible()
        answered(guest)
        guess(guest, step.question)
        if step is not lesson.steps[-1]:
            expect(guest.get_by_text(MARKUP, exact=True).first).to_be_visible()  # only text
            guest.get_by_role("link", name="Next step").click()
    expect(guest.get_by_role("link", name=END_LESSON)).to_be_visible()


@pytest.mark.ci
def test_a_reload_loses_nothing_that_was_written_or_added_and_a_file_stays_open(page_at, server, for_everybody):
    page = page_at("/attention?text=Mary+lost+her+keys.")
    add_view_of_stage(page, 1)
    page.reload()
    page.goto(f"{server}/lesson_editor")
    view = box_of(page, texts.STEP_TITLE.format(number=1))
    expect(view).to_have_value(contents.page("attention").name)
    answered(page)
    write(page, texts.TITLE, "Sent")
    page.reload()
    expect(page.get_by_text(texts.RESTORED)).to_be_visible()
    expect(box_of(page, texts.TITLE)).to_have_value("Sent")
    answered(page)
    page.get_by_role("button", name=texts.REMOVE, exact=True).click()
    expect(view).to_have_count(0)
    page.get_by_role("button", name=texts.BRING_BACK).click()
    expect(view).to_have_count(1)
    answered(page)
    for wrong in (b"\x00\xff", b"title: 1"):
        put_file(page, wrong)
        expect(main(page).get_by_text(CANNOT_BE_SHOWN).first).to_be_visible()
        expect(page.get_by_role("button", name=texts.EDIT_FILE)).to_have_count(0)
        answered(page)
    path = shipped_lesson(LEARNING_PATH)
    put_file(page, write_lesson(path).encode())
    page.get_by_role("link", name=texts.PLAY_FILE).click()
    expect(page.get_by_role("heading", name=path.steps[0].title, exact=True)).to_be_visible()
    listed(page, contents.page("lesson_editor").name).click()
    expect(page.get_by_role("button", name=texts.EDIT_FILE)).to_be_visible()
    answered(page)
    for_everybody(page)
