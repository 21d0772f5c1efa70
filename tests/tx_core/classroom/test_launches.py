"""Whom a learning platform sends into a room gets one grade there, however the room ends; in SQLite and in PostgreSQL alike."""

from collections.abc import Callable

import pytest

from tests.tx_core.classroom.test_rooms import Clock
from tx_core.classroom.launches import (
    FIRST_PAUSE_SECONDS,
    MAX_TRIES,
    Grade,
    claim_due,
    forget,
    guesses_of,
    keep_launch,
    keep_share,
    settle,
    use_nonce,
)
from tx_core.classroom.rooms import Rooms

SOURCE = """
title: A lesson
language: en
level: beginner
minutes: 1
about: It.
steps:
  - {title: One, page: attention, view: {text: hi}, text: Look., question: {ask: "Which?", kind: word,
     answer: {measure: top_word, text: "I [MASK]."}}}
  - {title: Two, page: attention, view: {text: hi}, text: Look., question: {ask: "Which?", kind: word,
     answer: {measure: top_word, text: "I [MASK]."}}}
  - {title: Three, page: attention, view: {text: hi}, text: Look., question: {ask: "Why?", kind: open}}
"""
MODEL = {"right": "went", "value": 0.9, "options": ["went", "go"], "shares": [0.9, 0.1]}


@pytest.fixture
def now() -> Clock:
    return Clock()


@pytest.fixture
def rooms(open_rooms: Callable[..., Rooms], now: Clock) -> Rooms:
    rooms = open_rooms(now=now)
    rooms.ending = settle
    return rooms


def come(rooms: Rooms, code: str, user: str) -> str:
    token = rooms.join(code, fixed_token=f"token of {user}")
    keep_launch(rooms, rooms.student(token), "platform", user, f"https://grades/{user}")
    return token


@pytest.mark.parametrize("how", ["closed", "over"])
def test_a_room_that_ends_gives_grades_of_what_was_revealed_to_those_who_came_from_a_course(rooms: Rooms, now: Clock, how: str):
    room, teacher = rooms.open(SOURCE, 3)
    guesses = {"ada": ("went", "went"), "bob": ("Went ", "go"), "eve": ("go",), "removed": ("went", "went"), "late": ()}
    for user, words in guesses.items():
        token = come(rooms, room.code, user)
        for step, word in enumerate(words, 1):
            rooms.answer(token, step, word)
    rooms.answer(rooms.join(room.code), 1, "went")
    rooms.remove(teacher, next(member.id for member in rooms.members(teacher) if member.number == 4))
    rooms.discuss(teacher, 1)  # nobody votes again: the votes stand
    rooms.reveal(teacher, 1, MODEL)
    rooms.reveal(teacher, 2, MODEL)
    rooms.reveal(teacher, 3, {})
    assert claim_due(rooms) == []
    if how == "closed":
        rooms.close(teacher)
    else:
        now.seconds += 3600 * rooms.settings.room_hours + 1
        rooms.sweep()
    grades = claim_due(rooms)
    assert {grade.user: grade.share for grade in grades} == {"ada": 1, "bob": 0.5, "eve": 0, "late": 0}
    assert {(grade.platform, grade.lineitem) for grade in grades} >= {("platform", "https://grades/ada")}


def test_at_ones_own_pace_a_grade_is_due_at_the_end_and_the_last_share_when_the_room_ends(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, 3, together=False)
    done, half = (rooms.student(come(rooms, room.code, user)).id for user in ("done", "half"))
    alone = rooms.student(rooms.join(room.code)).id
    rooms.answer("token of done", 1, "went")
    assert (guesses_of(rooms, done), guesses_of(rooms, half), guesses_of(rooms, alone)) == ({1: "went"}, {}, None)
    keep_share(rooms, half, 0.5, is_final=False)
    keep_share(rooms, done, 1.0, is_final=True)
    assert [(grade.user, grade.share) for grade in claim_due(rooms)] == [("done", 1.0)]
    keep_share(rooms, done, 0.0, is_final=True)
    assert guesses_of(rooms, done) is None
    rooms.close(teacher)
    assert [(grade.user, grade.share) for grade in claim_due(rooms)] == [("half", 0.5)]


def test_a_grade_is_sent_by_one_server_again_after_longer_and_longer_pauses_and_then_given_up(
    open_rooms: Callable[..., Rooms], now: Clock
):
    one, other = open_rooms(now=now), open_rooms(now=now)
    room, _ = one.open(SOURCE, 3, together=False)
    keep_share(one, one.student(come(one, room.code, "ada")).id, 1.0, is_final=True)
    tried: list[Grade] = []
    for number in range(MAX_TRIES):
        tried += claim_due(one)
        assert len(tried) == number + 1 and claim_due(other) == []
        now.seconds += FIRST_PAUSE_SECONDS * 4**number - 1
        assert claim_due(one) == []
        now.seconds += 1
    assert [grade.is_last for grade in tried] == [False] * (MAX_TRIES - 1) + [True]
    forget(one, tried[-1])
    assert claim_due(one) == []


def test_whoever_comes_again_is_the_same_student_also_where_the_room_is_locked(rooms: Rooms):
    room, teacher = rooms.open(SOURCE, 3, fixed_token="token of the activity")
    assert rooms.open(SOURCE, 3, fixed_token="token of the activity")[0].id == room.id
    first = rooms.student(come(rooms, room.code, "ada"))
    rooms.lock(teacher, True)
    assert rooms.student(come(rooms, room.code, "ada")).id == first.id
    assert len(rooms.members(teacher)) == 1


def test_a_nonce_counts_once_and_is_forgotten_in_time(rooms: Rooms, now: Clock):
    assert [use_nonce(rooms, "n", 60) for _ in range(2)] == [True, False]
    now.seconds += 61
    assert use_nonce(rooms, "n", 60)
