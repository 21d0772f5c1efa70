"""A lesson is collected from views, written, checked, shared and played; what a file says wrong is said with its line."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import segno
import yaml

from pages import contents
from pages.contents import PAGES
from pages.lesson_editor import texts
from pages.lesson_editor.draft import boxes_of, draft_of, file_of, measures_for, new_draft, new_step
from pages.lesson_editor.forms import move_step, remove_step
from pages.lesson_editor.sharing import MAX_QR_CHARACTERS, qr_code
from pages.ui.panels import lesson
from pages.ui.shell.address import ADDED_VIEWS, DRAFT, HELD, LESSON, LOCK
from pages.ui.shell.texts import ADD_TO_LESSON
from tests.support.serving import ROOT
from tx_core.classroom.lesson_file import KIND_OF_MEASURE, Lesson, pack_lesson, read_lesson, unpack_lesson

KEYS = "Mary lost her keys."


def written_lesson(app) -> str:
    """The lesson as the page shows its file."""
    return next(code.value for code in app.code if code.value.startswith("title:"))


def link_of(app) -> str:
    return next(code.value for code in app.code if LESSON in code.value)


def add_view(app) -> None:
    """Open the share menu, which a browser opens, and add the view."""
    app.session_state["share_link"] = True
    app.run()
    next(button for button in app.button if button.label == ADD_TO_LESSON).click().run()
    assert not app.exception


def box(app, label: str, number: int = 1):
    boxes = [*app.text_input, *app.text_area, *app.selectbox, *app.number_input]
    return next(one for one in boxes if one.label == label.format(number=number))


@pytest.mark.parametrize("page", [page.key for page in PAGES if page.computes])
def test_a_view_of_every_page_becomes_a_step_with_all_its_settings(open_app, page: str):
    app = open_app(page)
    add_view(app)
    [(key, view)] = app.session_state[ADDED_VIEWS]
    assert key == page
    fields = {field.name for field in app.session_state[f"{page}_fields"][0]}
    assert set(view) <= fields
    assert len(view) >= 2
    again = open_app(page, **view)
    assert not again.exception
    assert not any("settings" in notice.value for notice in again.info)


def test_a_collected_view_is_written_asked_about_and_played(open_app):
    app = open_app("attention", text=KEYS, heads="2-8", focus="3")
    add_view(app)
    app.switch_page("lesson_editor/page.py").run()
    assert not app.exception
    box(app, texts.KIND).set_value("token").run()
    box(app, texts.ASK).set_value("Which word does “her” look at?").run()
    assert texts.PROBLEM in "\n".join(one.value for one in app.markdown)
    box(app, texts.MEASURE_BOXES["query"]).set_value("her").run()
    assert not app.exception
    made = read_lesson(written_lesson(app).encode())
    assert (made.steps[0].view["text"], made.steps[0].view["model"]) == (KEYS, "embedded")
    assert made.steps[0].question.answer.head == "2-8"
    assert unpack_lesson(parse_qs(urlsplit(link_of(app)).query)[LESSON][0]) == made
    played = open_app("attention", **{LESSON: pack_lesson(made)})
    assert not played.exception
    assert made.steps[0].question.ask in [one.value for one in played.text]


def test_a_mistake_is_said_with_its_line(open_app):
    app = open_app("attention", text=KEYS)
    add_view(app)
    app.switch_page("lesson_editor/page.py").run()
    box(app, texts.LANGUAGE).set_value("English, of course").run()
    line = next(number for number, text in enumerate(written_lesson(app).splitlines(), 1) if text.startswith("language:"))
    assert any(one.value.startswith(f"Line {line}, language:") for one in app.text)
    assert not any(f"{LESSON}=" in code.value for code in app.code)


def test_steps_are_ordered_and_removed(open_app):
    app = open_app("lesson_editor")
    app.session_state[ADDED_VIEWS] = [("attention", {"text": "One."}), ("masks", {"text": "Two."})]
    app.run()
    assert [one["page"] for one in app.session_state[DRAFT]["steps"]] == ["attention", "masks"]
    next(one for one in app.button if one.label == texts.UP.format(number=2)).click().run()
    assert [one["page"] for one in app.session_state[DRAFT]["steps"]] == ["masks", "attention"]
    next(one for one in app.button if one.label == texts.REMOVE.format(number=1)).click().run()
    assert [one["page"] for one in app.session_state[DRAFT]["steps"]] == ["attention"]
    assert not app.exception


def test_a_lesson_of_ones_own_is_named_if_its_server_is_lost(open_app):
    collecting = open_app("attention", text=KEYS)
    assert HELD not in collecting.session_state
    add_view(collecting)
    assert collecting.session_state[HELD]
    copying = open_app("lesson_editor")
    assert HELD not in copying.session_state
    box(copying, texts.SHIPPED).set_value(lesson.LEARNING_PATH).run()
    assert HELD not in copying.session_state
    next(one for one in copying.button if one.label == texts.COPY).click().run()
    assert copying.session_state[HELD]


def test_a_lesson_opened_from_a_file_is_named_if_its_server_is_lost(monkeypatch: pytest.MonkeyPatch):
    session: dict[str, object] = {}
    monkeypatch.setattr(lesson.st, "session_state", session)
    lesson.keep_own_lesson(lesson.shipped_lesson(lesson.LEARNING_PATH))
    assert session[HELD]


def test_a_second_click_that_arrives_before_the_page_is_drawn_again_changes_nothing():
    steps = [{"id": name} for name in "abc"]
    for change, args, expected in (
        (move_step, ("a", 1), "bac"),
        (move_step, ("c", 1), "bca"),
        (remove_step, ("c",), "ba"),
        (remove_step, ("a",), "b"),
    ):
        for _ in range(2):
            change(steps, *args)
            assert "".join(one["id"] for one in steps) == expected


@pytest.mark.parametrize("name", lesson.shipped_names())
def test_a_lesson_that_ships_is_taken_apart_and_put_together_again(name: str):
    one = lesson.shipped_lesson(name)
    assert read_lesson(file_of(draft_of(one)).encode()) == one


def test_a_copy_of_a_shipped_lesson_is_edited(open_app):
    app = open_app("lesson_editor")
    box(app, texts.SHIPPED).set_value(lesson.LEARNING_PATH).run()
    next(one for one in app.button if one.label == texts.COPY).click().run()
    assert not app.exception
    assert read_lesson(written_lesson(app).encode()) == lesson.shipped_lesson(lesson.LEARNING_PATH)


def test_a_locked_link_is_marked(open_app):
    app = open_app("lesson_editor")
    app.session_state[ADDED_VIEWS] = [("attention", {"text": "One."})]
    app.run()
    next(one for one in app.checkbox if one.label == texts.LOCKED).check().run()
    assert parse_qs(urlsplit(link_of(app)).query)[LOCK] == ["1"]


def test_every_measure_can_be_chosen_and_is_asked_for_what_it_needs():
    kinds = [kind for kind in texts.KINDS if kind != "none"]
    assert {measure for kind in kinds for measure in measures_for(kind)} == {"none", *KIND_OF_MEASURE}
    assert texts.MEASURES.keys() == {"none", *KIND_OF_MEASURE}
    assert {box for measure in KIND_OF_MEASURE for box in boxes_of(measure)} == set(texts.MEASURE_BOXES)


def test_texts_of_a_writer_are_text_in_the_file():
    draft = new_draft() | {"title": "a: [b, *c] # d", "about": "<b>&</b>\n- x"}
    draft["steps"] = [new_step("attention", {"text": "!!python/object:os.system", "heads": "1-1"})]
    read = read_lesson(file_of(draft).encode())
    assert isinstance(read, Lesson)
    assert (read.title, read.about) == ("a: [b, *c] # d", "<b>&</b>\n- x")
    assert yaml.safe_load(file_of(draft))["steps"][0]["view"]["text"] == "!!python/object:os.system"


def test_the_qr_code_is_that_of_the_link():
    link = f"https://example.org/attention?{LESSON}=z.{'Ab1-' * 200}"
    assert len(link) <= MAX_QR_CHARACTERS
    drawn = qr_code(link)
    rows = len(list(segno.make(link, error="l", micro=False).matrix_iter(scale=1, border=4)))
    assert drawn.startswith("<svg")
    assert re.search(r'width="(\d+)"', drawn)[1] == str(rows * 4)
    assert segno.make("a" * MAX_QR_CHARACTERS, error="l").symbol_size(border=0)[0] <= 121


def test_the_page_is_in_the_documents():
    assert contents.page("lesson_editor").name in (ROOT / "README.md").read_text(encoding="utf-8")
