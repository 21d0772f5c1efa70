"""A lesson asks before it shows: until the answer, nothing of the view is on the page."""

from hashlib import sha256

import pytest
import streamlit as st
from streamlit.testing.v1.element_tree import Element

from pages import contents
from pages.ui.panels import lesson, texts
from pages.ui.panels.lesson_question import before_and_after, compute
from pages.ui.shell.address import LESSON, LOCK, STEP
from pages.ui.shell.fields import parse_view
from pages.ui.shell.level import ADVANCED, LEVEL
from tests.pages.test_view_links import fields_of
from tests.pages.ui.panels.test_question_kinds import guess
from tests.support.drawings import says, sent_to
from tests.support.lesson_secrets import holds, secrets_of
from tests.support.staged import staged
from tx_core.classroom.lesson_file import NOT_PACKED, Lesson, Step, pack_lesson
from tx_core.classroom.measures import NO_SUCH_HEAD, compute_answer
from tx_core.engine import catalogue

STEPS = lesson.shipped_lesson(lesson.LEARNING_PATH).steps


def open_step(open_app, number: int, **more: str):
    return open_app(STEPS[number - 1].page, **lesson.step_address(lesson.LEARNING_PATH, number) | more)


def asked(app) -> tuple[dict, bytes]:
    [sent] = sent_to(app, "question")
    return sent


def click(app, number: int, token: str) -> None:
    """Choose a token in the drawing of a step of the path: a test without a browser cannot click there."""
    name = f"lesson_{sha256(lesson.LEARNING_PATH.encode()).hexdigest()[:12]}_{number}"
    app.session_state[name] = token
    app.run()


def test_an_answer_is_computed_as_the_view_reads_its_text():
    measure = {"measure": "top_word", "text": "Paris is the capital of [MASK]."}
    question = {"kind": "word", "ask": "Which word?", "answer": measure}
    for bare in (False, True):
        view = {"text": measure["text"]} | ({"nospecial": "1"} if bare else {})
        step = Step(title="One", page="fill_mask", view=view, text="Look.", question=question)
        engine = catalogue.load("embedded", special_tokens=not bare)
        assert compute(step) == compute_answer(engine, step.question.answer)
        assert (compute(step).right == "france") is not bare


def test_the_bars_of_a_change_hold_a_guess_that_is_far_from_first_and_each_word_once():
    [order] = [step for step in STEPS if step.question.ask.endswith("without positions?")]
    for guessed, words in {"to": 5, "yesterday": 4}.items():
        labels = before_and_after(order, guessed).chart["labels"]
        assert len(labels) == words and labels.count(texts.YOUR_GUESS.format(guess=guessed)) == 1


def test_a_hostile_guess_is_text(open_app):
    guess = "<b>went</b> $x$ **w** [MASK]"
    app = open_step(open_app, 1)
    app.text_input[0].set_value(guess)
    app.button[0].click().run()
    assert not app.exception
    assert guess in asked(app)[0]["verdict"]
    assert not any(guess in element.value for element in app.markdown)


def test_the_view_of_every_step_is_one_that_its_page_understands_and_leaves_nothing_to_defaults():
    for name in lesson.shipped_names():
        for step in lesson.shipped_lesson(name).steps:
            fields, _ = fields_of(step.page)
            assert not parse_view(fields, step.view)[1], step.title
            pinned = {field.name for field in fields if field.default is not None and field.write(field.default)}
            assert pinned <= step.view.keys(), step.title  # a new default changes no lesson


LINK = "A bird [MASK] in the tree."


def own_lesson(**step) -> Lesson:
    first = {"title": "Look", "page": "attention", "view": {"text": LINK}, "text": "Look at the map."} | step
    fields = {"title": "Birds", "language": "en", "level": "beginner", "minutes": 5, "about": "Birds."}
    return Lesson.model_validate(fields | {"steps": [first]})


def links(app) -> set[str]:
    return {link.proto.label for link in app.get("page_link")}


BROKEN = ("../settings", pack_lesson(own_lesson())[:-20])


@pytest.mark.parametrize("name", BROKEN)
def test_a_lesson_that_is_not_there_or_not_whole_is_said_and_the_page_opens(open_app, name: str):
    app = open_app("attention", **{LESSON: name})
    assert not app.exception
    assert contents.page("attention").question in says(app)
    assert any(problem in says(app) for problem in (NOT_PACKED, texts.NO_SUCH_LESSON.partition("{")[0]))


def test_a_step_whose_question_cannot_be_asked_leads_on_also_in_a_locked_lesson(open_app):
    measure = {"measure": "strongest_key", "text": LINK, "head": "9-9", "query": "bird"}
    wrong = own_lesson(question={"ask": "Which?", "kind": "token", "answer": measure})
    name = pack_lesson(wrong.model_copy(update={"steps": wrong.steps * 2}))
    app = open_app("attention", **{LESSON: name, STEP: "1", LOCK: "1"})
    assert not app.exception
    assert NO_SUCH_HEAD.partition("{")[0] in says(app)
    assert links(app) == {texts.SKIP_STEP, texts.LEAVE_LESSON}


def test_a_locked_lesson_lists_no_pages_and_leads_out_of_itself_at_its_end_only(open_app, monkeypatch: pytest.MonkeyPatch):
    navigation, positions = st.navigation, []

    def listed(*pages, position: str, **options):
        positions.append(position)
        return navigation(*pages, position=position, **options)

    monkeypatch.setattr(st, "navigation", listed)
    for lock, position in (("0", "sidebar"), ("1", "hidden")):
        app = open_app("attention", **{LESSON: pack_lesson(own_lesson()), LOCK: lock})
        assert positions[-1] == position
    assert links(app) == {texts.END_LESSON}


def test_a_step_shows_the_controls_that_it_names_and_without_a_lesson_all_are_there_again(open_app):
    app = open_app("attention", **{LESSON: pack_lesson(own_lesson(controls=["text"]))})
    assert not app.exception
    assert [box.key for box in app.text_input] == ["attention_text"]
    assert len(app.selectbox) == len(app.toggle) == len(app.expander) == 0
    assert {"heads", "words", "hide", "show", "lines", "scale", "changes", "export", "share"} <= set(staged(app)["hidden"])
    assert links(app) >= {texts.END_LESSON}
    app.query_params.clear()
    app.run()
    assert (len(app.text_input), [box.key for box in app.selectbox], staged(app)["hidden"]) == (2, ["attention_model"], [])


def sent(app) -> bytes:
    return b"\n".join(one.proto.SerializeToString() for one in app.main if isinstance(one, Element))


@pytest.mark.ci
@pytest.mark.parametrize("name", [name for name in lesson.names_in_order() if name != lesson.LEARNING_PATH])
def test_every_step_of_a_lesson_is_answered_and_sends_nothing_of_its_answer_before(open_app, name: str):
    for number, step in enumerate(lesson.shipped_lesson(name).steps, 1):
        app = open_app(step.page, **lesson.step_address(name, number))
        assert not app.exception and holds(sent(app), step.title)
        assert [one for one in secrets_of(step) if holds(sent(app), one)] == [], number
        if step.question:
            assert texts.HIDDEN_UNTIL_ANSWERED in says(app)
            guess(app, name, number)
        assert texts.HIDDEN_UNTIL_ANSWERED not in says(app)
        assert step.then is None or holds(sent(app), step.then)


def test_in_a_frame_the_ways_of_a_lesson_keep_the_frame_and_the_level(open_app, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(st.context), "is_embedded", True)  # of `embed=true`, which a link cannot name and a button keeps
    app = open_app("fill_mask", **{LESSON: "path", STEP: "2", LEVEL: ADVANCED})
    assert not {texts.SKIP_STEP, texts.PREVIOUS_STEP, texts.LEAVE_LESSON} & {one.proto.label for one in app.get("page_link")}
    next(one for one in app.button if one.label == texts.SKIP_STEP).click().run()
    assert not app.exception
    assert (app.query_params[STEP], app.query_params[LEVEL]) == ("3", ADVANCED)
