"""Queries about one room, by its key, within a transaction of `rooms.Rooms`."""

import json

from sqlalchemy import ColumnElement, Connection, func, select, union

from tx_core.classroom.room_database import ANSWERS, LOCKED, REVEALED, ROOMS, SENTENCES, STUDENTS
from tx_core.classroom.room_records import Room, Sentence, State


def count_students(connection: Connection, room: int) -> int:
    """Count who has joined a room."""
    return connection.scalar(select(func.count()).select_from(STUDENTS).filter_by(room=room))


def revealed_steps(connection: Connection, room: int) -> set[int]:
    """Return the steps whose answers are revealed."""
    return set(connection.scalars(select(REVEALED.c.step).filter_by(room=room)))


def is_room_locked(connection: Connection, room: int) -> bool:
    """Return whether a room is closed to new members."""
    return connection.scalar(select(LOCKED.c.room).filter_by(room=room)) is not None


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
    return State(room, count_students(connection, room.id), answered, revealed, sentence, is_room_locked(connection, room.id))


def sent_sentences(connection: Connection, room: int, step: int) -> list[Sentence]:
    """List the students' own sentences at a step."""
    asked = select(SENTENCES.c.student, STUDENTS.c.nickname, SENTENCES.c.text).join(STUDENTS)
    rows = connection.execute(asked.where(SENTENCES.c.room == room, SENTENCES.c.step == step).order_by(STUDENTS.c.id))
    return [Sentence(*row) for row in rows]


def export_rows(connection: Connection, room: int) -> list[tuple[int, int, str, str | None, str | None]]:
    """List every answer and sentence: the student's number in the room, the step, nickname, guess, sentence."""
    students = select(STUDENTS.c.id, STUDENTS.c.nickname).filter_by(room=room).order_by(STUDENTS.c.id)
    numbers = {student: (number, name) for number, (student, name) in enumerate(connection.execute(students), 1)}
    kept: dict[tuple[int, int], dict[str, str]] = {}
    for table, column in ((ANSWERS, ANSWERS.c.guess), (SENTENCES, SENTENCES.c.text)):
        for student, step, written in connection.execute(select(table.c.student, table.c.step, column).filter_by(room=room)):
            if student in numbers:  # omits students who joined after the first query
                kept.setdefault((student, step), {})[column.name] = written
    rows = [(*numbers[student], step, cells) for (student, step), cells in kept.items()]
    return sorted((number, step, name, cells.get("guess"), cells.get("text")) for number, name, step, cells in rows)
