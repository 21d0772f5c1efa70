"""A room keeps what its class says, to itself, until it is closed; in SQLite and in PostgreSQL alike."""

import inspect
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from pathlib import Path

import pytest

from tx_core.classroom import rooms as store
from tx_core.classroom.room_database import TABLES
from tx_core.classroom.rooms import (
    NO_SUCH_STEP,
    NOTHING_WRITTEN,
    PACE_SECONDS,
    SEATS_OF_ONE,
    TOO_MANY_AT_ONCE,
    Room,
    Rooms,
    Vote,
)
from tx_core.errors import RoomProblem
from tx_core.settings import Settings

SOURCE = "title: A lesson"
MARK = "Xylophones"
STEPS = 4
MODEL = {"right": "went", "value": 0.9, "options": ["went", "go"], "shares": [0.9, 0.1]}


def message(text: str) -> str:
    return text.partition("{")[0].replace("(", r"\(").replace("?", r"\?")


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def rooms(open_rooms: Callable[..., Rooms]) -> Rooms:
    return open_rooms()


def count(rooms: Rooms) -> dict[str, int]:
    with rooms.engine.connect() as connection:
        return {table.name: len(connection.execute(table.select()).all()) for table in TABLES.sorted_tables}


def test_tokens_cannot_be_guessed_and_are_stored_as_hashes_only(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS)
    student = rooms.join(room.code)
    with rooms.engine.connect() as connection:
        kept = str([connection.execute(table.select()).all() for table in TABLES.sorted_tables])
    assert room.code in kept
    assert len(teacher) == len(student) == 43  # 256 bits in base 64
    assert teacher not in kept and student not in kept


def test_the_last_answer_counts_until_the_step_is_revealed(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS)
    one, other = rooms.join(room.code), rooms.join(room.code.lower())
    for token, guess in ((one, "go"), (other, "came"), (one, "went")):
        rooms.answer(token, 1, guess)
    assert guesses(rooms, room, 1) == ["went", "came"]
    rooms.reveal(teacher, 1, MODEL)
    rooms.reveal(teacher, 1, {"right": "another"})
    with pytest.raises(RoomProblem, match=message(store.IS_REVEALED)):
        rooms.answer(one, 1, "go")
    rooms.answer(one, 2, "here")
    state = rooms.room(room.id)
    assert guesses(rooms, room, 1) == ["went", "came"]
    assert (state.students, state.answered, state.revealed) == (2, {1: 2, 2: 1}, {1: MODEL})
    assert rooms.student(one).sent == {"guess": "went"}


def test_students_follow_the_teacher_or_go_at_their_own_pace(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS)
    student = rooms.join(room.code)
    rooms.go(teacher, 3)
    assert rooms.student(student).step == 3
    rooms.set_timer(teacher, 3)
    assert rooms.of_teacher(teacher).timer == pytest.approx(rooms.now() + 180, abs=5)
    rooms.set_pace(teacher, together=False)
    rooms.go(teacher, 4)
    assert rooms.student(student).step == 3
    rooms.go(student, 2)
    rooms.answer(student, 1, "go")
    with pytest.raises(RoomProblem, match=message(store.IS_FINAL)):  # they were told at once what the model says
        rooms.answer(student, 1, "went")
    assert (rooms.student(student).step, rooms.of_teacher(teacher).step) == (2, 4)
    assert rooms.of_teacher(teacher).timer is None  # it was of the step before
    rooms.set_pace(teacher, together=True)
    assert rooms.student(student).step == 4
    for token in (teacher, student):
        for step in (0, STEPS + 1, -1):
            with pytest.raises(RoomProblem, match=NO_SUCH_STEP):
                rooms.go(token, step)


def test_a_sentence_is_shown_once_the_teacher_has_looked_at_it(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS, nicknames=True)
    student = rooms.join(room.code, "  Ada\n L ")
    rooms.send_sentence(student, 1, "A cat   sat.")
    assert rooms.room(room.id).sentence is None
    (sent,) = rooms.sentences(teacher, 1)
    assert (sent.nickname, sent.text) == ("Ada L", "A cat sat.")
    rooms.show(teacher, sent.student, sent.text)
    assert rooms.room(room.id).sentence == "A cat sat."
    rooms.send_sentence(student, 1, "Something rude.")
    assert rooms.room(room.id).sentence is None
    with pytest.raises(RoomProblem, match=store.ANOTHER_SENTENCE):
        rooms.show(teacher, sent.student, sent.text)  # of the page that was drawn before
    assert rooms.room(room.id).sentence is None
    rooms.show(teacher, sent.student, "Something rude.")
    rooms.go(teacher, 2)
    assert rooms.room(room.id).sentence is None


def guesses(rooms: Rooms, room: Room, step: int) -> list[str]:
    """What a class is shown."""
    return [vote.standing for vote in rooms.votes(room, step) if not room.hides(step, vote.standing)]


def test_after_a_discussion_the_class_votes_again_and_both_votes_are_kept(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS)
    one, other = rooms.join(room.code), rooms.join(room.code)
    for token, guess in ((one, "go"), (other, "came")):
        rooms.answer(token, 1, guess)
    rooms.discuss(teacher, 1)
    assert rooms.room(room.id).discussed == {1: False} and rooms.room(room.id).answered == {}
    rooms.answer(one, 1, "went")
    rooms.discuss(teacher, 1)  # a second click takes no vote away
    rooms.show_first_vote(teacher, 1, True)
    assert rooms.room(room.id).discussed == {1: True}
    assert rooms.votes(room, 1) == [Vote("go", "went"), Vote("came", None)]
    assert guesses(rooms, room, 1) == ["went", "came"] == [word.text for word in rooms.words(teacher, 1)]  # the vote stands
    assert [member.guesses for member in rooms.members(teacher)] == [1, 1]
    assert rooms.student(one).sent == {"guess": "went", "first": "go"}
    rooms.reveal(teacher, 1, MODEL)
    assert rooms.export(teacher) == [(1, 1, "", "went", None, "go"), (2, 1, "", None, None, "came")]
    rooms.reveal(teacher, 2, MODEL)
    rooms.discuss(teacher, 2)  # too late
    assert 2 not in rooms.room(room.id).discussed


def test_answers_are_hidden_again_and_a_word_from_all_who_write_it(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS)
    students = [rooms.join(room.code) for _ in range(3)]
    for token, guess in zip(students, ("rude", "went", " RUDE"), strict=True):
        rooms.answer(token, 1, guess)
    rooms.hide_word(teacher, 1, "Rude", True)
    assert guesses(rooms, rooms.room(room.id), 1) == ["went"]
    assert [(word.text, word.count, word.hidden) for word in rooms.words(teacher, 1)] == [("rude", 2, True), ("went", 1, False)]
    rooms.answer(students[1], 1, "rude")
    assert guesses(rooms, rooms.room(room.id), 1) == []
    rooms.hide_word(teacher, 1, "rude", False)
    assert guesses(rooms, room, 1) == ["rude", "rude", "RUDE"]
    rooms.reveal(teacher, 1, MODEL)
    rooms.conceal(teacher, 1)
    assert rooms.room(room.id).revealed == {}
    rooms.answer(students[0], 1, "go")


def test_one_address_takes_seats_at_a_pace_and_who_came_since_is_removed_without_those_who_were_there(
    open_rooms: Callable[..., Rooms],
):
    rooms = open_rooms(now=(now := Clock()))
    (room, teacher), (other, _) = (rooms.open(SOURCE, STEPS) for _ in range(2))
    honest = [rooms.join(room.code, client="home") for _ in range(2)]
    for _ in range(SEATS_OF_ONE):
        rooms.join(room.code, client="school")
    with pytest.raises(RoomProblem, match=message(TOO_MANY_AT_ONCE)):
        rooms.join(room.code, client="school")
    rooms.join(other.code, client="school")
    rooms.join(room.code, client="platform", fixed_token="launched")
    now.seconds += PACE_SECONDS
    rooms.join(room.code, client="school")
    members = rooms.members(teacher)
    rooms.remove_since(teacher, members[2].id)  # the honest ones have sent nothing either
    assert rooms.members(teacher) == members[:2] and all(map(rooms.student, honest))
    assert rooms.room(other.id).students == 1


def test_everything_of_a_closed_room_is_deleted(rooms: Rooms, database: str, tmp_path: Path):
    others_room, others = rooms.open(SOURCE, STEPS)
    rooms.answer(rooms.join(others_room.code), 1, "kept")
    before = count(rooms)
    room, teacher = rooms.open(f"{SOURCE} {MARK}", STEPS, nicknames=True)
    student = rooms.join(room.code, MARK)
    rooms.answer(student, 1, MARK)
    rooms.send_sentence(student, 1, MARK)
    rooms.discuss(teacher, 1)
    rooms.answer(student, 1, MARK)
    rooms.hide_word(teacher, 1, MARK, True)
    rooms.reveal(teacher, 1, {"right": MARK})
    assert count(rooms) != before
    with rooms.engine.connect() as other:  # while it is open, SQLite keeps its log
        other.exec_driver_sql("SELECT 1")
        rooms.close(teacher)
        if database.startswith("sqlite"):
            assert MARK.encode() not in b"".join(path.read_bytes() for path in tmp_path.glob("rooms.sqlite*"))
    assert count(rooms) == before
    assert rooms.room(room.id) is None
    for use in (lambda: rooms.of_teacher(teacher), lambda: rooms.student(student), lambda: rooms.of_code(room.code)):
        with pytest.raises(RoomProblem):
            use()
    assert guesses(rooms, others_room, 1) == ["kept"]
    rooms.close(others)
    assert set(count(rooms).values()) == {0}


def test_a_room_ends_after_a_day_also_before_it_is_swept(open_rooms: Callable[..., Rooms]):
    clock = Clock()
    rooms = open_rooms(Settings(room_hours=24.0), now=clock)
    room, teacher = rooms.open(SOURCE, STEPS)
    student = rooms.join(room.code)
    clock.seconds += 24 * 3600 - 1
    rooms.answer(student, 1, "in time")
    assert rooms.sweep() == 0
    clock.seconds += 2
    for use in (lambda: rooms.of_teacher(teacher), lambda: rooms.answer(student, 1, "late"), lambda: rooms.join(room.code)):
        with pytest.raises(RoomProblem):
            use()
    assert rooms.room(room.id) is None
    assert rooms.sweep() == 1
    assert set(count(rooms).values()) == {0}


def test_no_request_of_one_room_gets_or_changes_anything_of_another(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS, nicknames=True)
    student = rooms.join(room.code, MARK)
    rooms.answer(student, 1, MARK)
    rooms.send_sentence(student, 1, MARK)
    own = rooms.sentences(teacher, 1)[0].student
    stranger_room, stranger_teacher = rooms.open(SOURCE, STEPS)
    stranger = rooms.join(stranger_room.code)
    for use in (rooms.close, rooms.export, lambda token: rooms.reveal(token, 1, MODEL), lambda token: rooms.show(token, None)):
        with pytest.raises(RoomProblem, match=message(store.NO_TEACHER)):
            use(student)  # who is no teacher
    before = astuple(rooms.room(room.id)), guesses(rooms, room, 1), rooms.export(teacher)
    tokens = (stranger, stranger_teacher, room.code, str(room.id), "", "%", "' OR 1=1 --", secrets.token_urlsafe(32))
    values = {"step": 1, "guess": "theirs", "written": "theirs", "student": own, "seen": MARK, "together": False, "locked": True}
    values |= {"word": MARK, "minutes": 3, "hidden": True, "shown": True, "answer": {"right": "x"}}
    tried = 0
    for name, method in inspect.getmembers(rooms, inspect.ismethod):
        parameters = list(inspect.signature(method).parameters)
        if name.startswith("_") or "token" not in parameters:
            continue
        for token in tokens:
            tried += 1
            try:
                answer = method(token, *(values[parameter] for parameter in parameters[1:]))
            except RoomProblem as problem:
                answer = str(problem)
            assert MARK not in str(answer), name
            assert room.code not in str(answer), name
    assert tried >= 8 * len(tokens)
    assert (astuple(rooms.room(room.id)), guesses(rooms, room, 1), rooms.export(teacher)) == before


def test_the_rooms_of_a_host_and_of_a_client_are_limited(open_rooms: Callable[..., Rooms]):
    rooms = open_rooms(Settings(max_rooms=3))
    tokens = [rooms.open(SOURCE, STEPS)[1] for _ in range(3)]
    with pytest.raises(RoomProblem, match=message(store.TOO_MANY_ROOMS)):
        rooms.open(SOURCE, STEPS)
    rooms.close(tokens[0])
    assert rooms.open(SOURCE, STEPS)
    rooms = open_rooms(Settings(max_rooms=1000))
    for _ in range(store.ROOMS_OF_ONE_AN_HOUR):
        rooms.open(SOURCE, STEPS, client="one")
    with pytest.raises(RoomProblem, match=message(store.TOO_MANY_ROOMS)):
        rooms.open(SOURCE, STEPS, client="one")
    assert rooms.open(SOURCE, STEPS, client="another")


def test_the_students_of_a_room_are_limited_also_when_all_join_at_once(open_rooms: Callable[..., Rooms]):
    rooms = open_rooms(Settings(max_students=7))
    room, _ = rooms.open(SOURCE, STEPS)

    def join(_number: int) -> bool:
        try:
            return bool(rooms.join(room.code))
        except RoomProblem:
            return False

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(join, range(20))) == 7
    assert rooms.room(room.id).students == 7


def test_answers_and_wrong_codes_are_limited_by_the_minute(open_rooms: Callable[..., Rooms]):
    clock = Clock()
    rooms = open_rooms(now=clock)
    room, _ = rooms.open(SOURCE, STEPS)
    student = rooms.join(room.code)
    for number in range(store.ANSWERS_A_MINUTE):
        rooms.answer(student, 1, str(number))
    with pytest.raises(RoomProblem, match=message(store.TOO_MANY_ANSWERS)):
        rooms.answer(student, 1, "one more")
    assert rooms.student(student).sent["guess"] == str(store.ANSWERS_A_MINUTE - 1)
    for _ in range(store.WRONG_CODES_A_MINUTE):
        with pytest.raises(RoomProblem, match=message(store.NO_ROOM)):
            rooms.join("ZZZZZ", client="one")
    with pytest.raises(RoomProblem, match=message(store.TOO_MANY_CODES)):
        rooms.join(room.code, client="one")
    assert rooms.join(room.code, client="another")
    clock.seconds += 61
    rooms.answer(student, 1, "again")
    assert rooms.join(room.code, client="one")


def test_every_text_has_a_length(rooms: Rooms):
    room, _teacher = rooms.open(SOURCE, STEPS, nicknames=True)
    student = rooms.join(room.code, "n" * store.MAX_NICKNAME_CHARACTERS)
    for use in (
        lambda: rooms.join(room.code, "n" * (store.MAX_NICKNAME_CHARACTERS + 1)),
        lambda: rooms.answer(student, 1, "g" * (store.MAX_GUESS_CHARACTERS + 1)),
        lambda: rooms.send_sentence(student, 1, "s" * (store.MAX_SENTENCE_CHARACTERS + 1)),
        lambda: rooms.open("é" * 50_001, STEPS),  # 100,002 bytes, as a lesson is read
    ):
        with pytest.raises(RoomProblem, match="at most"):
            use()
    for empty in ("", "  \n"):
        with pytest.raises(RoomProblem, match=NOTHING_WRITTEN):
            rooms.answer(student, 1, empty)
    for odd in ("'; DROP TABLE rooms; --", "<script>", "a\0b", "🦜" * 50):
        rooms.answer(student, 1, odd)
        assert rooms.student(student).sent["guess"] == odd.replace("\0", "")
    for code in ("\0", "AB\0CDE", "\ud800BCDEF", "é" * 6, "ABCDE1", "ABCDEFG", ""):
        assert rooms.find(code) is None


def test_a_refused_word_is_hidden_until_the_teacher_shows_it(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS)
    for guess in ("Sh1t!", "went"):
        rooms.answer(rooms.join(room.code), 1, guess)
    assert guesses(rooms, rooms.room(room.id), 1) == ["went"]
    assert [(word.text, word.hidden) for word in rooms.words(teacher, 1)] == [("Sh1t!", True), ("went", False)]
    rooms.hide_word(teacher, 1, "Sh1t!", False)
    assert sorted(guesses(rooms, rooms.room(room.id), 1)) == ["Sh1t!", "went"]


def test_nobody_new_joins_a_locked_room_and_who_is_in_it_stays(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS)
    student = rooms.join(room.code)
    rooms.lock(teacher, True)
    with pytest.raises(RoomProblem, match=store.IS_LOCKED):
        rooms.join(room.code)
    assert rooms.answer(student, 1, "went") == "went"
    rooms.lock(teacher, False)
    assert rooms.join(room.code) and not rooms.room(room.id).locked


def test_a_student_is_removed_with_all_that_they_sent_and_so_are_all_who_sent_nothing(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, STEPS, nicknames=True)
    elsewhere = rooms.join(rooms.open(SOURCE, STEPS)[0].code)
    ada, writer, *silent = [rooms.join(room.code, name) for name in ("Ada", "Grace", "Kay", "Lea")]
    rooms.answer(ada, 1, "went")
    rooms.send_sentence(writer, 2, "A cat sat.")
    first, *_ = members = rooms.members(teacher)
    assert [(one.number, one.nickname, one.guesses, one.is_silent) for one in members[:2]] == [
        (1, "Ada", 1, False),
        (2, "Grace", 0, False),
    ]
    version = rooms.room(room.id).version
    rooms.remove(teacher, None)
    assert rooms.room(room.id).students == 2 and rooms.room(room.id).version > version  # else a browser takes it for older
    rooms.remove(teacher, first.id)
    for token in (ada, *silent):
        with pytest.raises(RoomProblem, match=message(store.NO_STUDENT)):
            rooms.student(token)
    assert all(map(rooms.student, (writer, elsewhere, rooms.join(room.code)))) and guesses(rooms, room, 1) == []
