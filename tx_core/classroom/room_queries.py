"""Queries about one room, by its key, within a transaction of `rooms.Rooms`."""

import json

from sqlalchemy import ColumnElement, Connection, Table, func, select, union

from tx_core.classroom.questions import count_names, name_of_guess
from tx_core.classroom.room_database import (
    ALONE,
    ANSWERS,
    DISCUSSED,
    FIRST_VOTES,
    HIDDEN_WORDS,
    LOCKED,
    REVEALED,
    ROOMS,
    SENTENCES,
    STUDENTS,
    hash_token,
)
from tx_core.classroom.room_records import Member, Room, Sentence, State, Word


def count_students(connection: Connection, room: int) -> int:
    """Count who has joined a room."""
    return connection.scalar(select(func.count()).select_from(STUDENTS).filter_by(room=room))


def revealed_steps(connection: Connection, room: int) -> set[int]:
    """Return the steps whose answers are revealed."""
    return set(connection.scalars(select(REVEALED.c.step).filter_by(room=room)))


def is_marked(connection: Connection, table: Table, room: int) -> bool:
    """Return whether a room stands in a table such as that of locked ones."""
    return connection.scalar(select(table.c.room).filter_by(room=room)) is not None


def word_key(guess: str) -> str:
    """Return the key of a guess, whatever its capitals and spaces, under which it is hidden."""
    return hash_token(name_of_guess(guess).casefold())


def sent_guesses(connection: Connection, room: int, step: int, first: bool) -> list[str]:
    """List the guesses at a step, or the first votes, without hidden words."""
    table = FIRST_VOTES if first else ANSWERS
    hidden = set(connection.scalars(select(HIDDEN_WORDS.c.word).filter_by(room=room, step=step)))
    sent = connection.scalars(select(table.c.guess).filter_by(room=room, step=step).order_by(table.c.student))
    return [guess for guess in sent if not hidden or word_key(guess) not in hidden]


def sent_words(connection: Connection, room: int, step: int) -> list[Word]:
    """List what was guessed at a step, the most frequent first, hidden words included."""
    hidden = set(connection.scalars(select(HIDDEN_WORDS.c.word).filter_by(room=room, step=step)))
    names, counts = count_names(list(connection.scalars(select(ANSWERS.c.guess).filter_by(room=room, step=step))))
    return [Word(names[name], count, word_key(name) in hidden) for name, count in counts.most_common()]


def list_members(connection: Connection, room: int) -> list[Member]:
    """List the students of a room, in the order in which they came."""
    counts = select(ANSWERS.c.student, func.count()).filter_by(room=room).group_by(ANSWERS.c.student)
    guesses = {student: count for student, count in connection.execute(counts)}
    students = connection.execute(select(STUDENTS.c.id, STUDENTS.c.nickname).filter_by(room=room).order_by(STUDENTS.c.id))
    return [Member(student, number, name, guesses.get(student, 0)) for number, (student, name) in enumerate(students, 1)]


def are_silent(room: int) -> tuple[ColumnElement[bool], ...]:
    """Return the SQL conditions for students of a room who have sent neither an answer nor a sentence at any step."""
    sent = union(*(select(table.c.student).filter_by(room=room) for table in (ANSWERS, SENTENCES)))
    return STUDENTS.c.room == room, STUDENTS.c.id.not_in(sent)


def count_silent(connection: Connection, room: int) -> int:
    """Count the students of whom `are_silent` is true."""
    return connection.scalar(select(func.count()).select_from(STUDENTS).where(*are_silent(room)))


def count_rooms(connection: Connection, keys: list[int] | None = None) -> int:
    """Count the rooms in the database: all, or those with these keys."""
    asked = select(func.count()).select_from(ROOMS)
    return connection.scalar(asked if keys is None else asked.where(ROOMS.c.id.in_(keys)))


def read_state(connection: Connection, room: Room) -> State:
    """Return the state of a room that is pushed to its members."""
    rows = connection.execute(select(REVEALED.c.step, REVEALED.c.answer).filter_by(room=room.id))
    revealed = {step: json.loads(answer) for step, answer in rows}
    counts = select(ANSWERS.c.step, func.count()).filter_by(room=room.id).group_by(ANSWERS.c.step)
    answered = {step: count for step, count in connection.execute(counts)}
    shown = select(SENTENCES.c.text).filter_by(room=room.id, student=room.shown, step=room.step)
    sentence = None if room.shown is None else connection.scalar(shown)
    locked, alone = (is_marked(connection, table, room.id) for table in (LOCKED, ALONE))
    rows = connection.execute(select(DISCUSSED.c.step, DISCUSSED.c.shown).filter_by(room=room.id))
    discussed = {step: shown for step, shown in rows}
    return State(room, count_students(connection, room.id), answered, revealed, sentence, locked, alone, discussed)


def sent_sentences(connection: Connection, room: int, step: int) -> list[Sentence]:
    """List the students' own sentences at a step."""
    asked = select(SENTENCES.c.student, STUDENTS.c.nickname, SENTENCES.c.text).join(STUDENTS)
    rows = connection.execute(asked.where(SENTENCES.c.room == room, SENTENCES.c.step == step).order_by(STUDENTS.c.id))
    return [Sentence(*row) for row in rows]


def export_rows(connection: Connection, room: int) -> list[tuple[int, int, str, str | None, str | None, str | None]]:
    """List every answer and sentence: the student's number in the room, the step, nickname, guess, sentence, first vote."""
    students = select(STUDENTS.c.id, STUDENTS.c.nickname).filter_by(room=room).order_by(STUDENTS.c.id)
    numbers = {student: (number, name) for number, (student, name) in enumerate(connection.execute(students), 1)}
    kept: dict[tuple[int, int], dict[str, str]] = {}
    columns = {"guess": ANSWERS.c.guess, "text": SENTENCES.c.text, "first": FIRST_VOTES.c.guess}
    for name, column in columns.items():
        table = column.table
        for student, step, written in connection.execute(select(table.c.student, table.c.step, column).filter_by(room=room)):
            if student in numbers:  # omits students who joined after the first query
                kept.setdefault((student, step), {})[name] = written
    rows = [(*numbers[student], step, cells) for (student, step), cells in kept.items()]
    return sorted((number, step, name, *map(cells.get, columns)) for number, name, step, cells in rows)
