"""What stands on phones, the teacher's page and the projector before a reveal; and what a teacher does to who is in a room."""

import csv
import io
import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from pages.classroom import reach, texts
from pages.classroom.entrance import SECRET
from pages.classroom.results import sentence_of
from pages.classroom.teacher import answers_csv, summary_csv
from pages.ui.panels.lesson import names_in_order, shipped_lesson
from pages.ui.panels.lesson_question import choices_of, compute
from pages.ui.shell.address import PRESENT
from tests.pages.classroom.test_classroom_page import drawn, enter, rooms, stages, written
from tx_core.classroom.lesson_file import Step, write_lesson
from tx_core.classroom.rooms import Rooms

__all__ = ["rooms"]  # the fixture
PATH = shipped_lesson("path")
ASKED = {
    kind: next(
        step
        for name in names_in_order()
        for step in shipped_lesson(name).steps
        if step.question and step.question.kind == kind and "text" in step.view
    )
    for kind in ("word", "token", "choice", "cell", "head")
}


def open_room(rooms: Rooms, step: Step) -> tuple[str, str]:
    room, token = rooms.open(write_lesson(PATH.model_copy(update={"steps": (step,)})), 1)
    return room.code, token


def button(app: AppTest, label: str):
    return next(one for one in app.button if one.label == label)


def drawn_as_written(app: AppTest) -> str:
    """All that the drawings of a page are told, quotation marks of a language as they are written."""
    sent = [element.proto for element in app.get("bidi_component")]
    return " ".join(str(json.loads(one.json)) if one.json else one.bytes.decode("utf-8", "replace") for one in sent)


@pytest.mark.parametrize("kind", ["choice", "cell", "head"])
def test_sentence_and_options_stand_everywhere_before_the_reveal(rooms: Rooms, open_app: Callable[..., AppTest], kind: str):
    step = ASKED[kind].model_copy(update={"title": "Guess", "text": "A word is missing. Guess it."})
    code, token = open_room(rooms, step)
    sentence = texts.SENTENCE.format(sentence=sentence_of(step))
    assert "___" in sentence or "[MASK]" not in step.view["text"]
    options = step.question.options
    if kind in ("token", "cell"):
        options = choices_of(step).columns
    phone, teacher = enter(open_app, code), open_app("classroom", **{SECRET: token})
    assert sentence in written(phone) and sentence in written(teacher)
    for option in options:
        assert option in (phone.radio[0].options if kind == "choice" else drawn_as_written(phone))
        assert option in written(teacher)
    assert ("any of 48 heads" in written(teacher)) is (kind == "head")
    projector = open_app("classroom", **{SECRET: token, PRESENT: "1"})
    for said in (sentence, step.question.ask, *options):
        assert said in drawn_as_written(projector)


def test_a_class_votes_discusses_and_votes_again_and_the_gain_is_of_those_who_did(rooms: Rooms, open_app: Callable[..., AppTest]):
    code, token = open_room(rooms, ASKED["word"])
    teacher = open_app("classroom", **{SECRET: token})
    answer = compute(ASKED["word"]).right
    students = [rooms.join(code) for _ in range(3)]
    for student, guess in zip(students, (answer, "wrong", "wrong"), strict=True):
        rooms.answer(student, 1, guess)
    app, keeps, silent = phones = [enter(open_app, code) for _ in range(3)]
    for one in phones:
        one.text_input[0].set_value("unsure")
        button(one, texts.SEND).click().run()
    teacher.run()
    button(teacher, texts.DISCUSS).click().run()
    app.run()
    assert texts.DISCUSS_NOW.casefold() in drawn(app) and texts.YOUR_FIRST_VOTE.format(guess="unsure") in written(app)
    app.text_input[0].set_value(answer)
    button(app, texts.SEND).click().run()
    keeps.run()
    assert f"{texts.YOUR_FIRST_VOTE.format(guess='unsure')} {texts.STANDS}" in written(keeps)
    button(keeps, texts.KEEP_GUESS).click().run()
    assert texts.YOUR_GUESS.format(guess="unsure") in written(keeps)
    assert texts.KEEP_GUESS not in [one.label for one in keeps.run().button]
    for student, guess in zip(students, (answer, answer, "wrong"), strict=True):
        rooms.answer(student, 1, guess)
    teacher.run()
    button(teacher, texts.REVEAL).click().run()
    assert not teacher.exception and texts.FIRST_VOTE in drawn(teacher)
    table = list(csv.reader(io.StringIO(summary_csv(token).decode("utf-8-sig"))))
    row = ["1", ASKED["word"].question.ask, "6", "0.5", "5", "0.2", "0.6", ""]  # of too few for a gain
    assert table == [list(texts.SUMMARY_COLUMNS), row]
    sent = [(line[4], line[7]) for line in csv.reader(io.StringIO(answers_csv(token).decode("utf-8-sig")))][1:]
    assert sent[3:] == [(answer, "unsure"), ("unsure", "unsure"), ("unsure", "unsure")]  # kept, and not voted again
    silent.run()
    assert texts.NO_SECOND_VOTE in written(silent) and texts.NO_GUESS_OF_YOURS not in written(silent)
    button(teacher, texts.HIDE_AGAIN).click().run()
    app.run()
    assert texts.DISCUSS_NOW.casefold() in drawn(app) and not stages(app)


@pytest.mark.parametrize(
    ("host", "own", "listens", "said", "there"),
    [
        ("localhost", "192.0.2.7", "", texts.ONLY_HERE, "192.0.2.7"),
        ("localhost", "192.0.2.7", "localhost", texts.LISTENS_HERE, "localhost"),
        ("[::1]", "127.0.0.1", "", texts.NO_NETWORK, "[::1]"),
        ("192.0.2.7", "192.0.2.7", "", "", "192.0.2.7"),
    ],
)
def test_a_room_opened_as_localhost_leads_phones_to_the_machine_and_says_where_they_cannot_reach_it(
    monkeypatch: pytest.MonkeyPatch, host: str, own: str, listens: str, said: str, there: str
):
    monkeypatch.setattr(reach, "st", SimpleNamespace(get_option={"server.address": listens}.get))
    monkeypatch.setattr(reach.net_util, "get_internal_ip", lambda: own)
    link, warning = reach.reachable(f"http://{host}:8501/class?room=x")
    assert link == f"http://{there}:8501/class?room=x"
    assert warning.startswith(said.partition("{")[0]) and bool(warning) == bool(said)
    if said == texts.LISTENS_HERE:
        assert "--server.address 0.0.0.0" in warning and "http://192.0.2.7:8501" in warning
