"""A step that is done by a change is done once the learner has changed its view, and at once."""

import json

import pytest

from pages.ui.panels import lesson, texts
from pages.ui.shell.address import LESSON
from pages.ui.stage import browser_texts
from tests.support.blanks import ask, likely
from tests.support.drawings import sent_to
from tests.support.staged import made_changes, staged
from tx_core.classroom.lesson_file import Lesson, pack_lesson

PATH, CUT = lesson.LEARNING_PATH, 3
"""The step of the path in which the learner switches a head off."""


def strip(app) -> list[dict]:
    [sent] = [one.proto for one in app.main.get("bidi_component") if one.proto.component_name.endswith("step_strip")]
    return json.loads(sent.json)[0]["parts"]


def done_in_strip(app) -> list[bool]:
    return [part["done"] for part in strip(app)]


def open_changeable(open_app, **step):
    first = {"title": "Look", "page": "attention", "view": {"text": "A bird sings."}, "text": "Look.", "done": "change"} | step
    fields = {"title": "Birds", "language": "en", "level": "beginner", "minutes": 5, "about": "Birds.", "steps": [first]}
    return open_app("attention", **{LESSON: pack_lesson(Lesson.model_validate(fields))})


def change(app, text: str = "A fish swims.") -> None:
    app.text_input(key="attention_text").set_value(text).run()
    assert not app.exception


def check(app) -> None:
    next(button for button in app.button if button.label in (texts.CHECK_GUESS, texts.GIVE_ANSWER)).click().run()
    assert not app.exception


@pytest.mark.parametrize("question", [None, {"ask": "Why?", "kind": "open"}])
def test_a_step_that_is_done_by_a_change_is_done_once_the_learner_has_made_one(open_app, question):
    app = open_changeable(open_app, question=question)
    if question:
        app.text_area[0].set_value("Because.")
        check(app)
    for _ in range(2):
        assert done_in_strip(app) == [False]
        assert staged(app)["awaited"]  # of another head the stage tells by itself, once
        app.run()
    change(app)
    assert done_in_strip(app) == [True]


def test_the_learner_of_the_path_guesses_with_the_head_on_and_is_done_once_it_is_switched_off(open_app):
    step = lesson.shipped_lesson(PATH).steps[CUT - 1]
    app = open_app(step.page, **lesson.step_address(PATH, CUT))
    app.radio[0].set_value("went")
    check(app)
    assert f"“{browser_texts.CONTROLS['off']}”" in step.then
    assert likely(app)[0]["label"] == "went"
    assert done_in_strip(app)[CUT - 1] is False
    assert [strip(app)[CUT - 1][name] for name in ("waits", "state")] == [True, texts.STEP_WAITS]
    assert any(caption.value.endswith(texts.STEP_WAITS) for caption in app.caption)
    ask(app, add=["off~5-7"])
    assert not app.exception
    assert made_changes(app) == ["off~5-7"]
    assert done_in_strip(app)[CUT - 1] is True
    assert not any(part["waits"] for part in strip(app))
    answer = sent_to(app, "question")[0][0]["verdict"]
    assert answer.startswith("“go”")
