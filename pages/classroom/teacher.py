"""The room of a teacher: how students come in, the step, how many have answered, the answers, and the end of the room."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial

import streamlit as st

from pages.classroom import entrance, texts
from pages.classroom.entrance import button
from pages.classroom.events import host_store, note_left
from pages.classroom.reach import reachable
from pages.classroom.results import answer_of, compare_votes, lesson_of, message, sentence_of, votes_of
from pages.classroom.student import say_closed, show_sentence, show_step_head, show_view
from pages.ui.panels.lesson_question import choices_of, compute, engine_of_step
from pages.ui.panels.question_kinds import QUESTION_VIEWS
from pages.ui.shell.address import PRESENT, is_presented, link_with, present_or_not
from pages.ui.shell.controls import download_button, qr_code
from pages.ui.shell.frame import explain
from pages.ui.stage.background_runs import attempt
from pages.ui.stage.scripts import component
from pages.ui.stage.tokens import escape_markdown
from tx_core.analysis.table_file import csv_table
from tx_core.classroom.lesson_file import Step, with_line
from tx_core.classroom.questions import count_right
from tx_core.classroom.rooms import MAX_TIMER_MINUTES, NO_TEACHER, Member, Room
from tx_core.errors import ExplorerError, RoomGone, RoomProblem

CLOSING = "classroom_closing"
"""Session entry: the code of the room that the teacher is about to close."""


def teach(code: str) -> None:
    """Show the room to its teacher. Raises RoomProblem where this session is not its teacher's."""
    token = entrance.token_of(entrance.LEAD, code)
    if not token:
        if entrance.recall(entrance.LEAD, code):  # the browser remembers no token, or a wrong one
            raise RoomProblem(NO_TEACHER)
        st.text(texts.LOOKING)
        return
    try:
        host_store().of_teacher(token)
    except RoomGone:
        say_closed(entrance.LEAD, code)
        return
    entrance.draw_room(draw_stage, code, token)


def draw_stage(code: str, token: str) -> None:
    """Draw the step and what the class says to it beside the way into the room. Raises RoomGone once it is closed."""
    room, presented = host_store().of_teacher(token), is_presented()
    lesson = lesson_of(room.source)
    step, revealed = lesson.steps[room.step - 1], room.step in room.revealed
    with st.container():  # also where there is nothing to explain: what stands below stays in its place
        entrance.show_refusal()
        if welcomes := presented and not room.students and not revealed:  # the first picture for the room: what students need
            show_entrance(room, token, is_large=True)
    stage, side = st.columns([6, 1] if presented else [5, 2], gap="large")
    with stage:
        options = () if presented and revealed else options_or_explain(room, step)
        if presented:
            place = texts.STEP.format(title=lesson.title, number=room.step, total=len(lesson.steps))
            st.text(texts.PROJECTED.format(step=place, code=room.code))
        else:
            show_step_head(lesson.title, room.step, len(lesson.steps), step)
            ask_the_room(step, options)
        with st.container(horizontal=True, vertical_alignment="center"):
            step_buttons(token, room, step)
        if presented and revealed:
            st.text(step.text)
            ask_the_room(step, ())  # below the buttons, which stay at their places
        show_answers(code, token, room, step, picture_of(step, options) if presented and not revealed else None)
    with side:
        if not welcomes:
            show_entrance(room, token)
        if not presented:
            manage(token, room)


def ask_the_room(step: Step, options: Sequence[str]) -> None:
    """Show the question, if there is one, the sentence that it is about, and what can be chosen."""
    if not step.question:
        return
    st.markdown(f"**{escape_markdown(step.question.ask)}**")
    show_sentence(step)
    if options:
        st.text(texts.OPTIONS.format(options=" · ".join(options)))


def picture_of(step: Step, options: Sequence[str]) -> dict[str, object]:
    """Return what the projector shows until the answers are revealed: each text with its role, and the options."""
    sentence = sentence_of(step)
    said = [("text", step.text), ("ask", step.question.ask)] if step.question else [("ask", step.title), ("text", step.text)]
    if sentence and sentence not in step.text:
        said.append(("about", texts.SENTENCE.format(sentence=sentence)))
    return {"said": said, "options": list(options)}


def options_or_explain(room: Room, step: Step) -> tuple[str, ...]:
    """List what can be chosen as an answer (in one line, which heads there are), or say why the model cannot tell."""
    view = QUESTION_VIEWS[step.question.kind] if step.question else None
    if view is None or view.grid is None:
        return step.question.options if step.question else ()
    try:  # heads are known without the scan that answers the question
        return (view.in_words(engine_of_step(step).info),) if view.in_words else choices_of(step).columns
    except ExplorerError as problem:
        explain(with_line(problem, room.source, room.step))
        return ()


def step_buttons(token: str, room: Room, step: Step) -> None:
    """Draw the buttons of steps, vote and timer: last those that come and go, so that a second press meets no other."""
    rooms, number = host_store(), room.step
    for label, name, icon, other in (
        (texts.PREVIOUS, "previous", "arrow_back", number - 1),
        (texts.NEXT, "next", "arrow_forward", number + 1),
    ):
        options = {"key": f"classroom_{name}", "disabled": not 1 <= other <= room.steps}
        button(label, rooms.go, token, other, icon=f":material/{icon}:", **options)
    revealed = number in room.revealed
    if step.question:
        key = f"classroom_reveal_{number}"
        button(texts.REVEAL, reveal, token, room, step, icon=":material/visibility:", key=key, disabled=revealed)
    if not is_presented():
        set_timer(token, room)
    if step.question and revealed:
        key = f"classroom_conceal_{number}"
        button(texts.HIDE_AGAIN, rooms.conceal, token, number, icon=":material/visibility_off:", key=key)
    elif step.question and number in room.discussed:
        key = f"classroom_first_{room.code}_{number}"
        switch(texts.SHOW_FIRST, room.discussed[number], key, rooms.show_first_vote, token, number)
    elif step.question:
        key = f"classroom_discuss_{number}"
        button(texts.DISCUSS, rooms.discuss, token, number, icon=":material/forum:", key=key, disabled=not room.together)


def set_timer(token: str, room: Room) -> None:
    """Draw the box in which the teacher starts the timer of a step, and stops it."""
    with st.popover(texts.TIMER, icon=":material/timer:"):
        minutes = st.number_input(texts.TIMER_MINUTES, 1, MAX_TIMER_MINUTES, 3, key="classroom_minutes")
        button(texts.START_TIMER, host_store().set_timer, token, minutes, icon=":material/timer:", key="classroom_start_timer")
        if room.timer is not None:
            button(texts.STOP_TIMER, host_store().set_timer, token, None, icon=":material/timer_off:", key="classroom_stop_timer")


def switch(label: str, is_on: bool, key: str, action: Callable[..., object], *arguments: object) -> None:
    """Draw a switch that shows a state of the room and changes it."""
    st.session_state[key] = is_on
    st.toggle(label, key=key, on_change=lambda: attempt(entrance.PAGE, action, *arguments, st.session_state[key]))


def reveal(token: str, room: Room, step: Step) -> None:
    """Compute the model's answer, show it to the room, and end the guessing. Raises ExplorerError."""
    try:
        found = compute(step)
    except ExplorerError as problem:
        raise with_line(problem, room.source, room.step) from problem
    host_store().reveal(token, room.step, asdict(found) if found else {})


def show_answers(code: str, token: str, room: Room, step: Step, picture: dict[str, object] | None) -> None:
    """Show live how many have answered, then what; and what students wrote, for the teacher alone first. picture: see
    `picture_of`.
    """
    revealed, votes = room.step in room.revealed, votes_of(host_store(), room, room.step)
    told = message(note_left(room), votes, for_teacher=True)
    pictured = {}
    if is_presented() and step.question and revealed:
        below = told["results"]["sentence"], texts.BELOW_PICTURE.format(code=room.code)
        pictured = {"step": room.step, "below": below}
    entrance.show_live(entrance.LEAD, code, token, message=told, picture=picture, pictured=pictured)
    show_view(lesson_of(room.source), room.step, room, revealed or not step.question, votes)
    if is_presented():
        return  # what follows is for the teacher alone
    if step.question:
        look_through(token, room)
    if "text" in step.view:
        choose_sentence(token, room)
    summarize(token, room)
    if step.notes:
        with st.expander(texts.NOTES):
            st.text(step.notes)


def look_through(token: str, room: Room) -> None:
    """List what was guessed, each of which the teacher can keep from the class; refused words are kept from it at first."""
    rooms, number = host_store(), room.step
    folded = st.expander(texts.WRITTEN, key="classroom_written", on_change="rerun")  # as it is when it is opened
    if not folded.open:
        return
    with folded:
        st.button(texts.REFRESH, icon=":material/refresh:", key="classroom_refresh_written")
        for place, word in enumerate(rooms.words(token, number)):
            label, icon = (
                (texts.SHOW_WORD, ":material/visibility:") if word.hidden else (texts.HIDE_WORD, ":material/visibility_off:")
            )
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text((texts.REFUSED_COUNT if word.refused else texts.WRITTEN_COUNT).format(text=word.text, count=word.count))
                change = (rooms.hide_word, token, number, word.text, not word.hidden)
                button(label, *change, icon=icon, key=f"classroom_word_{number}_{place}")


def choose_sentence(token: str, room: Room) -> None:
    """List the students' sentences, of which the teacher can show one to everyone."""
    rooms = host_store()
    folded = st.expander(texts.SENTENCES, key="classroom_sentences", on_change="rerun")
    if not folded.open:
        return
    sentences = rooms.sentences(token, room.step)
    with folded:
        st.caption(texts.LOOK_FIRST.format(count=len(sentences)) if sentences else texts.NO_SENTENCES)
        st.button(texts.REFRESH, icon=":material/refresh:", key="classroom_refresh_sentences")
        for sent in sentences:
            key = f"classroom_show_{room.step}_{sent.student}"
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"{sent.nickname}: {sent.text}" if sent.nickname else sent.text)
                if room.shown == sent.student:
                    button(texts.HIDE, rooms.show, token, None, icon=":material/visibility_off:", key=key)
                else:
                    button(texts.SHOW, rooms.show, token, sent.student, sent.text, icon=":material/visibility:", key=key)


def show_entrance(room: Room, token: str, *, is_large: bool = False) -> None:
    """Show how students come in: the code, the QR code and the link; is_large: as they must be at the back of the room."""
    link, warning = reachable(own := link_with({entrance.ROOM: room.code}))
    leads_nowhere = warning and link == own
    shown = {
        "label": texts.QR_LABEL.format(code=room.code),
        "link": texts.NOT_REACHABLE if leads_nowhere else link,
        "code": room.code if is_presented() else "",
    }
    data = shown | {"picture": qr_code(link), "large": is_large}
    show = component("qr", "qr", "qr", "qr.css", (190, 190))
    if is_presented():
        show(key="classroom_qr", data=data)
        return
    with st.container(border=True):
        st.metric(texts.CODE_FOR_STUDENTS, room.code)
        if warning:
            st.warning(warning, icon=":material/wifi_off:")
        show(key="classroom_qr", data=data)
        st.caption(texts.STUDENT_LINK)
        st.code(link, language=None, wrap_lines=True)
        switch(texts.LOCK, room.locked, f"classroom_lock_{room.code}", host_store().lock, token)
        if st.button(texts.TO_PROJECTOR, icon=":material/present_to_all:", key="classroom_present"):
            present_or_not(True)
            st.rerun()
        projector = link_with({entrance.LEAD: room.code, PRESENT: "1"})
        st.link_button(texts.PROJECTOR_WINDOW, projector, help=texts.PROJECTOR_HINT, icon=":material/open_in_new:")


def manage(token: str, room: Room) -> None:
    """Set the pace, show the secret link, save the answers, remove who is silent, and close the room."""
    rooms = host_store()
    with st.expander(texts.MANAGE):
        paces, key = (texts.TOGETHER, texts.OWN), f"classroom_pace_{room.code}"
        st.session_state.setdefault(key, paces[not room.together])
        act = partial(attempt, entrance.PAGE, lambda: rooms.set_pace(token, st.session_state[key] != texts.OWN))
        st.radio(texts.PACE, paces, key=key, on_change=act)
        st.caption(texts.SECRET_LINK)
        st.code(link_with({entrance.SECRET: token}), language=None, wrap_lines=True)
        download_button(texts.EXPORT, partial(answers_csv, token), f"room-{room.code}.csv")
        remove_students(token)
        close_room(token, room)


def remove_students(token: str) -> None:
    """List who is here, and remove one student, all who came since, or all who have sent nothing."""
    members = host_store().members(token)

    def name(member: Member | None) -> str:
        if member is None:
            return texts.SILENT.format(count=sum(one.is_silent for one in members))
        return (texts.MEMBER_NAMED if member.nickname else texts.MEMBER).format(**member._asdict())

    chosen = st.selectbox(texts.WHO, [None, *members], format_func=name, key="classroom_member")
    remove = (host_store().remove, token, chosen and chosen.id)
    button(texts.REMOVE, *remove, icon=":material/person_remove:", help=texts.REMOVE_HINT, key="classroom_remove")
    if chosen:
        later, since = sum(one.id >= chosen.id for one in members), (host_store().remove_since, token, chosen.id)
        label = texts.REMOVE_SINCE.format(number=chosen.number, count=later)
        button(label, *since, icon=":material/group_remove:", help=texts.REMOVE_HINT, key="classroom_remove_since")


def close_room(token: str, room: Room) -> None:
    """Offer to close the room, after a confirmation that names what is lost."""
    if st.session_state.get(CLOSING) != room.code:
        st.button(texts.CLOSE, on_click=st.session_state.update, args=({CLOSING: room.code},), icon=":material/delete:")
        return
    st.text(texts.CLOSE_QUESTION)
    st.button(texts.KEEP, on_click=st.session_state.update, args=({CLOSING: ""},))
    if st.button(texts.CLOSE_SURE, icon=":material/delete_forever:"):
        host_store().close(token)
        st.rerun()


def summary_rows(token: str) -> list[tuple[object, ...]]:
    """Return for every question whose answer is revealed: step, question, answers, the share that is right; and of those who
    voted twice: how many, their shares before and after the discussion, the gain."""
    rooms, rows = host_store(), []
    room = rooms.of_teacher(token)
    for number, step in enumerate(lesson_of(room.source).steps, 1):
        if number not in room.revealed:
            continue
        answer, votes = answer_of(room, number), votes_of(rooms, room, number)
        right, compared = count_right(step.question, answer, votes.last), compare_votes(step.question, answer, votes)
        count, before, after, gain = compared or (None, None, None, None)
        rounded = partial(map, lambda share: None if share is None else round(share, 3))
        of_all = [right / len(votes.last) if right is not None and votes.last else None]
        of_both = [before / count, after / count, gain] if count else [None] * 3
        rows.append((number, step.question.ask, len(votes.last), *rounded(of_all), count, *rounded(of_both)))
    return rows


def summarize(token: str, room: Room) -> None:
    """Show and save how many were right at every question, and what a discussion gained."""
    with st.expander(texts.SUMMARY, expanded=room.step == room.steps):
        rows = summary_rows(token)
        if not rows:
            st.caption(texts.NOTHING_REVEALED)
            return
        shown = [["–" if cell is None else escape_markdown(str(cell)) for cell in row] for row in rows]
        st.table([dict(zip(texts.SUMMARY_COLUMNS, row, strict=True)) for row in shown])
        download_button(texts.SUMMARY_FILE, partial(summary_csv, token), f"room-{room.code}-summary.csv")


def summary_csv(token: str) -> bytes:
    """Write the summary of a room as CSV."""
    return csv_table({}, texts.SUMMARY_COLUMNS, summary_rows(token))


def answers_csv(token: str) -> bytes:
    """Write every answer of a room as CSV; a text that a spreadsheet would take for a formula gets a ' before it."""
    room = host_store().of_teacher(token)
    steps, rows = lesson_of(room.source).steps, []
    for number, step, nickname, guess, sentence, first in host_store().export(token):
        question = steps[step - 1].question
        model = room.revealed.get(step, {}).get("right")
        answer = first if guess is None else guess  # a vote stands unless it is changed
        rows.append((number, nickname, step, question.ask if question else None, answer, model, sentence, first))
    return csv_table({}, texts.COLUMNS, rows)
