"""Launches of rooms by a learning platform: which grade goes back for whom, kept until the platform has it.

A launch belongs to a student of a room. Its grade is the share of the questions asked that the student guessed right: at their
own pace, of all questions of the lesson, due once all are answered; else of those revealed. What is not due is when the room is
closed or its time is over.
"""

from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from tx_core.classroom.lesson_file import read_lesson
from tx_core.classroom.measures import read_answer
from tx_core.classroom.questions import count_right
from tx_core.classroom.room_database import ENTRIES, LAUNCHES, NONCES, STUDENTS
from tx_core.classroom.rooms import VOTES, Room, Rooms, Student

MAX_TRIES, FIRST_PAUSE_SECONDS, AT_ONCE = 6, 60, 20
"""A grade is sent again after 1, 4, 16, … minutes, for six hours in all; how many of them one server sends in a row."""


class Grade(NamedTuple):
    """A grade to be sent. platform: as the caller of `keep_launch` named it. user, lineitem: the platform's own names of the
    student and of the column in its grade book. share: from 0 to 1. is_last: whether it is not tried again."""

    student: int
    platform: str
    user: str
    lineitem: str
    share: float
    is_last: bool


def use_nonce(rooms: Rooms, nonce: str, seconds: int) -> bool:
    """Return whether a nonce was never used before; it is remembered for so many seconds."""
    now = int(rooms.now())
    try:
        with rooms.writing() as connection:
            connection.execute(delete(NONCES).where(NONCES.c.until < now))
            connection.execute(insert(NONCES).values(nonce=nonce, until=now + seconds))
    except IntegrityError:
        return False
    return True


def keep_launch(rooms: Rooms, student: Student, platform: str, user: str, lineitem: str) -> None:
    """Remember where the grade of a student goes, instead of what an earlier launch said."""
    values = {"platform": platform, "user": user, "lineitem": lineitem}
    try:
        with rooms.writing() as connection:
            connection.execute(insert(LAUNCHES).values(student=student.id, room=student.room.id, tries=0, **values))
    except IntegrityError:
        with rooms.writing() as connection:
            connection.execute(update(LAUNCHES).filter_by(student=student.id).values(values))


def guesses_of(rooms: Rooms, student: int) -> dict[int, str] | None:
    """Return the guesses of a student that stand, by step; None where no platform waits for their grade."""
    with rooms.reading() as connection:
        is_launched = connection.scalar(select(LAUNCHES.c.student).filter_by(student=student, due=None))
        return None if is_launched is None else _guesses(connection, student)


def keep_share(rooms: Rooms, student: int, share: float, is_final: bool) -> None:
    """Remember the share of questions that a student guessed right; a final one is sent."""
    due = int(rooms.now()) if is_final else None
    with rooms.writing() as connection:
        connection.execute(update(LAUNCHES).filter_by(student=student, due=None).values(share=share, due=due))


def settle(connection: Connection, room: Room, now: float) -> None:
    """Make all grades of a room due that is about to be deleted, and forget the launches that come to no grade."""
    here = (LAUNCHES.c.room == room.id, LAUNCHES.c.due.is_(None))
    asked = select(LAUNCHES.c.student, LAUNCHES.c.share).join(STUDENTS, STUDENTS.c.id == LAUNCHES.c.student).where(*here)
    for student, share in connection.execute(asked).all():
        if room.together:
            share = share_right(room, _guesses(connection, student))
        if share is not None:
            connection.execute(update(LAUNCHES).filter_by(student=student).values(share=share, due=int(now)))
    connection.execute(delete(LAUNCHES).where(*here))


def share_right(room: Room, guesses: dict[int, str]) -> float | None:
    """Return the share of the revealed questions with a right answer that were guessed right; None where there are none."""
    answers = {step: answer for step, kept in room.revealed.items() if (answer := read_answer(kept))}
    if not answers:
        return None
    steps = read_lesson(room.source.encode()).steps
    right = sum(count_right(steps[at - 1].question, answers[at], [guess]) for at, guess in guesses.items() if at in answers)
    return right / len(answers)


def claim_due(rooms: Rooms) -> list[Grade]:
    """Return grades to be sent now, each to one server alone; those that are not `forget`-ed are due again later."""
    now, claimed = int(rooms.now()), []
    with rooms.writing() as connection:
        rows = connection.execute(select(LAUNCHES).where(LAUNCHES.c.due <= now).order_by(LAUNCHES.c.due).limit(AT_ONCE)).all()
        for row in rows:
            later = {"tries": row.tries + 1, "due": now + FIRST_PAUSE_SECONDS * 4**row.tries}
            mine = connection.execute(update(LAUNCHES).filter_by(student=row.student, tries=row.tries).values(later))
            if mine.rowcount:
                is_last = row.tries + 1 >= MAX_TRIES  # a server may have died at the last try
                claimed.append(Grade(row.student, row.platform, row.user, row.lineitem, row.share, is_last))
    return claimed


def forget(rooms: Rooms, grade: Grade) -> None:
    """Forget a grade that the platform has, or will never have."""
    with rooms.writing() as connection:
        connection.execute(delete(LAUNCHES).filter_by(student=grade.student))


def _guesses(connection: Connection, student: int) -> dict[int, str]:
    asked = select(ENTRIES.c.step, ENTRIES.c.text).where(ENTRIES.c.student == student, ENTRIES.c.kind.in_(VOTES))
    return {step: text for step, text in connection.execute(asked.order_by(ENTRIES.c.kind))}  # a first vote stands unless changed
