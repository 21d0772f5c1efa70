"""A teacher makes a lesson from views of two pages, saves, opens and shares it; and loses nothing by a reload."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

from pages import contents
from pages.lesson_editor import texts
from pages.ui.canvas.component import PATH, version
from pages.ui.panels.lesson import LEARNING_PATH, shipped_lesson
from pages.ui.panels.question_kinds import QUESTION_VIEWS
from pages.ui.panels.texts import CHECK_GUESS, END_LESSON, HIDDEN_UNTIL_ANSWERED, NEXT_STEP
from pages.ui.shell.texts import ADD_TO_LESSON, SHARE, WRITE_LESSON
from tests.browser.conftest import wait_for_script
from tests.browser.test_lessons import answer
from tx_core.classroom.lesson_file import Lesson, read_lesson, write_lesson
from tx_core.classroom.measures import MEASURES

KEYS, SCHOOL = "Mary lost her keys.", "Yesterday I [MASK] to school."
MARKUP = "**bold** <b>tag</b> $x$ [link](http://example.org) `code`"
EDITOR = contents.page("lesson_editor")
TRIES = 20


def add_views(page: Page, count: int, added: int) -> None:
    """Add the view of the page several times, and hold that each is counted. added: before."""
    page.get_by_role("button", name=SHARE).click()
    wait_for_script(page)
    for number in range(added + 1, added + count + 1):
        page.get_by_role("button", name=ADD_TO_LESSON).click()
        expect(page.get_by_role("link", name=WRITE_LESSON.format(count=number))).to_be_in_viewport(ratio=1)
        wait_for_script(page)


FRESH = '[data-testid="stElementContainer"][data-stale="false"]'


def box_of(page: Page, label: str) -> Locator:
    """The box of a label. While a page is drawn anew, the box of the draft before may stand beside it for a moment."""
    return page.locator(FRESH).get_by_label(label, exact=True)


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list."""
    box = page.locator(FRESH).get_by_role("combobox", name=label, exact=True)
    found = page.get_by_role("option", name=option, exact=True)
    for _ in range(TRIES):  # a list closes, or stays behind, when the page answers something that was clicked before
        wait_for_script(page)
        box.fill("")
        box.fill(option)
        try:
            found.click(timeout=1500)
            break
        except TimeoutError:
            continue
    expect(box).to_have_value(option)
    wait_for_script(page)


def write(page: Page, label: str, text: str) -> None:
    """Write into a box, and leave it."""
    box = box_of(page, label)
    box.fill(text)
    box.press("Tab")
    wait_for_script(page)


def saved(page: Page, folder: Path, button: str = texts.SAVE) -> bytes:
    """What a button saves."""
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("button", name=button).click()
    download.value.save_as(folder / "saved")
    return (folder / "saved").read_bytes()


def put_file(page: Page, written: str) -> None:
    """Open a lesson from a file."""
    page.locator("input[type=file]").set_input_files({"name": "x.yaml", "mimeType": "text/yaml", "buffer": written.encode()})


def open_file(page: Page, written: str) -> None:
    """Open a lesson from a file, and edit it."""
    put_file(page, written)
    page.get_by_role("button", name=texts.EDIT_FILE).click()
    expect(page.get_by_role("button", name=texts.SAVE)).to_be_visible(timeout=60_000)
    wait_for_script(page)


def edit_seven_questions(page: Page) -> None:
    """Ask a question of each kind, one in each step."""
    for number, kind in enumerate([kind for kind in texts.KINDS if kind != "none"], 1):
        choose(page, texts.KIND.format(number=number), texts.KINDS[kind])
        if kind == "token":
            choose(page, texts.MEASURE_BOXES["query"].format(number=number), "her")
        elif kind == "choice":
            write(page, texts.OPTIONS.format(number=number), "went\ngo")
            choose(page, texts.MEASURE.format(number=number), texts.MEASURES["top_word"])
        elif kind == "number":
            choose(page, texts.MEASURE.format(number=number), texts.MEASURES["rank_of"])
            write(page, texts.MEASURE_BOXES["word"].format(number=number), "go")
        elif kind in ("word", "head", "cell"):
            expect(box_of(page, texts.ASK.format(number=number))).to_have_value(QUESTION_VIEWS[kind].first_ask)


PLACED = """([title, label]) => {
  const named = [...document.querySelectorAll('input')].filter((one) => one.value === title)
  return named.length === 1 && named[0].getAttribute('aria-label') === label
}"""


def wait_for_place(page: Page, title: str, number: int) -> None:
    """Wait until the step of a title has a number, and what stood there before is gone."""
    page.wait_for_function(PLACED, arg=[title, texts.STEP_TITLE.format(number=number)])
    wait_for_script(page)


def play(page: Page, lesson: Lesson) -> None:
    """Answer every question of a lesson."""
    for number, step in enumerate(lesson.steps, 1):
        expect(page.get_by_role("heading", name=step.title, exact=True)).to_be_visible(timeout=60_000)
        expect(page.get_by_text(step.text, exact=True)).to_be_visible()
        expect(page.get_by_text(HIDDEN_UNTIL_ANSWERED)).to_be_visible()
        wait_for_script(page)
        answer(page, step.question, wait_for_script)
        expect(page.get_by_role("button", name=CHECK_GUESS)).to_have_count(0)
        if number < len(lesson.steps):
            page.get_by_role("link", name=NEXT_STEP).click()
    expect(page.get_by_role("link", name=END_LESSON)).to_be_visible()


def test_a_lesson_is_made_from_two_pages_saved_opened_shared_and_played(page_at, axe, browser: Browser, tmp_path: Path):
    page = page_at(f"/attention?text={KEYS}&heads=2-8&focus=3")
    add_views(page, 2, 0)
    page.keyboard.press("Escape")
    page.get_by_test_id("stSidebar").get_by_role("link", name=contents.page("fill_mask").name, exact=True).click()
    expect(page.get_by_role("heading", name=contents.page("fill_mask").question)).to_be_visible()
    wait_for_script(page)
    add_views(page, 5, 2)
    page.get_by_role("link", name=WRITE_LESSON.format(count=7)).click()
    expect(page.get_by_role("heading", name=EDITOR.question)).to_be_visible()
    wait_for_script(page)
    title = texts.STEP_TITLE.format(number=3)
    write(page, title, "First of the blank")
    page.get_by_role("button", name=texts.UP.format(number=3)).click()
    wait_for_place(page, "First of the blank", 2)
    page.get_by_role("button", name=texts.DOWN.format(number=2)).click()
    wait_for_place(page, "First of the blank", 3)
    wait_for_script(page)
    edit_seven_questions(page)
    write(page, texts.STEP_TEXT.format(number=1), MARKUP)
    write(page, texts.TITLE, MARKUP)
    axe(page)
    written = saved(page, tmp_path)
    lesson = read_lesson(written)
    assert [step.question.kind for step in lesson.steps] == [kind for kind in texts.KINDS if kind != "none"]
    assert {step.question.answer.measure for step in lesson.steps if step.question.answer} < set(MEASURES)
    assert (lesson.title, lesson.steps[0].text) == (MARKUP, MARKUP)
    link = page.get_by_test_id("stCode").filter(has_text="lesson=z.").inner_text().strip()
    page.get_by_role("button", name=texts.START_ANEW).click()
    expect(page.get_by_text(texts.NO_STEPS)).to_be_visible()
    open_file(page, written.decode())
    assert saved(page, tmp_path) == written
    page.get_by_role("link", name=texts.PREVIEW).click()
    expect(page.get_by_text(MARKUP, exact=True)).to_be_visible()
    with browser.new_context() as stranger:
        guest = stranger.new_page()
        guest.goto("".join(link.split()))
        play(guest, lesson)


def leave_typed(page: Page) -> None:
    """Type into boxes: one is sent, the other not."""
    write(page, texts.TITLE, "Sent")
    box_of(page, texts.DESCRIPTION).press_sequentially(" Typed")


def test_a_reload_loses_nothing_that_was_typed_or_added(page_at):
    page = page_at(f"/attention?text={KEYS}")
    add_views(page, 1, 0)
    page.reload()
    page.goto(page.url.partition("/attention")[0] + "/lesson_editor")
    view = box_of(page, texts.STEP_TITLE.format(number=1))
    expect(view).to_have_value(contents.page("attention").name, timeout=60_000)
    wait_for_script(page)
    leave_typed(page)
    page.reload()
    expect(page.get_by_text(texts.RESTORED)).to_be_visible(timeout=60_000)
    expect(box_of(page, texts.TITLE)).to_have_value("Sent")
    expect(box_of(page, texts.DESCRIPTION)).to_have_value(f"{texts.FIRST_DESCRIPTION} Typed")
    expect(view).to_have_count(1)
    wait_for_script(page)
    page.get_by_role("button", name=texts.REMOVE.format(number=1)).click()
    expect(view).to_have_count(0)
    page.get_by_role("button", name=texts.BRING_BACK).click()
    expect(view).to_have_count(1)


REPORTS = """async (address) => {
  const keep = (await import(address)).default
  const reports = []
  const run = (fresh) => keep({
    data: { draft: { id: 'abc' }, fresh, seen: [], refused: '', opened: '' },
    parentElement: document.createElement('div'),
    setTriggerValue: (_, found) => reports.push(found.draft.id),
  })
  for (const fresh of [true, false]) run(fresh)
  for (const fresh of [true, true, false]) run(fresh) // the first server is lost, and another session asks twice
  run(true)
  return reports
}"""


def test_each_session_that_follows_a_loss_in_the_same_document_is_told_of_the_draft_once(page_at):
    page = page_at("/learn")
    page.evaluate("sessionStorage.setItem('attention-explorer:lesson', JSON.stringify({ draft: { id: 'abc' }, typed: {} }))")
    address = page.evaluate("path => new URL(path, document.baseURI).href", f"{PATH}/{version()}/draft/keeper.js")
    assert page.evaluate(REPORTS, address) == ["abc", "abc", "abc"]


def test_a_lesson_that_was_opened_and_not_edited_survives_a_reload(page_at):
    page = page_at("/lesson_editor")
    path = shipped_lesson(LEARNING_PATH)
    put_file(page, write_lesson(path))
    expect(page.get_by_role("button", name=texts.EDIT_FILE)).to_be_visible(timeout=60_000)
    wait_for_script(page)
    page.reload()
    page.get_by_role("link", name=texts.PLAY_FILE).click(timeout=60_000)
    expect(page.get_by_role("heading", name=path.steps[0].title, exact=True)).to_be_visible(timeout=60_000)
    page.goto(page.url.replace("/fill_mask", "/lesson_editor").partition("?")[0])
    page.get_by_role("button", name=texts.EDIT_FILE).click(timeout=60_000)
    expect(box_of(page, texts.TITLE)).to_have_value(path.title, timeout=60_000)
    wait_for_script(page)
    expect(page.get_by_role("button", name=texts.EDIT_FILE)).to_have_count(0)


def test_a_title_alone_survives_a_reload(page_at):
    page = page_at("/lesson_editor")
    write(page, texts.TITLE, "Only a title")
    page.reload()
    expect(box_of(page, texts.TITLE)).to_have_value("Only a title", timeout=60_000)


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_the_editor_is_read_by_everybody_and_nothing_of_it_is_cut(page_at, axe, width: int, dark: bool):
    page = page_at("/lesson_editor", width=width, dark=dark)
    axe(page)
    choose(page, texts.SHIPPED, shipped_lesson(LEARNING_PATH).title)
    page.get_by_role("button", name=texts.COPY).click()
    expect(page.get_by_role("button", name=texts.SAVE)).to_be_visible(timeout=60_000)
    wait_for_script(page)
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
