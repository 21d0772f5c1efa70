"""Rooms, in which a class takes a lesson together: their members, current step, answers and reveals.

There are no accounts. The teacher and each student hold a secret token; only their hashes are stored, and every
request is authorised by a token of the room. SQLite keeps the rooms of one server, PostgreSQL
those of several. This module imports no torch.
"""

import hashlib
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partialmethod
from threading import Condition, Event, Lock
from typing import Literal, NamedTuple

from cachetools import LRUCache, TTLCache, cached
from sqlalchemy import URL, Connection, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from tx_core.classroom.lesson_file import MAX_LESSON_BYTES, TOO_LARGE
from tx_core.classroom.questions import count_names, name_of_guess
from tx_core.classroom.refused_words import is_refused
from tx_core.classroom.room_database import (
    CODE_LETTERS,
    ENTRIES,
    MAX_NICKNAME_CHARACTERS,
    ROOMS,
    STUDENTS,
    connect,
    default_file,
    empty_log,
    explained_failures,
    is_shared,
    listen,
    make_tables,
    notify,
    take_lock,
)
from tx_core.errors import RoomGone, RoomProblem
from tx_core.settings import Settings, host_settings

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""Letters of room codes: without I, L and O, which are misread as 1 and 0 on a projector."""
MAX_GUESS_CHARACTERS, MAX_SENTENCE_CHARACTERS = 1000, 300
MAX_TIMER_MINUTES = 90
ANSWERS_A_MINUTE = 30
WRONG_CODES_A_MINUTE, WRONG_CODES_OF_ALL_A_MINUTE, ROOMS_OF_ONE_AN_HOUR = 30, 300, 20
"""Rate limits, generous because a whole school may share one address. Still, only 432,000 of the 148 million codes can be tried
in a day."""
SEATS_OF_ONE, PACE_SECONDS = 40, 10
"""How many seats of a room one address takes in so many seconds: a hall of 200 behind one address is in within a minute."""
MAX_COUNTED = 100_000
"""Keys that are counted; the oldest are evicted first."""
EntryKind = Literal["guess", "first", "sentence"]
"""What a student sends at a step: a guess, the one of before a discussion, or an own sentence."""
VOTES: tuple[EntryKind, ...] = ("first", "guess")
"""The kinds of a guess, as `Vote` has them."""

NO_ROOM = "There is no room with this code. Check the six letters; a room closes when its time is over, or its teacher closes it."
NO_TEACHER = "This link leads to no room. A room closes when its time is over, or its teacher closes it. Open a new one."
NO_STUDENT = "You are not in this room any more, or it is closed. Join again with its code."
TOO_MANY_CODES = "Too many wrong codes in a minute. Look at the code again, and try in a minute."
TOO_MANY_ROOMS = "No more rooms can be opened here now. Close one that is not needed, or try again later."
IS_LOCKED = "The teacher has locked this room: nobody new can join it now. Ask the teacher to let you in."
TOO_MANY_AT_ONCE = "Many are joining from your network just now. Press the button again in ten seconds."
ROOM_IS_FULL = "This room is full: it takes {limit:,} students. Watch with a neighbour, or ask the teacher for a second room."
TOO_MANY_ANSWERS = "Too many answers in a minute. Your last one is kept; wait a moment before the next."
IS_REVEALED = "Your guess came after the reveal."
IS_FINAL = "Your first guess counts: you have seen what the model says."
TOO_LONG = "This has {length:,} characters, and at most {limit:,} are kept. Shorten it."
NOTHING_WRITTEN = "Nothing is written here yet."
NO_SUCH_STEP = "This room has no such step."
ANOTHER_SENTENCE = "This sentence was changed or is gone. Look at what is there now before you show it."


@dataclass(frozen=True)
class Room:
    """A room as its members see it.

    Attributes:
        code: What students type.
        source: The lesson's file.
        version: Grows with every change of the room itself; not with an answer.
        step: The step that the teacher is at, from 1.
        together: Whether students follow the teacher's step; else each goes at their own pace.
        alone: Whether students see no menu and no other pages.
        locked: Whether nobody new may join.
        timer: When its time is up, in seconds since 1970.
        shown, sentence: The student whose sentence everyone sees at the step, and the sentence.
        revealed: The model's answer of every step that is revealed.
        discussed: The steps at which the class votes again, each with whether it sees the first vote.
        hidden: By step, which guesses the teacher keeps from the class (by `word_key`), and which not. The others are kept from
            it where they hold a refused word.
        answered: How many have answered, by step.
        left: How many have not answered at the step and are not waited for: their browsers are gone.
    """

    id: int
    code: str
    source: str
    version: int
    steps: int
    step: int = 1
    together: bool = True
    nicknames: bool = False
    alone: bool = False
    locked: bool = False
    timer: int | None = None
    shown: int | None = None
    revealed: Mapping[int, Mapping[str, object]] = field(default_factory=dict)
    discussed: Mapping[int, bool] = field(default_factory=dict)
    hidden: Mapping[int, Mapping[str, bool]] = field(default_factory=dict)
    students: int = 0
    answered: Mapping[int, int] = field(default_factory=dict)
    left: int = 0
    sentence: str | None = None

    def hides(self, step: int, guess: str) -> bool:
        """Return whether a guess at a step is kept from the class."""
        told = self.hidden.get(step)
        return told.get(word_key(guess), is_refused(guess)) if told else is_refused(guess)


KEPT = ("steps", "step", "together", "nicknames", "alone", "locked", "timer", "shown", "revealed", "discussed", "hidden")
"""The fields of a room that stand in the column `state`."""
BY_STEP = ("revealed", "discussed", "hidden")


@dataclass(frozen=True)
class Student:
    """A student in a room. nickname: "" without one. step: from 1. sent: what this student has sent at the step, by its kind."""

    id: int
    room: Room
    nickname: str
    step: int
    sent: Mapping[EntryKind, str] = field(default_factory=dict)


class Member(NamedTuple):
    """A student as the teacher sees them. number: in the room, from 1. is_silent: whether they have sent nothing at all."""

    id: int
    number: int
    nickname: str
    guesses: int
    is_silent: bool


class Vote(NamedTuple):
    """What a student guessed at a step. first: before its discussion, None for nothing. last: since then, or without one."""

    first: str | None
    last: str | None

    @property
    def standing(self) -> str | None:
        """The vote that counts: the first one stands unless another follows."""
        return self.first if self.last is None else self.last


class Word(NamedTuple):
    """A guess as several students may have written it. hidden: from the class. refused: by the list of refused words."""

    text: str
    count: int
    hidden: bool
    refused: bool


class Sentence(NamedTuple):
    """A student's own sentence for the view of a step."""

    student: int
    nickname: str
    text: str


class RateCount:
    """Requests by key in fixed windows of time; counts restart with each window.

    seconds: the length of such a window. now: seconds since 1970.
    """

    def __init__(self, seconds: int, now: Callable[[], float]):
        self._seconds, self._now, self._guard = seconds, now, Lock()
        self._counts: TTLCache[tuple[Hashable, ...], int] = TTLCache(MAX_COUNTED, seconds, now)

    def add(self, *key: Hashable, count: int = 1) -> int:
        """Count one request, or none; return the count of the current window."""
        window = (*key, int(self._now() // self._seconds))
        with self._guard:
            self._counts[window] = count = self._counts.get(window, 0) + count
        return count


class Rooms:
    """The store of all rooms of a host.

    url: SQLAlchemy's address of the database. now: seconds since 1970. The callback `changed` receives the id of a room
    (None = any) after each stored change, answers included; with PostgreSQL, on every server. `ending` is called in the
    transaction that deletes a room, with the time.
    """

    def __init__(self, url: str | URL, settings: Settings | None = None, now: Callable[[], float] = time.time):
        self.engine = connect(url)
        self.settings, self.now = settings or host_settings(), now
        self.changed: Callable[[int | None], None] = lambda room: None
        self.ending: Callable[[Connection, Room, float], None] = lambda connection, room, now: None
        self._wrong_codes, self._sent, self._opened = (RateCount(span, now) for span in (60, 60, 3600))
        self._seated = RateCount(PACE_SECONDS, now)
        self._writing, self._stopped = Lock(), Event()
        with self.writing() as connection:
            make_tables(connection)
        self._listener = listen(self.engine, lambda room: self.changed(room), self._stopped) if is_shared(self.engine) else None

    def dispose(self) -> None:
        """Close every connection."""
        self._stopped.set()
        if self._listener:
            self._listener.join()
        self.engine.dispose()

    def open(self, source: str, steps: int, *, client: str = "", fixed_token: str = "", **options: bool) -> tuple[Room, str]:
        """Open a room for a lesson with so many steps; return it and its teacher's token, of which only the hash is stored.

        fixed_token: one that the caller has made; the room that has it already is returned. options: `together`, `nicknames` and
        `alone` of `Room`.

        Raises RoomProblem where the host or this client, by its address, has too many.
        """
        if (size := len(source.encode())) > MAX_LESSON_BYTES:
            raise RoomProblem(TOO_LARGE.format(size=size, limit=MAX_LESSON_BYTES))
        self.sweep()
        if client and self._opened.add(client) > ROOMS_OF_ONE_AN_HOUR:
            raise RoomProblem(TOO_MANY_ROOMS)
        token = fixed_token or secrets.token_urlsafe(32)
        while True:
            room = Room(0, "".join(secrets.choice(ALPHABET) for _ in range(CODE_LETTERS)), source, 1, steps, **options)
            try:
                with self.writing() as connection:
                    take_lock(connection, "rooms")
                    if connection.scalar(select(func.count()).select_from(ROOMS)) >= self.settings.max_rooms:
                        raise RoomProblem(TOO_MANY_ROOMS)
                    values = {"code": room.code, "teacher": hash_token(token), "source": source, "opened": int(self.now())}
                    values |= {"version": room.version, "state": state_of(room)}
                    key = connection.execute(insert(ROOMS).values(values)).inserted_primary_key[0]
                return replace(room, id=key), token
            except IntegrityError:  # another room has this code, or the token
                with suppress(RoomGone):
                    return self.of_teacher(token), token

    def of_teacher(self, token: str) -> Room:
        """Return the room of a teacher's token. Raises RoomProblem."""
        with self.reading() as connection:
            return with_counts(connection, self._teachers_room(connection, token))

    def room(self, key: int) -> Room | None:
        """Return a room by its id, None once it is closed. The caller has checked a token."""
        with self.reading() as connection:
            found = self._room(connection, ROOMS.c.id == key)
            return None if found is None else with_counts(connection, found)

    def student(self, token: str) -> Student:
        """Return the student of a token. Raises RoomProblem."""
        with self.reading() as connection:
            student = self._member(connection, token)
            rows = connection.execute(select(ENTRIES.c.kind, ENTRIES.c.text).filter_by(student=student.id, step=student.step))
            room = replace(student.room, sentence=shown_sentence(connection, student.room))
            return replace(student, room=room, sent={kind: text for kind, text in rows})

    def find_member(self, token: str) -> tuple[int, int | None]:
        """Return the id of the room of a token, and that of the student, None for its teacher. Raises RoomProblem."""
        with self.reading() as connection:
            if room := self._room(connection, ROOMS.c.teacher == hash_token(token)):
                return room.id, None
            student = self._member(connection, token)
            return student.room.id, student.id

    def student_ids(self, room: Room) -> frozenset[int]:
        """Return the ids of the students of a room. The caller has checked a token."""
        with self.reading() as connection:
            return frozenset(connection.scalars(select(STUDENTS.c.id).filter_by(room=room.id)))

    def without_answer(self, room: Room) -> frozenset[int]:
        """Return the ids of the students who have not answered at the step of a room. The caller has checked a token."""
        answers = select(ENTRIES.c.student).filter_by(room=room.id, step=room.step, kind="guess")
        with self.reading() as connection:
            asked = select(STUDENTS.c.id).where(STUDENTS.c.room == room.id, STUDENTS.c.id.not_in(answers))
            return frozenset(connection.scalars(asked))

    def join(self, code: str, nickname: str = "", client: str = "", fixed_token: str = "") -> str:
        """Join a room; return the student's token, of which only the hash is stored. Raises RoomProblem.

        fixed_token: one that the caller has made; whoever is in the room with it stays.
        """
        nickname = check_length(" ".join(nickname.split()), MAX_NICKNAME_CHARACTERS)
        key = self.of_code(code, client).id
        token = fixed_token or secrets.token_urlsafe(32)
        with self.writing() as connection:
            room = self._room(connection, ROOMS.c.id == key, lock=True)
            if room is None:  # closed meanwhile
                raise RoomGone(NO_ROOM)
            if connection.scalar(select(STUDENTS.c.id).filter_by(room=key, token=hash_token(token))):
                return token
            if room.locked:
                raise RoomProblem(IS_LOCKED)
            if client and not fixed_token and self._seated.add(key, client) > SEATS_OF_ONE:
                raise RoomProblem(TOO_MANY_AT_ONCE)
            if with_counts(connection, room).students >= self.settings.max_students:
                raise RoomProblem(ROOM_IS_FULL.format(limit=self.settings.max_students))
            values = {"room": key, "token": hash_token(token), "nickname": nickname if room.nicknames else "", "step": 1}
            connection.execute(insert(STUDENTS).values(values))
            notify(connection, key)
        self._report_change(key)
        return token

    def of_code(self, code: str, client: str = "") -> Room:
        """Return a room by its code; wrong codes are rate-limited, per client and in all. Raises RoomProblem."""
        limits = {("client", client): WRONG_CODES_A_MINUTE, ("all", ""): WRONG_CODES_OF_ALL_A_MINUTE}
        if any(self._wrong_codes.add(*key, count=0) >= limit for key, limit in limits.items()):
            raise RoomProblem(TOO_MANY_CODES)
        found = self.find(code)
        if found is None:
            for key in limits:
                self._wrong_codes.add(*key)
            raise RoomGone(NO_ROOM)
        return found

    def find(self, code: str) -> Room | None:
        """Return the room with a code, or None; unlike `of_code`, not rate-limited, for former members. Raises RoomProblem."""
        code = code.strip().upper()
        if len(code) != CODE_LETTERS or not set(code) <= set(ALPHABET):  # PostgreSQL raises errors for some other characters
            return None
        with self.reading() as connection:
            return self._room(connection, ROOMS.c.code == code)

    def answer(self, token: str, step: int, guess: str) -> str:
        """Store a student's guess at a step, replacing an earlier one, until it is revealed; return it. Raises RoomProblem."""
        return self._store_entry(token, step, "guess", check_length(guess.strip(), MAX_GUESS_CHARACTERS, needed=True))

    def send_sentence(self, token: str, step: int, written: str) -> str:
        """Store a student's own sentence for a step, for the teacher to see; return it. Raises RoomProblem."""
        return self._store_entry(
            token, step, "sentence", check_length(" ".join(written.split()), MAX_SENTENCE_CHARACTERS, needed=True)
        )

    def _store_entry(self, token: str, step: int, kind: EntryKind, text: str) -> str:
        if self._sent.add(hash_token(token)) > ANSWERS_A_MINUTE:
            raise RoomProblem(TOO_MANY_ANSWERS)
        put = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[self.engine.dialect.name](ENTRIES)
        with self.writing() as connection:
            student = self._member(connection, token, lock=True)
            room = student.room
            check_step(room, step)
            if kind == "guess" and step in room.revealed:
                raise RoomProblem(IS_REVEALED)
            key = {"student": student.id, "step": step, "kind": kind}
            if kind == "guess" and not room.together and connection.scalar(select(ENTRIES.c.text).filter_by(**key)) is not None:
                raise RoomProblem(IS_FINAL)
            if kind == "sentence" and (room.shown, room.step) == (student.id, step):
                # Stop showing a sentence that its student changes: the teacher has approved only the old one.
                self._change(connection, room, shown=None)
            put = put.values(**key, room=room.id, text=text)
            connection.execute(put.on_conflict_do_update(index_elements=list(key), set_={"text": text}))
            notify(connection, room.id)
        self._report_change(room.id)
        return text

    def go(self, token: str, step: int) -> None:
        """Go to a step: a teacher moves the whole room, a student only themselves. Raises RoomProblem."""
        with self.writing() as connection:
            room = self._room(connection, ROOMS.c.teacher == hash_token(token), lock=True)
            if room is None:
                student = self._member(connection, token)
                check_step(student.room, step)
                connection.execute(update(STUDENTS).where(STUDENTS.c.id == student.id).values(step=step))
                return
            check_step(room, step)
            self._change(connection, room, step=step, shown=None, timer=None)
        self._report_change(room.id)

    def set_timer(self, token: str, minutes: int | None) -> None:
        """Start the timer of a step, or stop it (None); at its end, only that is said. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            seconds = None if minutes is None else 60 * min(max(minutes, 1), MAX_TIMER_MINUTES)
            self._change(connection, room, timer=None if seconds is None else int(self.now()) + seconds)

    def set_pace(self, token: str, together: bool) -> None:
        """Set whether students follow the teacher's step or continue from it at their own pace. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            self._change(connection, room, together=together)
            connection.execute(update(STUDENTS).where(STUDENTS.c.room == room.id).values(step=room.step))

    def reveal(self, token: str, step: int, answer: Mapping[str, object]) -> None:
        """Close a step for guesses and store the model's answer. Raises RoomProblem."""
        with self._teaching(token, step) as (connection, room):
            if step not in room.revealed:
                self._change(connection, room, revealed={**room.revealed, step: dict(answer)})

    def conceal(self, token: str, step: int) -> None:
        """Hide the answers of a step again: guesses may be sent and changed. Raises RoomProblem."""
        with self._teaching(token, step) as (connection, room):
            self._change(connection, room, revealed={one: answer for one, answer in room.revealed.items() if one != step})

    def discuss(self, token: str, step: int) -> None:
        """Keep the guesses of a step as the first vote, after which the class votes again. Raises RoomProblem."""
        with self._teaching(token, step) as (connection, room):
            if step not in room.discussed and step not in room.revealed:
                votes = update(ENTRIES).where(ENTRIES.c.room == room.id, ENTRIES.c.step == step, ENTRIES.c.kind == "guess")
                connection.execute(votes.values(kind="first"))
                self._change(connection, room, discussed={**room.discussed, step: False})

    def show_first_vote(self, token: str, step: int, shown: bool) -> None:
        """Show the first vote at a step to the class before it votes again, or hide it. Raises RoomProblem."""
        with self._teaching(token, step) as (connection, room):
            if step in room.discussed:
                self._change(connection, room, discussed={**room.discussed, step: shown})

    def votes(self, room: Room, step: int) -> list[Vote]:
        """List what each student guessed at a step, in the order in which they came. The caller has checked a token."""
        with self.reading() as connection:
            return votes_at(connection, room, step)

    def words(self, token: str, step: int) -> list[Word]:
        """List what was guessed at a step, the most frequent first, for the teacher. Raises RoomProblem."""
        with self.reading() as connection:
            room = self._teachers_room(connection, token)
            names, counts = count_names([vote.standing for vote in votes_at(connection, room, step)])
        return [Word(names[name], count, room.hides(step, name), is_refused(name)) for name, count in counts.most_common()]

    def hide_word(self, token: str, step: int, word: str, hidden: bool) -> None:
        """Keep a guess from the class at a step, by whomever and whenever it is sent, or show it again. Raises RoomProblem."""
        with self._teaching(token, step) as (connection, room):
            here = {**room.hidden.get(step, {}), word_key(word): hidden}
            self._change(connection, room, hidden={**room.hidden, step: here})

    def members(self, token: str) -> list[Member]:
        """List the students of a room, in the order in which they came, for their teacher. Raises RoomProblem."""
        with self.reading() as connection:
            room = self._teachers_room(connection, token).id
            sent: dict[int, set[int]] = defaultdict(set)
            for student, step, kind in connection.execute(
                select(ENTRIES.c.student, ENTRIES.c.step, ENTRIES.c.kind).filter_by(room=room)
            ):
                sent[student] |= {step} if kind in VOTES else set()
            rows = connection.execute(select(STUDENTS.c.id, STUDENTS.c.nickname).filter_by(room=room).order_by(STUDENTS.c.id))
            return [
                Member(key, number, name, len(sent.get(key, ())), key not in sent) for number, (key, name) in enumerate(rows, 1)
            ]

    def remove(self, token: str, student: int | None) -> None:
        """Remove a student with all that they sent, or all who sent nothing (None); they may join again. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            gone = STUDENTS.c.id == student
            if student is None:
                gone = STUDENTS.c.id.not_in(select(ENTRIES.c.student).filter_by(room=room.id))
            connection.execute(delete(STUDENTS).where(STUDENTS.c.room == room.id, gone))
            self._change(connection, room)

    def remove_since(self, token: str, student: int) -> None:
        """Remove a student and all who came later, with all that they sent; they may join again. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            connection.execute(delete(STUDENTS).where(STUDENTS.c.room == room.id, STUDENTS.c.id >= student))
            self._change(connection, room)

    def show(self, token: str, student: int | None, seen: str = "") -> None:
        """Show a student's sentence at the room's step, if it is still the one seen; None shows nobody's. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            if student is not None and sentence_at(connection, room, student) != seen:
                raise RoomProblem(ANOTHER_SENTENCE)
            self._change(connection, room, shown=student)

    def lock(self, token: str, locked: bool) -> None:
        """Lock or unlock a room for new members; present ones stay. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            self._change(connection, room, locked=locked)

    def close(self, token: str) -> None:
        """Close a room and delete all its data. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            self._delete(connection, room)
        empty_log(self.engine)

    def sentences(self, token: str, step: int) -> list[Sentence]:
        """List the students' own sentences at a step, for their teacher. Raises RoomProblem."""
        with self.reading() as connection:
            room = self._teachers_room(connection, token)
            asked = select(ENTRIES.c.student, STUDENTS.c.nickname, ENTRIES.c.text).join(STUDENTS)
            here = (ENTRIES.c.room == room.id, ENTRIES.c.step == step, ENTRIES.c.kind == "sentence")
            return [Sentence(*row) for row in connection.execute(asked.where(*here).order_by(STUDENTS.c.id))]

    def export(self, token: str) -> list[tuple[int, int, str, str | None, str | None, str | None]]:
        """List every answer and sentence: the student's number in the room, the step, nickname, guess, sentence, first vote.

        guess: None where a first vote stands.
        """
        members = {member.id: member for member in self.members(token)}
        with self.reading() as connection:
            room = self._teachers_room(connection, token)
            asked = select(ENTRIES.c.student, ENTRIES.c.step, ENTRIES.c.kind, ENTRIES.c.text).filter_by(room=room.id)
            kept: dict[tuple[int, int], dict[str, str]] = {}
            for student, step, kind, text in connection.execute(asked.order_by(ENTRIES.c.student, ENTRIES.c.step)):
                if student in members:  # omits students who joined after the first query
                    kept.setdefault((student, step), {})[kind] = text
        return [
            (members[student].number, step, members[student].nickname, *map(sent.get, ("guess", "sentence", "first")))
            for (student, step), sent in kept.items()
        ]

    def sweep(self) -> int:
        """Delete expired rooms; return how many."""
        with self.writing() as connection:
            gone = [room_of(*row) for row in connection.execute(select(*ROOM_COLUMNS).where(ROOMS.c.opened < self._oldest()))]
            for room in gone:
                self._delete(connection, room)
        if gone:
            empty_log(self.engine)
        for room in gone:
            self._report_change(room.id)
        return len(gone)

    @contextmanager
    def _connected(self, writes: bool) -> Iterator[Connection]:
        # Writing threads queue at a lock here, because SQLite's own busy handler sleeps for ever longer intervals.
        turn = self._writing if writes and not is_shared(self.engine) else nullcontext()
        with (
            explained_failures(self.engine),
            turn,
            self.engine.connect().execution_options(writes=writes) as connection,
            connection.begin(),
        ):
            yield connection

    reading = partialmethod(_connected, writes=False)
    writing = partialmethod(_connected, writes=True)

    @contextmanager
    def _teaching(self, token: str, step: int = 1) -> Iterator[tuple[Connection, Room]]:
        """Yield a transaction on a teacher's room; notify its members once it is committed. Raises RoomProblem."""
        with self.writing() as connection:
            room = self._teachers_room(connection, token, lock=True)
            check_step(room, step)
            yield connection, room
        self._report_change(room.id)

    def _report_change(self, room: int) -> None:
        """Call `changed`, unless the PostgreSQL listener does."""
        if self._listener is None:
            self.changed(room)

    def _oldest(self) -> int:
        return int(self.now() - 3600 * self.settings.room_hours)

    def _room(self, connection: Connection, condition: object, lock: bool = False) -> Room | None:
        asked = select(*ROOM_COLUMNS).where(condition, ROOMS.c.opened >= self._oldest())
        row = connection.execute(asked.with_for_update() if lock else asked).first()
        return room_of(*row) if row else None

    def _teachers_room(self, connection: Connection, token: str, lock: bool = False) -> Room:
        room = self._room(connection, ROOMS.c.teacher == hash_token(token), lock)
        if room is None:
            raise RoomGone(NO_TEACHER)
        return room

    def _member(self, connection: Connection, token: str, lock: bool = False) -> Student:
        asked = select(*ROOM_COLUMNS, STUDENTS.c.id, STUDENTS.c.nickname, STUDENTS.c.step).join(STUDENTS)
        asked = asked.where(STUDENTS.c.token == hash_token(token), ROOMS.c.opened >= self._oldest())
        row = connection.execute(asked.with_for_update(of=ROOMS) if lock else asked).first()
        if row is None:
            raise RoomGone(NO_STUDENT)
        *columns, member, nickname, own_step = row
        room = room_of(*columns)
        return Student(member, room, nickname, room.step if room.together else own_step)

    def _change(self, connection: Connection, room: Room, **values: object) -> None:
        """Update a room, which the transaction has locked, and increment its version."""
        changed = update(ROOMS).where(ROOMS.c.id == room.id)
        connection.execute(changed.values(version=ROOMS.c.version + 1, state=state_of(room) | values))
        notify(connection, room.id)

    def _delete(self, connection: Connection, room: Room) -> None:
        self.ending(connection, room, self.now())
        connection.execute(delete(ROOMS).where(ROOMS.c.id == room.id))
        notify(connection, room.id)


ROOM_COLUMNS = (ROOMS.c.id, ROOMS.c.code, ROOMS.c.source, ROOMS.c.version, ROOMS.c.state)


def room_of(key: int, code: str, source: str, version: int, state: Mapping[str, object]) -> Room:
    """Return a room as its row has it: JSON has made texts of the numbers of steps."""
    by_step = {name: {int(step): value for step, value in state[name].items()} for name in BY_STEP}
    return Room(key, code, source, version, **{**state, **by_step})


def state_of(room: Room) -> dict[str, object]:
    """Return what the column `state` keeps of a room."""
    return {name: getattr(room, name) for name in KEPT}


def with_counts(connection: Connection, room: Room) -> Room:
    """Return a room with how many are in it and have answered, and the sentence that everyone sees."""
    students = connection.scalar(select(func.count()).select_from(STUDENTS).filter_by(room=room.id))
    counts = select(ENTRIES.c.step, func.count()).filter_by(room=room.id, kind="guess").group_by(ENTRIES.c.step)
    answered = {step: count for step, count in connection.execute(counts)}
    return replace(room, students=students, answered=answered, sentence=shown_sentence(connection, room))


def shown_sentence(connection: Connection, room: Room) -> str | None:
    """Return the sentence that everyone in a room sees; None for none."""
    return None if room.shown is None else sentence_at(connection, room, room.shown)


def sentence_at(connection: Connection, room: Room, student: int) -> str | None:
    """Return the sentence of a student at the room's step."""
    return connection.scalar(select(ENTRIES.c.text).filter_by(student=student, step=room.step, room=room.id, kind="sentence"))


def votes_at(connection: Connection, room: Room, step: int) -> list[Vote]:
    """List what each student guessed at a step, in the order in which they came."""
    asked = select(ENTRIES.c.student, ENTRIES.c.kind, ENTRIES.c.text).filter_by(room=room.id, step=step)
    sent: dict[int, dict[str, str]] = defaultdict(dict)
    for student, kind, text in connection.execute(asked.where(ENTRIES.c.kind.in_(VOTES)).order_by(ENTRIES.c.student)):
        sent[student][kind] = text
    return [Vote(*map(kinds.get, VOTES)) for kinds in sent.values()]


def word_key(guess: str) -> str:
    """Return the key of a guess, whatever its capitals and spaces, under which it is hidden."""
    return hash_token(name_of_guess(guess).casefold())


def hash_token(token: str) -> str:
    """Return the hash under which a token is stored. Tokens are random, 256 bits, so neither salt nor a slow hash is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def check_length(written: str, limit: int, needed: bool = False) -> str:
    """Return the text; raise RoomProblem if it is too long, or empty although needed."""
    if len(written) > limit:
        raise RoomProblem(TOO_LONG.format(length=len(written), limit=limit))
    if needed and not written:
        raise RoomProblem(NOTHING_WRITTEN)
    return written.replace("\0", "")  # PostgreSQL rejects NUL


def check_step(room: Room, step: int) -> None:
    """Raise RoomProblem for a step that the room's lesson does not have."""
    if not 1 <= step <= room.steps:
        raise RoomProblem(NO_SUCH_STEP)


@cached(LRUCache(1), condition=Condition())  # concurrent first calls wait for one to finish
def host_rooms() -> Rooms:
    """Open the rooms of this host where its settings say."""
    settings = host_settings()
    return Rooms(settings.database_url or URL.create("sqlite", database=settings.rooms_file or str(default_file())), settings)
