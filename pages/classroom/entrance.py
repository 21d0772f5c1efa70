"""Enter a room: by its code or link as a student, by opening it or by the secret link as its teacher.

Tokens stand in the session and in the browser's storage. That of a secret link is taken out of the address, which a projector may
show to everybody.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from pages import contents
from pages.classroom import texts
from pages.classroom.events import EVENTS, STATE, host_store
from pages.ui.panels.lesson import OWN_LESSONS, find_lesson, lesson_source, names_in_order, shipped_names
from pages.ui.panels.question_view import class_view
from pages.ui.shell.address import FOR_CLASS, LEAD, LOCK, PRESENT, ROOM, TICKET, set_values
from pages.ui.shell.admission import own_address
from pages.ui.shell.frame import explain
from pages.ui.shell.level import LEVEL, level_in_link
from pages.ui.stage.background_runs import attempt, show_problem
from tx_core.classroom.room_database import NO_DATABASE
from tx_core.classroom.rooms import MAX_NICKNAME_CHARACTERS
from tx_core.errors import ExplorerError, RoomGone, RoomProblem
from tx_core.settings import host_settings

SECRET = "teacher"
"""Query parameter of the secret link, which is taken out of the address."""
TOKENS = "classroom_tokens"
"""Session entry of the tokens: by role and code of the room."""
OPENED = "classroom_opened"
"""Session entry of the role and the room that each ticket of a launch has opened here."""
PAGE = "classroom"
JOINING = "classroom_joining"
"""Session entry of the code of the room that this visitor has just typed, and so joins without another click."""
NOTHING_REMEMBERED = "nothing"
"""What the browser answers where it remembers no token."""
RETRY_SECONDS = 3.0
"""Between two looks at a database that is away."""
MAX_ROOMS_BACK = 6
"""Rooms of a browser that are looked for at the entrance."""
MAX_TOKEN_CHARACTERS = 100


def token_of(role: str, code: str) -> str:
    """Return the token of this session for a role in a room; "" where there is none."""
    return st.session_state.get(TOKENS, {}).get((role, code), "")


def keep_token(role: str, code: str, token: str) -> None:
    """Keep a token for this session; an empty one forgets it."""
    st.session_state.setdefault(TOKENS, {})[role, code] = token[:MAX_TOKEN_CHARACTERS]
    st.session_state.pop(JOINING, None)


def storage_key(role: str, code: str) -> str:
    """Return the key in the browser's storage under which a token is kept."""
    return f"attention-explorer-{role}-{code}"


def accept_secret_link() -> None:
    """Move the token of a teacher's link from the address into the session. Raises RoomProblem where it opens no room."""
    token = st.query_params.get(SECRET, "")
    if not token:
        return
    room = host_store().of_teacher(token[:MAX_TOKEN_CHARACTERS])
    keep_token(LEAD, room.code, token)
    lead_to(LEAD, room.code)


def accept_launch() -> None:
    """Move what a learning platform's launch led here with from the address into the session. Raises RoomProblem."""
    if host_settings().lti_file is None or TICKET not in st.query_params:
        return
    from pages.classroom import lti  # with packages that a host without platforms need not have

    opened, ticket = st.session_state.setdefault(OPENED, {}), st.query_params[TICKET]
    if ticket not in opened:  # this session may run once more before the browser has its new address
        role, code, token = lti.open_ticket(ticket)
        keep_token(role, code, token)
        opened[ticket] = (role, code)
    lead_to(*opened[ticket])


def lead_to(role: str, code: str, **more: str) -> None:
    """Write the address of a room; whether it is shown to a room and the level stay in it. more: further parameters."""
    kept = {name: st.query_params[name] for name in (PRESENT, LEVEL) if name in st.query_params}
    st.query_params.from_dict({role: code} | kept | more)


def recall(role: str, code: str) -> bool:
    """Ask the browser for the token that it remembers for a room; the page runs again with it, or its absence. True if there is
    none.
    """
    key = f"classroom_recall_{role}_{code}"
    waits = NOTHING_REMEMBERED if role == LEAD or JOINING in st.session_state else ""
    data = {"recall": storage_key(role, code), "otherwise": waits, "texts": texts.LIVE_TEXTS}
    found = class_view()(key=key, data=data, on_recalled_change=lambda: None).recalled
    if found == NOTHING_REMEMBERED or st.session_state.get(f"{key}_used") == found:
        return isinstance(found, str)
    if isinstance(found, str) and found and not token_of(role, code):
        st.session_state[f"{key}_used"] = found
        keep_token(role, code, found)
        st.rerun()
    return False


@st.fragment
def draw_room(draw: Callable[[str, str], None], code: str, token: str) -> None:
    """Draw the room of a member; the page runs again once it is closed."""
    try:
        draw(code, token)
    except RoomGone:
        st.rerun()
    except ExplorerError as problem:
        explain_or_wait(problem)


def explain_or_wait(problem: ExplorerError) -> None:
    """Show why the page cannot be shown; where its database is away, the page comes back by itself."""
    explain(problem)
    if str(problem) == NO_DATABASE:
        wait_for_database()


@st.fragment(run_every=RETRY_SECONDS)
def wait_for_database() -> None:
    """Run the page again once the database of the rooms answers."""
    if has_database():
        st.rerun()


def has_database() -> bool:
    """Return whether the database of the rooms answers: a token that is none leads to no room."""
    try:
        host_store().find_member("")
    except RoomProblem as problem:
        return isinstance(problem, RoomGone)
    return True


def draw_or_explain(draw: Callable[..., None], *arguments: object) -> None:
    """Draw a part of the page, or say why it cannot be shown: the rest goes on. Raises RoomGone."""
    try:
        draw(*arguments)
    except RoomGone:
        raise
    except ExplorerError as problem:
        explain(problem)


def show_refusal() -> None:
    """Show why the last click failed, once: a room goes on without another click."""
    show_problem(PAGE)
    set_values(PAGE, {"refused": None})


def button(label: str, action: Callable[..., object], *arguments: object, **options: object) -> None:
    """Draw a button that acts on the room."""
    st.button(label, on_click=attempt, args=(PAGE, action, *arguments), **options)


def show_live(role: str, code: str, token: str, **data: object) -> None:
    """Draw the state of the room live; the browser reruns the surrounding fragment when it would draw something else."""
    addresses = {"events": f"{EVENTS}?key={token}", "state": f"{STATE}?key={token}"}
    known = {"now": time.time(), "texts": texts.LIVE_TEXTS, "remember": [storage_key(role, code), token], "own": role == ROOM}
    class_view()(key="classroom_live", data=known | addresses | data, on_changed_change=lambda: None)


def hide_menu(code: str) -> None:
    """Hide the menu and the other pages from a student, where the teacher has chosen so; the page runs again."""
    if st.query_params.get(LOCK) != "1":
        lead_to(ROOM, code, **{LOCK: "1"})
        st.rerun()


def lead_to_entrance() -> None:
    """Link to the entrance, where one types a code or opens a room, from a link that opens none."""
    if {ROOM, LEAD, SECRET} & set(st.query_params):
        path = contents.page("classroom").path
        st.page_link(path, label=texts.TO_ENTRANCE, icon=":material/meeting_room:", query_params=level_in_link())


def join_or_open() -> None:
    """Offer to join a room by its code, and to open one: first for whoever comes from a lesson."""
    wanted = st.query_params.get(FOR_CLASS, "")
    with st.container(key="classroom_ways_back"):
        offer_ways_back()
    offers = [join_by_code, partial(open_room, wanted)]
    for column, offer in zip(st.columns(2), reversed(offers) if wanted else offers, strict=True):
        with column:
            offer()


def offer_ways_back() -> None:
    """Lead to the rooms that this browser is a member of, as after its tab was closed; those that are over are forgotten."""
    beginnings = {role: storage_key(role, "") for role in (LEAD, ROOM)}
    data = {"find": list(beginnings.values()), "texts": texts.LIVE_TEXTS}
    told = class_view()(key="classroom_back", data=data, on_rooms_change=lambda: None).rooms
    sent = told[:MAX_ROOMS_BACK] if isinstance(told, Sequence) else ()
    kept = [one for one in sent if isinstance(one, Sequence) and len(one) == 2 and all(isinstance(part, str) for part in one)]
    over = []
    for name, token in kept:
        role = next((role for role, beginning in beginnings.items() if name.startswith(beginning)), None)
        if role is None:
            continue
        try:
            room = host_store().of_teacher(token) if role == LEAD else host_store().student(token).room
        except RoomProblem as problem:
            over += [name] if isinstance(problem, RoomGone) else []
            continue
        keep_token(role, room.code, token)
        label = texts.BACK.format(code=room.code)
        st.button(
            label, on_click=lead_to, args=(role, room.code), icon=":material/undo:", key=f"classroom_back_{role}_{room.code}"
        )
    if over:
        class_view()(key="classroom_over", data={"forget": over, "texts": texts.LIVE_TEXTS})


def join_by_code() -> None:
    """Draw the form by which a student joins with a room's code."""
    with st.container(border=True, key="classroom_join"):
        st.subheader(texts.JOIN, anchor=False)
        with st.form("classroom_code", border=False):
            written = st.text_input(texts.CODE, max_chars=12, key="classroom_code_typed")
            sent = st.form_submit_button(texts.JOIN_BUTTON, type="primary", icon=":material/login:")
            code = "".join(written.split()).upper()
            if sent and not code:
                st.info(texts.CODE_FIRST)
            elif sent:
                try:
                    st.session_state[JOINING] = host_store().of_code(code, own_address()).code
                except RoomProblem as problem:
                    explain(problem)
                else:
                    lead_to(ROOM, code)
                    st.rerun()
        show_what_is_kept(asks_name=False)


def show_what_is_kept(asks_name: bool) -> None:
    """Show how long answers are kept and, where no name is asked for, that none is needed."""
    said = texts.DELETED.format(hours=host_settings().room_hours)
    st.caption(said if asks_name else f"{texts.NO_NAMES} {said}")


def open_room(wanted: str) -> None:
    """Draw the form by which a teacher chooses a lesson, at first the `wanted` one, and opens a room for it."""
    with st.container(border=True, key="classroom_open"):
        st.subheader(texts.OPEN, anchor=False)
        names = lesson_names(wanted)
        first = names.index(wanted) if wanted in names else 0
        with st.form("classroom_new", border=False):
            name = st.selectbox(texts.LESSON, names, index=first, format_func=lesson_title, key="classroom_lesson")
            pace = st.radio(texts.PACE, (texts.TOGETHER, texts.OWN), horizontal=True, key="classroom_pace")
            nicknames = st.checkbox(texts.NICKNAMES, key="classroom_nicknames")
            alone = st.checkbox(texts.ALONE, key="classroom_alone")
            sent = st.form_submit_button(texts.OPEN_BUTTON, type="primary", icon=":material/meeting_room:")
        st.caption(texts.OWN_LESSONS_HINT)
        st.caption(texts.ABOUT_ROOMS.format(hours=host_settings().room_hours))
    if not sent or name not in names:
        return
    options = {"together": pace != texts.OWN, "nicknames": nicknames, "alone": alone}
    try:
        room, token = host_store().open(lesson_source(name), len(find_lesson(name).steps), client=own_address(), **options)
    except RoomProblem as problem:
        explain(problem)
        return
    keep_token(LEAD, room.code, token)
    lead_to(LEAD, room.code)
    st.rerun()


def lesson_names(wanted: str = "") -> list[str]:
    """List the lessons that a room can be opened for: those that ship, and the visitor's own, of each title the last one.

    wanted: is listed, too; where there is none of this name, that is explained.
    """
    own = {find_lesson(name).title: name for name in st.session_state.get(OWN_LESSONS, {})}
    names = [*names_in_order(), *own.values()]
    if wanted and wanted not in names:
        try:
            find_lesson(wanted)
            return [wanted, *names]
        except ExplorerError as problem:
            explain(problem)
    return names


def lesson_title(name: str) -> str:
    """Return the title of a lesson as the list shows it."""
    title = find_lesson(name).title
    return title if name in shipped_names() else texts.OWN_LESSON.format(title=title)


def join(code: str) -> None:
    """Join by the browser's stored token, by the code typed before, or by a click. Raises RoomProblem."""
    room = host_store().of_code(code, own_address())
    is_new = recall(ROOM, room.code)
    if st.session_state.get(JOINING) == room.code and not room.nicknames:
        if is_new:
            del st.session_state[JOINING]
            join_room(room.code, "")
        st.text(texts.JOINING.format(code=room.code))
        return
    with st.container(border=True, key="classroom_enter"), st.form("classroom_joining", border=False):
        nickname = st.text_input(texts.NICKNAME, max_chars=MAX_NICKNAME_CHARACTERS) if room.nicknames else ""
        if st.form_submit_button(texts.JOIN_ROOM.format(code=room.code), type="primary", icon=":material/login:"):
            join_room(room.code, nickname)
        show_what_is_kept(asks_name=room.nicknames)


def join_room(code: str, nickname: str) -> None:
    """Join a room and show it. Raises RoomProblem."""
    keep_token(ROOM, code, host_store().join(code, nickname, own_address()))
    st.rerun()
