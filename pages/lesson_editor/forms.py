"""The boxes in which a lesson is written; what they hold is kept in the draft, also while the reader is on another page."""

from collections.abc import Mapping
from zlib import crc32

import streamlit as st
from pydantic import ValidationError

from pages import contents
from pages.lesson_editor import texts
from pages.lesson_editor.draft import (
    Fields,
    ask_box_name,
    box_name,
    boxes_of,
    first_ask,
    is_first_ask,
    measures_for,
    new_step,
    question_of,
    remember_draft,
)
from pages.ui.panels.lesson import PAGES_WITH_VIEW
from pages.ui.panels.lesson_question import compute, engine_of_step, reveal
from pages.ui.panels.step import show_step_stage
from pages.ui.shell import cache
from pages.ui.shell.address import page_view
from pages.ui.shell.level import LEVEL_NOW
from pages.ui.stage.changes import describe_change
from pages.ui.stage.tokens import escape_markdown
from tx_core.classroom.lesson_file import DIFFICULTIES, MAX_LONG, MAX_STEPS, Step
from tx_core.classroom.measures import MAX_SHORT, distinct_names
from tx_core.classroom.questions import QUESTION_KINDS
from tx_core.errors import ExplorerError
from tx_core.transformer.interventions import read_interventions
from tx_core.transformer.trace import Trace

CHOSEN, ADDED, LOOKED_AT = "lesson_editor_chosen", "lesson_editor_added", "lesson_editor_looked_at"
"""Session entries: the id of the step on the screen; the box of the page of a new one; the step looked at last, and its view."""


def ask_about(draft: Fields) -> None:
    """Draw the boxes of the lesson itself: title, and what else a file says of it."""
    name = box_name(draft["id"])
    _line(draft, "title", texts.TITLE, name)
    with st.expander(texts.ABOUT, key=f"{name}_about_opened"):
        language, difficulty, minutes = st.columns(3)
        with language:
            _line(draft, "language", texts.LANGUAGE, name, help=texts.LANGUAGE_HELP)
        with difficulty:
            place = DIFFICULTIES.index(draft["level"])
            draft["level"] = st.selectbox(texts.DIFFICULTY, DIFFICULTIES, place, key=f"{name}_level")
        with minutes:
            draft["minutes"] = st.number_input(texts.MINUTES, 1, 600, draft["minutes"], key=f"{name}_minutes")
        _lines(draft, "about", texts.DESCRIPTION, name)
        _lines(draft, "recap", texts.RECAP, name)
        _lines(draft, "notes", texts.NOTES, name)


def ask_steps(draft: Fields) -> dict[int, ExplorerError]:
    """Draw the steps, and of the chosen one its stage and its words; return why the model cannot answer some, by step number."""
    steps = draft["steps"]
    left, middle, right = st.columns([2, 6, 4], gap="medium")
    with left:
        place = _choose_step(steps)
    if place is None:
        middle.text(texts.NO_STEPS)
        middle.caption(texts.HOW_TO_ADD)
        return {}
    with middle:
        _look_at(steps[place])
    with right:
        _ask_step(steps[place], place + 1)
    problems = {number: _answer_to(step)[1] for number, step in enumerate(steps, 1)}
    return {number: problem for number, problem in problems.items() if problem}


def _choose_step(steps: list[Fields]) -> int | None:
    """List the steps, to be chosen, moved, removed and added to; return the place of the chosen one."""
    names = [step["id"] for step in steps]
    seen = st.session_state.get(f"{CHOSEN}_seen", [])
    new = [name for name in names if name not in seen]
    if names and (st.session_state.get(CHOSEN) not in names or (seen and new)):
        st.session_state[CHOSEN] = new[-1] if seen and new else names[0]
    elif names:  # set again: a list with another title is another one to Streamlit, which would begin with the first step
        st.session_state[CHOSEN] = st.session_state[CHOSEN]
    st.session_state[f"{CHOSEN}_seen"] = names
    place = None
    if names:
        titles = {step["id"]: f"{number}. {step['title']}" for number, step in enumerate(steps, 1)}
        st.radio(texts.STEPS, names, format_func=lambda name: escape_markdown(titles[name]), key=CHOSEN)
        place = names.index(st.session_state[CHOSEN])
        moves = ((texts.UP, "arrow_upward", place - 1), (texts.DOWN, "arrow_downward", place + 1))
        with st.container(horizontal=True):
            for label, icon, other in moves:
                act = {"on_click": move_step, "args": (steps, names[place], other), "disabled": not 0 <= other < len(steps)}
                st.button(label, key=f"lesson_editor_{icon}", icon=f":material/{icon}:", **act)
            remove = {"on_click": remove_for_good, "args": (steps, names[place])}
            st.button(texts.REMOVE, key="lesson_editor_remove", icon=":material/delete:", **remove)

    def add() -> None:
        if page := st.session_state[ADDED]:
            steps[:] = [*steps, new_step(page, {})][:MAX_STEPS]
            st.session_state[CHOSEN], st.session_state[ADDED] = steps[-1]["id"], None

    st.selectbox(
        texts.ADD_STEP,
        PAGES_WITH_VIEW,
        None,
        format_func=lambda page: contents.page(page).name,
        key=ADDED,
        on_change=add,
        placeholder=texts.CHOOSE_PAGE,
    )
    return place


def _look_at(step: Fields) -> None:
    """Draw the stage of a step: as it is looked at, students will see it."""
    shown = Step.model_construct(page=step["page"], view=step["view"], controls=None, question=None)
    view = show_step_stage(shown, step["id"], st.session_state[LEVEL_NOW], follows=True)
    before = st.session_state.get(LOOKED_AT, ("", {}))
    if not step["view"]:  # a new step
        step |= {name: value for name, value in new_step(step["page"], view).items() if name.startswith("of_") or name == "view"}
    elif before[0] == step["id"] and before[1] != view:
        follow_view(step, view)
    st.session_state[LOOKED_AT] = (step["id"], view)


def follow_view(step: Fields, view: Mapping[str, str]) -> None:
    """Set another view of a step; what its answer is measured on follows where it was what the view showed."""
    page, name = str(step["page"]), box_name(step["id"])
    shown, now = new_step(page, step["view"]), new_step(page, view)
    boxes = {"of_text": f"{name}_of_text", "of_head": f"{name}_of_head", "of_changes": changes_box(name)}
    for field, box in boxes.items():
        if step[field] == shown[field] != now[field]:
            step[field] = now[field]
            st.session_state[box] = now[field] if field != "of_changes" else bool(now[field])
    step["view"] = dict(view)


def move_step(steps: list[Fields], step: object, place: int) -> None:
    """Move the step of this id to a place. A second click, made before the page has answered the first, changes nothing."""
    moved = [one for one in steps if one["id"] == step]
    remove_step(steps, step)
    steps[place:place] = moved


def remove_step(steps: list[Fields], step: object) -> None:
    """Remove the step of this id, if it is still there."""
    steps[:] = [one for one in steps if one["id"] != step]


def remove_for_good(steps: list[Fields], step: object) -> None:
    """Remove a step after storing the draft for undo."""
    remember_draft()
    remove_step(steps, step)


def _ask_step(step: Fields, number: int) -> None:
    name = box_name(step["id"])
    _line(step, "title", texts.STEP_TITLE.format(number=number), name)
    _lines(step, "text", texts.STEP_TEXT.format(number=number), name)
    kinds = list(texts.KINDS)
    step["kind"] = st.selectbox(
        texts.KIND.format(number=number), kinds, kinds.index(step["kind"]), format_func=texts.KINDS.get, key=f"{name}_kind"
    )
    if step["kind"] == "none":
        step["measure"] = "none"
    else:
        _ask_question(step, number, name)
    with st.expander(texts.MAY_USE, key=f"{name}_may_use"):
        _ask_controls(step, name)
    with st.expander(texts.MORE, key=f"{name}_more"):
        _lines(step, "then", texts.THEN.format(number=number), name)
        waits = st.checkbox(texts.DONE_BY_CHANGE.format(number=number), step["done"] == "change", key=f"{name}_done")
        step["done"] = "change" if waits else ""
        _lines(step, "notes", texts.STEP_NOTES.format(number=number), name)


def _ask_controls(step: Fields, name: str) -> None:
    """Ask what students may use in a step: a tick for each control of its page, all at first."""
    fields = page_view(str(step["page"])).fields.all
    before = step["controls"]
    known = list(dict.fromkeys([*(field.name for field in fields if field.name in texts.CONTROL_NAMES), *(before or ())]))

    def is_ticked(control: str) -> bool:
        label, is_first = texts.CONTROL_NAMES.get(control, control), before is None or control in before
        return st.checkbox(label, is_first, key=f"{name}_may_use_{control}")

    ticked = [control for control in known if is_ticked(control)]
    step["controls"] = None if ticked == known else ticked


def _ask_question(step: Fields, number: int, name: str) -> None:
    asked = st.container()  # filled last: the question names what is chosen below it
    fields = QUESTION_KINDS[str(step["kind"])].fields
    if "options" in fields:
        _lines(step, "options", texts.OPTIONS.format(number=number), name)
    if "tolerance" in fields:
        label = texts.TOLERANCE.format(number=number)
        step["tolerance"] = st.number_input(label, 0.0, 1e6, float(step["tolerance"]), key=f"{name}_tolerance")
    fitting = measures_for(str(step["kind"]))
    if step["measure"] not in fitting:
        step["measure"] = fitting[0] if fitting else "none"
    if len(fitting) > 1:
        step["measure"] = st.selectbox(
            texts.MEASURE.format(number=number),
            fitting,
            fitting.index(step["measure"]),
            format_func=texts.MEASURES.get,
            key=f"{name}_measure_{step['kind']}",
        )
    _ask_measured(step, number, name)
    with asked:
        _ask(step, number)
    _show_answer(step, number)


def _ask(step: Fields, number: int) -> None:
    """Draw the box of the question's text; a suggested one follows what is chosen."""
    key = f"{ask_box_name(step)}_ask"
    written = st.session_state.get(key, step["ask"] or first_ask(step))  # a box that the writer has emptied stays empty
    st.session_state[key] = first_ask(step) if written and is_first_ask(str(written)) else written
    step["ask"] = st.text_input(texts.ASK.format(number=number), max_chars=MAX_SHORT, key=key) or ""


def _ask_measured(step: Fields, number: int, name: str) -> None:
    """Ask what the model's answer is measured on; tokens are chosen among those of the text."""
    for box in boxes_of(str(step["measure"])):
        if box == "changes":
            _ask_changes(step, name)
            continue
        label = texts.MEASURE_BOXES[box].format(number=number)
        tokens = _tokens(step) if box in ("query", "key") else []
        if not tokens:
            _line(step, f"of_{box}", label, name)
            continue
        place = tokens.index(step[f"of_{box}"]) if step[f"of_{box}"] in tokens else None
        key = f"{name}_of_{box}_{crc32(str(step['of_text']).encode())}"  # another text has other tokens
        step[f"of_{box}"] = st.selectbox(label, tokens, place, key=key, placeholder=texts.CHOOSE_TOKEN) or ""


def _trace_of(step: Fields) -> Trace | None:
    """Run the text that a question is about; None where the model cannot read it."""
    try:
        shown = Step.model_validate({"title": "-", "text": "-", "page": step["page"], "view": step["view"]})
        return cache.trace_with(engine_of_step(shown), str(step["of_text"]))
    except (ExplorerError, ValidationError):
        return None


def _tokens(step: Fields) -> list[str]:
    """Return token labels of the text that a question is about; empty where the model cannot read it."""
    trace = _trace_of(step)
    return distinct_names(trace.attention.key_tokens.tokens) if trace else []


def changes_box(name: str) -> str:
    """Return the key of the box that says whether the model answers with the changes of the view. name: of the step's boxes."""
    return f"{name}_of_changes_on"


def _ask_changes(step: Fields, name: str) -> None:
    """Ask whether the model answers with what is changed in the view, such as a head that is switched off, in words."""
    written, trace = step["view"].get("changes") or step["of_changes"], _trace_of(step)
    if not written or trace is None:
        return
    try:
        said = "; ".join(describe_change(change, trace.stacks) for change in read_interventions(str(written)))
    except ValueError:
        said = str(written)
    ticked = st.checkbox(
        escape_markdown(texts.MEASURE_BOXES["changes"].format(changes=said)),
        bool(step["of_changes"]),
        key=changes_box(name),
    )
    step["of_changes"] = written if ticked else ""


def _answer_to(step: Fields) -> tuple[str, ExplorerError | None]:
    """Return the model's answer to the question of a step in words, "" while it is incomplete, or why there is none."""
    if step["kind"] == "none":
        return "", None
    try:
        view = {name: step[name] for name in ("page", "view")}
        written = Step.model_validate({"title": "-", "text": "-", "question": question_of(step)} | view)
        answer = compute(written)
    except ValidationError:
        return "", None  # the line of the file is said below
    except ExplorerError as problem:
        return "", problem
    if answer is None:
        return "", None
    said = texts.ANSWER.format(answer=reveal(written.question, answer))
    options = [option.casefold() for option in written.question.options]
    if options and answer.right.casefold() not in options:
        said = f"{said} {texts.NOT_AN_OPTION.format(answer=answer.right)}"
    return said, None


def _show_answer(step: Fields, number: int) -> None:
    """Show the model's answer to the question, or why there is none."""
    said, problem = _answer_to(step)
    if problem:
        st.markdown(f":orange[:material/info:] **{texts.NO_ANSWER.format(number=number)}**")
    if said or problem:
        st.text(said or str(problem))


def _line(fields: Fields, field: str, label: str, name: str, *, help: str | None = None) -> None:
    """Draw a box of one line for a field of the draft, and keep what it holds."""
    fields[field] = st.text_input(label, fields[field], MAX_SHORT, key=f"{name}_{field}", help=help) or ""


def _lines(fields: Fields, field: str, label: str, name: str) -> None:
    """Draw a box of several lines for a field of the draft, and keep what it holds."""
    fields[field] = st.text_area(label, fields[field], height=90, max_chars=MAX_LONG, key=f"{name}_{field}") or ""
