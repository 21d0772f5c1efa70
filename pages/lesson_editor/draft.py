"""A lesson while it is written: plain fields for boxes, turned into a lesson's file and back, and kept.

The file is what is checked, so that every error names a line of it. The browser keeps a copy of the draft, for a reload or
another server; a draft that was replaced comes back.
"""

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from types import NoneType

import streamlit as st
import yaml

from pages import contents
from pages.lesson_editor import texts
from pages.ui.panels.lesson import PAGES_WITH_VIEW
from pages.ui.panels.question_kinds import MEASURE_TEXTS, QUESTION_VIEWS
from pages.ui.shell.address import ADDED_VIEWS, DRAFT
from pages.ui.shell.frame import new_id
from pages.ui.stage.scripts import component
from tx_core.classroom.lesson_file import DIFFICULTIES, MAX_STEPS, Lesson, Step
from tx_core.classroom.measures import MAX_SHORT, MEASURES
from tx_core.classroom.questions import QUESTION_KINDS

Fields = dict[str, object]
KNOWN = {"level": DIFFICULTIES, "kind": texts.KINDS, "measure": texts.MEASURES}
"""The fields with one of a few values, and these."""
OTHER_TYPES = {"tolerance": (int, float), "controls": (list, NoneType)}
"""Of fields whose first value has another type. `controls`: None where students may use all."""


def new_draft() -> Fields:
    """Return an empty lesson."""
    return {
        "id": new_id(),
        "title": texts.FIRST_TITLE,
        "language": "en",
        "level": "beginner",
        "minutes": 15,
        "about": texts.FIRST_DESCRIPTION,
        "recap": "",
        "notes": "",
        "steps": [],
    }


def new_step(page: str, view: Mapping[str, str], name: str = "") -> Fields:
    """Return a step with a view of a page, filled in from the view where possible. name: of the step, new if empty."""
    return {
        "id": name or new_id(),
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
        "done": "",
        "notes": "",
        "controls": None,
        "of_text": view.get("text", ""),
        "of_head": view.get("heads", view.get("head", "")).partition("_")[0],
        "of_query": "",
        "of_key": "",
        "of_word": "",
        "of_changes": view.get("changes", ""),
    }


def measures_for(kind: str) -> list[str]:
    """List the measures that answer a kind of question, "none" among them where it may do without."""
    answered = QUESTION_KINDS[kind]
    return [*([] if answered.needs_answer else ["none"]), *answered.measures]


def boxes_of(measure: str) -> list[str]:
    """List the inputs that a measure needs."""
    return ["text", *MEASURES[measure].needs, "changes"] if measure in MEASURES else []


def file_of(draft: Fields) -> str:
    """Return the lesson's YAML source, valid or not."""
    fields = {name: value for name, value in draft.items() if name not in ("id", "steps") and value != ""}
    fields["steps"] = [_step(step) for step in draft["steps"]]
    return yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=110)


def _step(step: Fields) -> Fields:
    fields = step | {"question": question_of(step) if step["kind"] != "none" else None}
    return {name: fields[name] for name in Step.model_fields if fields[name] not in ("", None)}


def question_of(step: Fields) -> Fields:
    """Return the question of a step as its file has it."""
    question: Fields = {"ask": step["ask"], "kind": step["kind"]}
    fields = QUESTION_KINDS[str(step["kind"])].fields
    if "options" in fields:
        question["options"] = [line.strip() for line in str(step["options"]).splitlines() if line.strip()]
    if "tolerance" in fields:
        question["tolerance"] = step["tolerance"]
    if step["measure"] != "none":
        told = {name: step[f"of_{name}"] for name in boxes_of(str(step["measure"])) if step[f"of_{name}"]}
        question["answer"] = {"measure": step["measure"], **told}
    return question


def first_ask(step: Fields) -> str:
    """Return a suggested question for a step: it names what the writer has chosen."""
    ask, measure = "", str(step["measure"])
    if measure in MEASURES and all(step[f"of_{name}"] for name in MEASURES[measure].needs):
        ask = MEASURE_TEXTS[measure].ask.format(**{name: step[f"of_{name}"] for name in MEASURES[measure].needs})
    return ask if 0 < len(ask) <= MAX_SHORT else QUESTION_VIEWS[str(step["kind"])].first_ask


def is_first_ask(ask: str) -> bool:
    """Return whether a question is a suggested one, whatever token or head it names."""
    suggested = [
        *(said.ask for said in MEASURE_TEXTS.values() if said.ask),
        *(view.first_ask for view in QUESTION_VIEWS.values()),
    ]
    return any(re.fullmatch(re.sub(r"\\{\w+\\}", ".*", re.escape(template)), ask) for template in suggested)


def draft_of(lesson: Lesson) -> Fields:
    """Return a lesson as fields for the editor."""
    written = lesson.model_dump(mode="json", exclude_none=True)
    return new_draft() | written | {"steps": [_fields(**step) for step in written["steps"]]}


def _fields(page: str, view: Fields, question: Fields | None = None, **said: object) -> Fields:
    fields, asked = new_step(page, view) | said, question or {"options": []}
    fields |= asked | {"options": "\n".join(asked["options"])}
    if answer := fields.pop("answer", None):
        fields |= {"measure": answer["measure"]} | {f"of_{name}": answer.get(name, "") for name in texts.MEASURE_BOXES}
    return fields


def restored_draft(kept: object) -> Fields | None:
    """Return a draft that a browser kept; None where it is none, or one of another version."""
    steps = kept.get("steps") if isinstance(kept, Mapping) else None
    if not (has_fields(kept, new_draft()) and all(has_fields(step, new_step("attention", {})) for step in steps)):
        return None
    return dict(kept) | {"steps": [dict(step) for step in steps[:MAX_STEPS]]}


def has_fields(kept: object, fields: Fields) -> bool:
    """Return whether a browser kept all these fields with values that the editor knows, and a page that a step may show."""
    if not isinstance(kept, Mapping) or kept.get("page", PAGES_WITH_VIEW[0]) not in PAGES_WITH_VIEW:
        return False
    types = {name: OTHER_TYPES.get(name, type(value)) for name, value in fields.items()}
    has_types = all(isinstance(kept.get(name), types[name]) for name in fields)
    return has_types and all(kept[name] in known for name, known in KNOWN.items() if name in fields)


def box_name(name: object) -> str:
    """Return the key prefix of the widgets of a draft or a step. name: its id."""
    return f"lesson_editor_{name}"


def ask_box_name(step: Mapping[str, object]) -> str:
    """Return the key prefix of a step's question box: another for each kind, which suggests a question of its own."""
    return f"{box_name(step['id'])}_{step.get('kind')}"


KEEPER = "lesson_editor_keeper"
SEEN, MAX_SEEN = "lesson_editor_seen", 500
"""Session entry of the ids of views that became steps: one that the writer removed does not come back."""
ADDED: Fields = {"id": "", "page": "", "view": {}}
"""What a browser keeps of a view that was added on another page."""
KNOWN_DRAFT, RESTORED, REPLACED = "lesson_editor_known", "lesson_editor_restored", "lesson_editor_replaced"
"""Session entries: the browser has been asked what it keeps; its draft was taken; the draft before the last large change."""


def current_draft() -> Fields:
    """Return the lesson that this visitor writes, with the views that were added to it on other pages."""
    draft = st.session_state.setdefault(DRAFT, new_draft())
    add_steps(draft, [new_step(one["page"], one["view"], one["id"]) for one in st.session_state.pop(ADDED_VIEWS, ())])
    return draft


def add_steps(draft: Fields, steps: list[Fields]) -> None:
    """Add steps at the end of a draft, each view once."""
    seen = st.session_state.get(SEEN, [])
    new = [step for step in steps if step["id"] not in {*seen, *(one["id"] for one in draft["steps"])}]
    draft["steps"][:] = [*draft["steps"], *new][:MAX_STEPS]
    st.session_state[SEEN] = [*seen, *(step["id"] for step in new)][-MAX_SEEN:]


def keep_in_browser(draft: Fields) -> None:
    """Keep the draft in the browser until its tab is closed; in a new session, restore it from there."""
    seen = [*st.session_state.get(SEEN, []), *(step["id"] for step in draft["steps"])]
    data = {"draft": draft, "refused": texts.NOT_KEPT, "fresh": not st.session_state.get(KNOWN_DRAFT), "seen": seen}
    keeper = component("lesson_keeper", "keeper", "lesson-keeper")
    keeper(key=KEEPER, data=json.loads(json.dumps(data)), on_report_change=restore_from_report)


def restore_from_report() -> None:
    """Restore what the browser kept of an earlier session: the draft, and views not yet added as steps."""
    keeper = st.session_state.get(KEEPER)
    report = keeper.get("report") if isinstance(keeper, Mapping) else None
    report = report if isinstance(report, Mapping) else {}
    if not st.session_state.get(KNOWN_DRAFT):
        st.session_state[KNOWN_DRAFT] = True
        if restored := restored_draft(report.get("draft")):
            merge_draft(restored)
    views = report.get("views")
    added = [one for one in views if has_fields(one, ADDED)] if isinstance(views, list) else []
    add_steps(st.session_state.setdefault(DRAFT, new_draft()), [new_step(one["page"], one["view"], one["id"]) for one in added])


def merge_draft(restored: Fields) -> None:
    """Continue the restored draft, with the steps that this session has added meanwhile."""
    kept = {step["id"] for step in restored["steps"]}
    begun = [step for step in st.session_state.get(DRAFT, {}).get("steps", []) if step["id"] not in kept]
    st.session_state[RESTORED] = restored != new_draft() | {"id": restored["id"]}
    restored["steps"] = [*restored["steps"], *begun][:MAX_STEPS]
    st.session_state[DRAFT] = restored


def replace_draft(draft: Fields) -> None:
    """Replace the draft; the previous one can be restored."""
    remember_draft()
    st.session_state[DRAFT] = draft


def remember_draft() -> None:
    """Store the draft for undo, before a large part of it is removed."""
    st.session_state[REPLACED] = deepcopy(st.session_state[DRAFT])
    st.session_state.pop(RESTORED, None)


def bring_back() -> None:
    """Restore the draft that was replaced last; the present one can be restored in its turn."""
    before = st.session_state.pop(REPLACED)
    remember_draft()
    st.session_state[DRAFT] = before


def say_what_is_kept() -> None:
    """Show that a draft was restored from the browser, and offer to undo the last large change."""
    if st.session_state.get(RESTORED):
        st.caption(f":material/restore: {texts.RESTORED}")
    if REPLACED in st.session_state:
        st.button(texts.BRING_BACK, key="lesson_editor_bring_back", icon=":material/undo:", on_click=bring_back)
