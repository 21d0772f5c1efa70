"""What a browser kept of a draft comes back as it was, and nothing else does, whoever sent it."""

import json

import pytest

from pages.lesson_editor import draft
from pages.lesson_editor.draft import draft_of, file_of, new_draft, new_step, restored_draft
from pages.ui.panels import lesson
from pages.ui.shell.address import DRAFT
from pages.ui.shell.frame import new_id
from tx_core.classroom.lesson_file import read_lesson


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    state: dict[str, object] = {}
    monkeypatch.setattr(draft.st, "session_state", state)
    return state


@pytest.mark.parametrize("name", lesson.shipped_names())
def test_a_draft_of_a_lesson_comes_back_from_the_browser_and_from_its_file_as_it_was(name: str):
    draft = draft_of(lesson.shipped_lesson(name))
    assert restored_draft(json.loads(json.dumps(draft))) == draft
    assert read_lesson(file_of(draft).encode()) == lesson.shipped_lesson(name)


def test_a_draft_of_another_version_is_none():
    step = new_step("attention", {"text": "One."})
    whole = new_draft() | {"steps": [step]}
    assert restored_draft(whole) == whole
    steps = ({}, step | {"page": "words"}, step | {"kind": "gone"})
    for broken in ({}, whole | {"minutes": None}, whole | {"level": "gone"}, *(whole | {"steps": [one]} for one in steps)):
        assert restored_draft(broken) is None


def report(session: dict[str, object], **kept: object) -> None:
    session[draft.KEEPER] = {"report": {"draft": None, "views": []} | kept}
    draft.restore_from_report()


def test_a_new_session_takes_over_the_draft_and_the_views_that_were_added(session):
    kept = new_draft() | {"title": "Kept"}
    kept["steps"] = [new_step("attention", {"text": "One."})]
    new, waiting = new_step("masks", {}), {"id": new_id(), "page": "fill_mask", "view": {"text": "A [MASK]."}}
    session[DRAFT] = new_draft() | {"steps": [new]}
    report(session, draft=kept, views=[waiting, {"id": "forged"}])
    assert session[DRAFT]["title"] == "Kept"
    assert [step["page"] for step in session[DRAFT]["steps"]] == ["attention", "masks", "fill_mask"]
    report(session, draft=new_draft() | {"title": "Again"}, views=[waiting])
    assert session[DRAFT]["title"] == "Kept"
    assert len(session[DRAFT]["steps"]) == 3


@pytest.mark.parametrize("reported", [None, 5, [], {"draft": [], "views": {}}, {"views": [None, 5, {}]}])
def test_a_forged_report_changes_nothing(session, reported: object):
    session[draft.KEEPER] = {"report": reported}
    draft.restore_from_report()
    assert session[DRAFT]["steps"] == []
