"""How students come into a room, and what stands before them there: each in a browser of their own."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages.classroom import texts
from pages.ui.panels.lesson import FOR_CLASS, shipped_lesson
from tests.browser.test_classroom_page import FAST, STEPS, TEXT_SIZE, note, open_room, press, unfold
from tx_core.classroom.lesson_file import pack_lesson

BARE = STEPS[0].model_copy(update={"title": "Only look", "question": None, "text": "Which words does the model expect?"})


def type_code(page: Page, code: str) -> None:
    """Join by the code, with the one click that the page says."""
    page.get_by_label(texts.CODE).fill(code.lower())
    page.get_by_role("button", name=texts.JOIN_BUTTON, exact=True).click()
    expect(page.get_by_role("heading", name=STEPS[0].title, exact=True)).to_be_visible(timeout=FAST)


def test_who_types_the_code_joins_with_one_click_and_comes_back_as_the_same_student(page_at, settle, axe):
    teacher, code = open_room(page_at)
    axe(teacher)
    warning = teacher.locator(".st-key-classroom_unreachable")
    expect(warning).to_contain_text(texts.LISTENS_HERE.partition(".")[0])
    student = page_at("/class", width=390)
    type_code(student, code)
    expect(student.get_by_role("button", name=re.compile("^Join"))).to_have_count(0)
    joined = texts.ANSWERED.format(answered=0, students=1)
    expect(note(teacher)).to_have_text(joined, timeout=FAST)
    student.goto(student.url.partition("?")[0])
    type_code(student, code)
    settle(student)
    other = page_at("/class", width=390, dark=True)
    type_code(other, code)
    expect(note(teacher)).to_have_text(texts.ANSWERED.format(answered=0, students=2), timeout=FAST)


def test_a_teacher_comes_back_by_a_reload_and_by_the_secret_link(page_at):
    teacher, code = open_room(page_at)
    unfold(teacher, texts.MANAGE)
    secret = teacher.get_by_text(re.compile(r"/class\?teacher=")).inner_text().replace("\n", "")
    teacher.reload()
    expect(teacher.get_by_test_id("stMetricValue")).to_have_text(code, timeout=FAST)
    other = page_at(f"/class?{secret.partition('?')[2]}")
    expect(other.get_by_test_id("stMetricValue")).to_have_text(code, timeout=FAST)
    assert "teacher=" not in other.url


def test_a_teachers_link_without_its_secret_says_at_once_that_it_leads_to_no_room(page_at):
    _, code = open_room(page_at)
    stranger = page_at(f"/class?lead={code}")
    expect(stranger.get_by_role("link", name=texts.TO_ENTRANCE)).to_be_visible(timeout=FAST)


@pytest.mark.parametrize("dark", [False, True])
def test_a_step_that_asks_nothing_is_open_on_a_phone_at_once_and_said_on_the_projector(page_at, settle, axe, dark: bool):
    lesson = shipped_lesson("path").model_copy(update={"steps": (BARE, STEPS[0])})
    teacher = page_at(f"/class?{FOR_CLASS}={pack_lesson(lesson)}", dark=dark)
    press(teacher, texts.OPEN_BUTTON)
    code = teacher.get_by_test_id("stMetricValue")
    expect(code).to_have_text(re.compile(r"^[A-Z]{6}$"), timeout=FAST)
    student = page_at(f"/class?room={code.inner_text().strip()}", width=390, dark=dark)
    student.get_by_role("button", name=re.compile("^Join")).click()
    expect(student.get_by_role("link", name=texts.OPEN_VIEW)).to_be_visible(timeout=FAST)
    settle(student)
    axe(student)
    expect(note(teacher)).to_have_text(texts.ONE_IS_HERE, timeout=FAST)
    expect(teacher.get_by_role("button", name=texts.REVEAL)).to_have_count(0)
    teacher.set_viewport_size({"width": 1920, "height": 1080})
    teacher.get_by_test_id("stMain").press("p")
    teacher.locator("html[data-fitted='st-key-classroom_live 1920 1080']").wait_for(state="attached", timeout=30_000)
    for said in (BARE.title, BARE.text, texts.ONE_IS_HERE):
        expect(teacher.locator("[data-staged]").get_by_text(said)).to_be_visible()
    assert teacher.locator("[data-staged] .note").evaluate(TEXT_SIZE) < 48
    student.get_by_role("link", name=texts.OPEN_VIEW).click()
    student.wait_for_url(re.compile(f"{BARE.page}.*level=basic"))
