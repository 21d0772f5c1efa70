"""A lesson while it is written: plain fields for boxes, turned into a lesson's file and back.

The file is what is checked, so that every error names a line of it.
"""

from collections.abc import Mapping
from itertools import count

import yaml

from pages import contents
from pages.lesson_editor import texts
from tx_core.classroom.lesson_file import KIND_OF_MEASURE, NEEDED_BY_MEASURE, Lesson, Step

Fields = dict[str, object]
_numbers = count(1)
"""Of drafts and steps, so that no two share their boxes."""


def new_draft() -> Fields:
    """Begin a lesson."""
    return {
        "id": next(_numbers),
        "title": texts.FIRST_TITLE,
        "language": "en",
        "level": "beginner",
        "minutes": 15,
        "about": texts.FIRST_DESCRIPTION,
        "notes": "",
        "steps": [],
    }


def new_step(page: str, view: Mapping[str, str]) -> Fields:
    """Begin a step with a view of a page; what can be told from the view is filled in."""
    return {
        "id": next(_numbers),
        "title": contents.page(page).name,
        "page": page,
        "view": dict(view),
        "text": texts.FIRST_TEXT,
        "kind": "none",
        "ask": "",
        "options": "",
        "tolerance": 0.1,
        "measure": "none",
        "then": "",
        "notes": "",
        "controls": "",
        "of_text": view.get("text", ""),
        "of_head": view.get("heads", view.get("head", "")).partition("_")[0],
        "of_query": "",
        "of_key": "",
        "of_word": "",
        "of_changes": view.get("changes", ""),
    }


def measures_for(kind: str) -> list[str]:
    """List the measures that answer a kind of question; a choice and an open question may have none."""
    fitting = [measure for measure, kinds in KIND_OF_MEASURE.items() if kind in kinds]
    return ["none", *fitting] if kind in ("choice", "open") else fitting


def boxes_of(measure: str) -> list[str]:
    """List what a measure needs to be told."""
    return ["text", *NEEDED_BY_MEASURE.get(measure, ()), "changes"] if measure != "none" else []


def file_of(draft: Fields) -> str:
    """Write the lesson's file, right or wrong."""
    fields = {name: value for name, value in draft.items() if name not in ("id", "steps") and value != ""}
    fields["steps"] = [_step(step) for step in draft["steps"]]
    return yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=110)


def _step(step: Fields) -> Fields:
    written = {name: step[name] for name in ("title", "page", "view")}
    if controls := str(step["controls"]).replace(",", " ").split():
        written["controls"] = controls
    written["text"] = step["text"]
    if step["kind"] != "none":
        written["question"] = _question(step)
    return written | {name: step[name] for name in ("then", "notes") if step[name]}


def _question(step: Fields) -> Fields:
    question: Fields = {"ask": step["ask"], "kind": step["kind"]}
    if step["kind"] == "choice":
        question["options"] = [line.strip() for line in str(step["options"]).splitlines() if line.strip()]
    if step["kind"] == "number":
        question["tolerance"] = step["tolerance"]
    if step["measure"] != "none":
        told = {name: step[f"of_{name}"] for name in boxes_of(str(step["measure"])) if step[f"of_{name}"]}
        question["answer"] = {"measure": step["measure"], **told}
    return question


def draft_of(lesson: Lesson) -> Fields:
    """Take a lesson apart, to be edited."""
    fields = {name: getattr(lesson, name) for name in ("title", "language", "level", "minutes", "about")}
    return fields | {"id": next(_numbers), "notes": lesson.notes or "", "steps": [_fields(step) for step in lesson.steps]}


def _fields(step: Step) -> Fields:
    fields = new_step(step.page, step.view)
    fields |= {"title": step.title, "text": step.text, "then": step.then or "", "notes": step.notes or ""}
    fields["controls"] = ", ".join(step.controls or ())
    if question := step.question:
        fields |= {"kind": question.kind, "ask": question.ask, "options": "\n".join(question.options)}
        fields["tolerance"] = question.tolerance
    if step.question and (measure := step.question.answer):
        fields["measure"] = measure.measure
        fields |= {f"of_{name}": getattr(measure, name) or "" for name in texts.MEASURE_BOXES}
    return fields
