"""Each kind of question is edited, asked, guessed at, revealed and reported: a kind is an entry in each of two tables."""

import json
import re
from hashlib import sha256

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from pages import contents
from pages.classroom.results import Votes, results
from pages.lesson_editor.draft import draft_of, file_of, first_ask, measures_for, new_draft, new_step
from pages.ui.panels import texts
from pages.ui.panels.lesson import GUESSES
from pages.ui.panels.lesson_question import compute, reveal
from pages.ui.panels.question_kinds import MEASURE_TEXTS, QUESTION_VIEWS, WITHOUT_SPECIAL, measured
from pages.ui.panels.question_view import guessed_cell
from pages.ui.shell.address import LESSON
from tests.support.drawings import sent_to
from tests.support.serving import ROOT
from tx_core.classroom.lesson_file import Lesson, pack_lesson, read_lesson
from tx_core.classroom.measures import MEASURES
from tx_core.classroom.questions import QUESTION_KINDS

FILLED = {"of_head": "5-7", "of_query": "[MASK]", "of_key": "school", "of_word": "go", "options": "go\nyesterday\nwent"}
"""What a writer fills in: every measure finds what it needs."""


def lesson_asking(kind: str, measure: str) -> Lesson:
    step = new_step("fill_mask", {"text": "Yesterday I [MASK] to school."}) | FILLED | {"kind": kind, "measure": measure}
    step["ask"] = first_ask(step)
    return read_lesson(file_of(new_draft() | {"steps": [step]}).encode())


def asked(app: AppTest) -> tuple[dict, bytes]:
    [sent] = sent_to(app, "question")
    return sent


def guess(app: AppTest, name: str, number: int = 1) -> None:
    """Fill whatever the question is answered in, and send it; a test without a browser cannot click in a row of tokens."""
    lists = [*app.selectbox, *app.radio]
    for one in lists:
        one.set_value(one.options[1])
    for one in (*app.text_input, *app.text_area):
        one.set_value("walked")
    for one in app.number_input:
        one.set_value(0.5)
    if not (lists or app.text_input or app.text_area or app.number_input):
        app.session_state[f"lesson_{sha256(name.encode()).hexdigest()[:12]}_{number}"] = asked(app)[0]["names"][1]
    next(one for one in app.button if one.label in (texts.CHECK_GUESS, texts.GIVE_ANSWER)).click().run()
    assert not app.exception


@pytest.mark.parametrize(("kind", "measure"), [(kind, measure) for kind in QUESTION_VIEWS for measure in measures_for(kind)])
def test_a_question_is_edited_asked_guessed_at_revealed_and_reported(open_app, kind: str, measure: str):
    lesson = lesson_asking(kind, measure)
    question, answer = lesson.steps[0].question, compute(lesson.steps[0])
    assert (question.kind, question.answer.measure if question.answer else "none") == (kind, measure)
    assert read_lesson(file_of(draft_of(lesson)).encode()) == lesson

    app, grid = open_app("fill_mask", **{LESSON: pack_lesson(lesson)}), QUESTION_VIEWS[kind].grid
    header, cells = asked(app)
    assert (header["values"], header["answer"], header["guess"], header["verdict"], cells) == ([], None, None, "", b"")
    assert (header["layout"], len(header["names"])) == ((grid.layout, len(answer.options)) if grid else ("none", 0))
    below = contents.page("fill_mask").question
    assert below not in [one.value for one in app.title]

    label = texts.GIVE_ANSWER if measure == "none" else texts.CHECK_GUESS  # nothing checks an opinion
    assert label in [one.label for one in app.button]
    guess(app, pack_lesson(lesson))
    [guessed] = app.session_state[GUESSES].values()
    header, cells = asked(app)
    assert guessed in header["verdict"]
    assert below in [one.value for one in app.title]
    if answer:
        assert answer.right in header["verdict"] and answer.right in reveal(question, answer)
        assert header["verdict"].endswith(MEASURE_TEXTS[measure].note)
    if grid and MEASURES[measure].of_attention:  # neither listed nor counted
        assert WITHOUT_SPECIAL in header["verdict"] and "[CLS]" not in " ".join(header["names"])
    if grid:
        assert (header["names"][header["guess"]], header["names"][header["answer"]]) == (guessed, answer.right)
        assert cells[header["answer"]] == max(cells)

    told = results(question, answer, Votes([guessed, guessed]))
    assert json.loads(json.dumps(told))["sentence"]
    assert sum(row["count"] for row in told["rows"]) == (2 if QUESTION_KINDS[kind].count else 0)
    if answer:
        assert answer.right in told["sentence"]
        assert len([row for row in told["rows"] if row["right"]]) <= 1


def test_the_tables_have_the_same_kinds_and_measures_and_the_manual_names_them():
    assert QUESTION_VIEWS.keys() == QUESTION_KINDS.keys()
    assert MEASURE_TEXTS.keys() == MEASURES.keys() == {one for kind in QUESTION_KINDS.values() for one in kind.measures}
    assert all((view.box is None) is (view.grid is not None) for view in QUESTION_VIEWS.values())
    manual = (ROOT / "assets" / "lessons" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\w+", re.search(r"kind: token +# (.*)", manual)[1].replace(" or ", " ")) == [*QUESTION_KINDS]
    assert [measure for measure in MEASURES if f"`{measure}`" not in manual] == []


def test_an_attention_weight_is_written_as_beside_the_map_and_all_else_as_percent():
    measures = ("strongest_key", "strongest_cell", "attention_weight", "more_than_half", "top_word", "head_with_largest_effect")
    assert [measured(0.9516, measure) for measure in measures] == ["0.952"] * 4 + ["95.2\u00a0%"] * 2


@pytest.mark.parametrize(
    ("value", "cell"), [(0, 0), (2, 2), (3, None), (-1, None), (True, None), ("1", None), (None, None), ([1], None), (1.0, None)]
)
def test_a_cell_that_is_not_there_is_no_choice(monkeypatch, value, cell):
    monkeypatch.setattr(
        streamlit, "session_state", {"key": {"chosen": {"value": value, "at": 1}}, "other": {}, "third": {"chosen": 3}}
    )
    assert guessed_cell("key", ("a", "b", "c")) == cell
    assert [guessed_cell(key, ("a",)) for key in ("other", "third", "fourth")] == [None] * 3
