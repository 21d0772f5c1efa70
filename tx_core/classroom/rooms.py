"""Rooms, in which a class takes a lesson together: their members, current step, answers and reveals.

There are no accounts. The teacher and each student hold a secret token; only their hashes are stored, and every
request is authorised by a token of the room. SQLite keeps the rooms of one server, PostgreSQL
those of several. This module imports no torch.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from functools import partialmethod
from threading import Condition, Event, Lock

from cachetools import LRUCache, cached
from sqlalchemy import URL, Connection, Table, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from tx_core.classroom.lesson_file import MAX_LESSON_BYTES, TOO_LARGE
from tx_core.classroom.room_database import (
    ALONE,
    ANSWERS,
    CODE_LETTERS,
    DISCUSSED,
    FIRST_VOTES,
    HIDDEN_WORDS,
    LOCKED,
    MAX_NICKNAME_CHARACTERS,
    MAX_SENTENCE_CHARACTERS,
    REVEALED,
    ROOMS,
    SENTENCES,
    STUDENTS,
    TABLES,
    connect,
    default_file,
    empty_log,
    explained_failures,
    hash_token,
    is_shared,
    listen,
    notify,
    take_lock,
)
from tx_core.classroom.room_limits import Openers, RateCount, check_length, check_step
from tx_core.classroom.room_queries import (
    are_silent,
    count_rooms,
    count_silent,
    count_students,
    export_rows,
    is_marked,
    list_members,
    read_state,
    revealed_steps,
    sent_guesses,
    sent_sentences,
    sent_words,
    word_key,
)
from tx_core.classroom.room_records import Limits, Member, Room, Sentence, State, Student, Word
from tx_core.errors import RoomGone, RoomProblem
from tx_core.settings import host_settings

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""Letters of room codes: without I, L and O, which are misread as 1 and 0 on a projector."""
MAX_GUESS_CHARACTERS = 1000
WRONG_CODES_A_MINUTE, WRONG_CODES_OF_ALL_A_MINUTE, ROOMS_OF_ONE_AN_HOUR = 30, 300, 20
"""Rate limits, generous because a whole school may share one address. Still, only 432,000 of the 148 million codes can be tried
in a day."""
JOINS_OF_ONE_A_MINUTE = 100
"""Joins of one address to one room: three classes of 30."""

NO_ROOM = "There is no room with this code. Check the six letters; a room closes when its time is over, or its teacher closes it."
NO_TEACHER = "This link leads to no room. A room closes when its time is over, or its teacher closes it. Open a new one."
NO_STUDENT = "You are not in this room any more, or it is closed. Join again with its code."
TOO_MANY_CODES = "Too many wrong codes in a minute. Look at the code again, and try in a minute."
TOO_MANY_ROOMS = "No more rooms can be opened here now. Close one that is not needed, or try again later."
TOO_LARGE_A_SHARE = "{count:,} rooms are open from your network, half of what this server takes. Close one that is not needed."
TOO_MANY_JOINS = "Very many have joined this room from your network in the last minute. Try again in a minute."
IS_LOCKED = "The teacher has locked this room: nobody new can join it now. Ask the teacher to let you in."
ROOM_IS_FULL = "This room is full: it takes {limit:,} students. Watch with a neighbour, or ask the teacher for a second room."
TOO_MANY_ANSWERS = "Too many answers in a minute. Your last one is kept; wait a moment before the next."
IS_REVEALED = "Your guess came after the reveal."
IS_FINAL = "Your first guess counts: you have seen what the model says."
ANOTHER_SENTENCE = "This sentence was changed or is gone. Look at what is there now before you show it."

DEFAULT_LIMITS = Limits()
ROOM_COLUMNS = [ROOMS.c[field.name] for field in fields(Room)]


class Rooms:
    """The store of all rooms of a host.

    url: SQLAlchemy's address of the database. now: seconds since 1970. The callback `changed` receives the id of a room
    (None = any) after each stored change, answers included; with PostgreSQL, on every server.
    """

    def __init__(self, url: str | URL, limits: Limits = DEFAULT_LIMITS, now: Callable[[], float] = time.time):
        self.engine = connect(url)
        self.limits, self.now = limits, now
        self.changed: Callable[[int | None], None] = lambda room: None
        self._wrong_codes, self._sent, self._joined, self._opened = (RateCount(span, now) for span in (60, 60, 60, 3600))
        self._openers = Openers()
        self._writing, self._stopped = Lock(), Event()
        with self._write() as connection:
            take_lock(connection, "tables")  # of two servers that start at the same time, one creates them
            TABLES.create_all(connection)
        self._listener = listen(self.engine, lambda room: self.changed(room), self._stopped) if is_shared(self.engine) else None

    def dispose(self) -> None:
        """Close every connection."""
        self._stopped.set()
        if self._listener:
            self._listener.join()
        self.engine.dispose()

    def open(
        self,
        source: str,
        steps: int,
        *,
        lesson: str = "",
        together: bool = True,
        nicknames: bool = False,
        alone: bool = False,
        client: str = "",
    ) -> tuple[Room, str]:
        """Open a room for a lesson with so many steps; return it and its teacher's token, of which only the hash is stored.

        alone: whether its students see no menu and no other pages.

        Raises RoomProblem where the host or this client, by its address, has too many.
        """
        if (size := len(source.encode())) > MAX_LESSON_BYTES:
            raise RoomProblem(TOO_LARGE.format(size=size, limit=MAX_LESSON_BYTES))
        self.sweep()
        if client and self._opened.add(client) > ROOMS_OF_ONE_AN_HOUR:
            raise RoomProblem(TOO_MANY_ROOMS)
        token = secrets.token_urlsafe(32)
        values = {"teacher": hash_token(token), "lesson": lesson, "source": source, "steps": steps, "step": 1, "version": 1}
        values |= {"together": together, "nicknames": nicknames, "opened": int(self.now())}
        while True:
            code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LETTERS))
            try:
                with self._write() as connection:
                    take_lock(connection, "rooms")
                    if count_rooms(connection) >= self.limits.rooms:
                        raise RoomProblem(TOO_MANY_ROOMS)
                    if client and count_rooms(connection, self._openers.rooms_of(client)) >= self.limits.share:
                        raise RoomProblem(TOO_LARGE_A_SHARE.format(count=self.limits.share))
                    key = connection.execute(insert(ROOMS).values(code=code, **values)).inserted_primary_key[0]
                    if alone:
                        connection.execute(insert(ALONE).values(room=key))
                room = self.of_teacher(token)
                self._openers.add(room.id, client)
                return room, token
            except IntegrityError:  # another room has this code
                continue

    def of_teacher(self, token: str) -> Room:
        """Return the room of a teacher's token. Raises RoomProblem."""
        with self._read() as connection:
            return self._teachers_room(connection, token)

    def join(self, code: str, nickname: str = "", client: str = "") -> str:
        """Join a room; return the student's token, of which only the hash is stored. Raises RoomProblem."""
        nickname = check_length(" ".join(nickname.split()), MAX_NICKNAME_CHARACTERS)
        room = self.of_code(code, client)
        if client and self._joined.add(room.id, client) > JOINS_OF_ONE_A_MINUTE:
            raise RoomProblem(TOO_MANY_JOINS)
        token = secrets.token_urlsafe(32)
        with self._write() as connection:
            if self._room(connection, ROOMS.c.id == room.id, lock=True) is None:  # closed meanwhile
                raise RoomGone(NO_ROOM)
            if is_marked(connection, LOCKED, room.id):
                raise RoomProblem(IS_LOCKED)
            if count_students(connection, room.id) >= self.limits.students:
                raise RoomProblem(ROOM_IS_FULL.format(limit=self.limits.students))
            values = {"room": room.id, "token": hash_token(token), "nickname": nickname if room.nicknames else "", "step": 1}
            connection.execute(insert(STUDENTS).values(values))
            notify(connection, room.id)
        self._report_change(room.id)
        return token

    def of_code(self, code: str, client: str = "") -> Room:
        """Return a room by its code; wrong codes are rate-limited, per client and in all. Raises RoomProblem."""
        limits = {("client", client): WRONG_CODES_A_MINUTE, ("all", ""): WRONG_CODES_OF_ALL_A_MINUTE}
        if any(self._wrong_codes.get(*key) >= limit for key, limit in limits.items()):
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
        with self._read() as connection:
            return self._room(connection, ROOMS.c.code == code)

    def student(self, token: str) -> Student:
        """Return the student of a token. Raises RoomProblem."""
        with self._read() as connection:
            return self._member(connection, token)

    def answer(self, token: str, step: int, guess: str) -> str:
        """Store a student's guess at a step, replacing an earlier one, until it is revealed; return it. Raises RoomProblem."""
        guess = check_length(guess.strip(), MAX_GUESS_CHARACTERS, needed=True)
        self._store_entry(token, step, ANSWERS, {"guess": guess}, until_revealed=True)
        return guess

    def send_sentence(self, token: str, step: int, written: str) -> str:
        """Store a student's own sentence for a step, for the teacher to see; return it. Raises RoomProblem."""
        written = check_length(" ".join(written.split()), MAX_SENTENCE_CHARACTERS, needed=True)
        self._store_entry(token, step, SENTENCES, {"text": written}, until_revealed=False)
        return written

    def _store_entry(self, token: str, step: int, table: Table, values: dict[str, str], until_revealed: bool) -> None:
        if self._sent.add(hash_token(token)) > self.limits.answers_a_minute:
            raise RoomProblem(TOO_MANY_ANSWERS)
        put = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[self.engine.dialect.name](table)
        with self._write() as connection:
            student = self._member(connection, token, lock=True)
            check_step(student.room, step)
            if until_revealed and step in revealed_steps(connection, student.room.id):
                raise RoomProblem(IS_REVEALED)
            own = select(table.c.student).filter_by(student=student.id, step=step)
            if until_revealed and not student.room.together and connection.scalar(own) is not None:
                raise RoomProblem(IS_FINAL)
            if table is SENTENCES and (student.room.shown, student.room.step) == (student.id, step):
                # Stop showing a sentence that its student changes: the teacher has approved only the old one.
                self._change(connection, student.room, shown=None)
            put = put.values(student=student.id, step=step, room=student.room.id, **values)
            connection.execute(put.on_conflict_do_update(index_elements=["student", "step"], set_=values))
            notify(connection, student.room.id)
        self._report_change(student.room.id)

    def own_entries(self, token: str, step: int) -> tuple[str | None, str | None, str | None]:
        """Return a student's guess, sentence and first vote at a step; None for what was not sent. Raises RoomProblem."""
        with self._read() as connection:
            student = self._member(connection, token)
            columns = (ANSWERS.c.guess, SENTENCES.c.text, FIRST_VOTES.c.guess)
            parts = [select(column).filter_by(student=student.id, step=step) for column in columns]
            return tuple(connection.execute(select(*(part.scalar_subquery() for part in parts))).one())

    def go(self, token: str, step: int) -> None:
        """Go to a step: a teacher moves the whole room, a student only themselves. Raises RoomProblem."""
        with self._write() as connection:
            room = self._room(connection, ROOMS.c.teacher == hash_token(token), lock=True)
            if room is None:
                student = self._member(connection, token)
                check_step(student.room, step)
                connection.execute(update(STUDENTS).where(STUDENTS.c.id == student.id).values(step=step))
                return
            check_step(room, step)
            self._change(connection, room, step=step, shown=None)
        self._report_change(room.id)

    def set_pace(self, token: str, together: bool) -> None:
        """Set whether students follow the teacher's step or continue from it at their own pace. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            self._change(connection, room, together=together)
            connection.execute(update(STUDENTS).where(STUDENTS.c.room == room.id).values(step=room.step))

    def reveal(self, token: str, step: int, answer: Mapping[str, object]) -> None:
        """Close a step for guesses and store the model's answer. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            check_step(room, step)
            if step not in revealed_steps(connection, room.id):
                connection.execute(insert(REVEALED).values(room=room.id, step=step, answer=json.dumps(dict(answer))))
                self._change(connection, room)

    def conceal(self, token: str, step: int) -> None:
        """Hide the answers of a step again: guesses may be sent and changed. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            connection.execute(delete(REVEALED).filter_by(room=room.id, step=step))
            self._change(connection, room)

    def discuss(self, token: str, step: int) -> None:
        """Keep the guesses of a step as the first vote, after which the class votes again. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            check_step(room, step)
            known = connection.scalar(select(DISCUSSED.c.room).filter_by(room=room.id, step=step))
            if known is None and step not in revealed_steps(connection, room.id):
                here = {"room": room.id, "step": step}
                votes = select(*(ANSWERS.c[column.name] for column in FIRST_VOTES.c)).filter_by(**here)
                connection.execute(insert(FIRST_VOTES).from_select([column.name for column in FIRST_VOTES.c], votes))
                connection.execute(delete(ANSWERS).filter_by(**here))
                connection.execute(insert(DISCUSSED).values(**here, shown=False))
                self._change(connection, room)

    def show_first_vote(self, token: str, step: int, shown: bool) -> None:
        """Show the first vote at a step to the class before it votes again, or hide it. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            mine = (DISCUSSED.c.room == room.id, DISCUSSED.c.step == step)
            connection.execute(update(DISCUSSED).where(*mine).values(shown=shown))
            self._change(connection, room)

    def words(self, token: str, step: int) -> list[Word]:
        """List what was guessed at a step, the most frequent first, for the teacher. Raises RoomProblem."""
        with self._read() as connection:
            room = self._teachers_room(connection, token)
            return sent_words(connection, room.id, step)

    def hide_word(self, token: str, step: int, word: str, hidden: bool) -> None:
        """Keep a guess from the class at a step, by whomever and whenever it is sent, or show it again. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            check_step(room, step)
            here = {"room": room.id, "step": step, "word": word_key(word)}
            connection.execute(delete(HIDDEN_WORDS).filter_by(**here))
            if hidden and here["word"] in {word_key(sent.text) for sent in sent_words(connection, room.id, step)}:
                connection.execute(insert(HIDDEN_WORDS).values(**here))
            self._change(connection, room)

    def members(self, token: str) -> list[Member]:
        """List the students of a room, for their teacher. Raises RoomProblem."""
        with self._read() as connection:
            room = self._teachers_room(connection, token)
            return list_members(connection, room.id)

    def remove(self, token: str, student: int) -> None:
        """Remove a student with all that they sent; they may join again. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            connection.execute(delete(STUDENTS).filter_by(room=room.id, id=student))
            self._change(connection, room)

    def show(self, token: str, student: int | None, seen: str = "") -> None:
        """Show a student's sentence at the room's step, if it is still the one seen; None shows nobody's. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            known = select(SENTENCES.c.text).filter_by(student=student, step=room.step, room=room.id)
            if student is not None and connection.scalar(known) != seen:
                raise RoomProblem(ANOTHER_SENTENCE)
            self._change(connection, room, shown=student)

    def lock(self, token: str, locked: bool) -> None:
        """Lock or unlock a room for new members; present ones stay. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            connection.execute(delete(LOCKED).filter_by(room=room.id))
            if locked:
                connection.execute(insert(LOCKED).values(room=room.id))
            self._change(connection, room)

    def silent(self, token: str) -> int:
        """Count the students who have sent neither an answer nor a sentence at any step. Raises RoomProblem."""
        with self._read() as connection:
            room = self._teachers_room(connection, token)
            return count_silent(connection, room.id)

    def remove_silent(self, token: str) -> int:
        """Remove the students that `silent` counts, who may join again; return how many. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            removed = connection.execute(delete(STUDENTS).where(*are_silent(room.id))).rowcount
            self._change(connection, room)
        return removed

    def close(self, token: str) -> None:
        """Close a room and delete all its data. Raises RoomProblem."""
        with self._teaching(token) as (connection, room):
            self._delete(connection, room.id)
        self._clean_up()

    def state(self, room: int) -> State | None:
        """Return the state of a room that is pushed to its members, None once it is closed. The caller has checked a token."""
        with self._read() as connection:
            found = self._room(connection, ROOMS.c.id == room)
            return None if found is None else read_state(connection, found)

    def guesses(self, room: int, step: int, first: bool = False) -> list[str]:
        """List the guesses at a step of a room, or its first vote, but for hidden words. The caller has checked a token."""
        with self._read() as connection:
            return sent_guesses(connection, room, step, first)

    def sentences(self, token: str, step: int) -> list[Sentence]:
        """List the students' own sentences at a step, for their teacher. Raises RoomProblem."""
        with self._read() as connection:
            room = self._teachers_room(connection, token)
            return sent_sentences(connection, room.id, step)

    def export(self, token: str) -> list[tuple[int, int, str, str | None, str | None, str | None]]:
        """List every answer and sentence: the student's number in the room, the step, nickname, guess, sentence, first vote."""
        with self._read() as connection:
            room = self._teachers_room(connection, token)
            return export_rows(connection, room.id)

    def sweep(self) -> int:
        """Delete expired rooms; return how many."""
        with self._write() as connection:
            old = select(ROOMS.c.id).where(ROOMS.c.opened < self._oldest())
            gone = list(connection.scalars(old))
            for room in gone:
                self._delete(connection, room)
        for room in gone:
            self._report_change(room)
        if gone:
            self._clean_up()
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

    _read = partialmethod(_connected, writes=False)
    _write = partialmethod(_connected, writes=True)

    @contextmanager
    def _teaching(self, token: str) -> Iterator[tuple[Connection, Room]]:
        """Yield a transaction on a teacher's room; notify its members once it is committed. Raises RoomProblem."""
        with self._write() as connection:
            room = self._teachers_room(connection, token, lock=True)
            yield connection, room
        self._report_change(room.id)

    def _report_change(self, room: int) -> None:
        """Call `changed`, unless the PostgreSQL listener does."""
        if self._listener is None:
            self.changed(room)

    def _oldest(self) -> int:
        return int(self.now() - 3600 * self.limits.hours)

    def _room(self, connection: Connection, condition: object, lock: bool = False) -> Room | None:
        asked = select(*ROOM_COLUMNS).where(condition, ROOMS.c.opened >= self._oldest())
        row = connection.execute(asked.with_for_update() if lock else asked).first()
        return Room(*row) if row else None

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
        *room, member, nickname, step = row
        return Student(member, Room(*room), nickname, step)

    def _change(self, connection: Connection, room: Room, **values: object) -> None:
        """Update a room and increment its version."""
        connection.execute(update(ROOMS).where(ROOMS.c.id == room.id).values(version=ROOMS.c.version + 1, **values))
        notify(connection, room.id)

    def _delete(self, connection: Connection, room: int) -> None:
        connection.execute(delete(ROOMS).where(ROOMS.c.id == room))
        notify(connection, room)

    def _clean_up(self) -> None:
        with explained_failures(self.engine):
            empty_log(self.engine)


@cached(LRUCache(1), condition=Condition())  # concurrent first calls wait for one to finish
def host_rooms() -> Rooms:
    """Open the rooms of this host where its settings say."""
    settings = host_settings()
    url = settings.database_url or URL.create("sqlite", database=settings.rooms_file or str(default_file()))
    limits = Limits(settings.max_rooms, settings.max_students, settings.max_answers_a_minute, settings.room_hours)
    return Rooms(url, limits)
