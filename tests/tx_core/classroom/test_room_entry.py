"""Who comes into a room, and how fast; how a teacher keeps others out; how many rooms one address opens."""

import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.tx_core.classroom.test_rooms import SOURCE, STEPS, Clock, message
from tx_core.classroom import rooms as store
from tx_core.classroom.rooms import Rooms
from tx_core.errors import RoomProblem
from tx_core.settings import Settings

SCHOOL = "203.0.113.7"


def try_to_join(rooms: Rooms, code: str, count: int, client: str = SCHOOL) -> int:
    """Join a room many times at once; return how many got in."""

    def join(_number: int) -> str:
        try:
            rooms.join(code, client=client)
            return ""
        except RoomProblem as problem:
            return str(problem)

    with ThreadPoolExecutor(8) as pool:
        said = Counter(pool.map(join, range(count)))
    assert set(said) <= {"", store.TOO_MANY_JOINS}
    return said[""]


def test_classes_behind_one_address_join_at_once_and_one_that_fills_a_room_is_held_up(open_rooms: Callable[..., Rooms]):
    clock = Clock()
    rooms = open_rooms(now=clock)
    codes = [rooms.open(SOURCE, STEPS, client=str(number))[0].code for number in range(4)]
    assert [try_to_join(rooms, code, 30) for code in codes] == [30] * 4
    assert try_to_join(rooms, codes[0], 220) == store.JOINS_OF_ONE_A_MINUTE - 30  # 250 by one
    assert try_to_join(rooms, codes[0], 1, "198.51.100.1") == 1
    assert try_to_join(rooms, codes[1], 1) == 1
    clock.seconds += 61
    assert try_to_join(rooms, codes[0], 1) == 1


def test_nobody_new_joins_a_locked_room_and_who_is_in_it_stays(open_rooms: Callable[..., Rooms]):
    rooms = open_rooms()
    room, teacher = rooms.open(SOURCE, STEPS)
    student = rooms.join(room.code)
    rooms.lock(teacher, True)
    rooms.lock(teacher, True)
    assert rooms.room(room.id).locked
    with pytest.raises(RoomProblem, match=store.IS_LOCKED):
        rooms.join(room.code)
    assert rooms.answer(student, 1, "went") == "went"
    rooms.lock(teacher, False)
    assert rooms.join(room.code) and not rooms.room(room.id).locked


def test_who_has_sent_nothing_is_removed_and_may_join_again(open_rooms: Callable[..., Rooms]):
    rooms = open_rooms()
    room, teacher = rooms.open(SOURCE, STEPS)
    other, _ = rooms.open(SOURCE, STEPS)
    guesser, writer, *silent = [rooms.join(room.code) for _ in range(5)]
    elsewhere = rooms.join(other.code)
    rooms.answer(guesser, 1, "went")
    rooms.send_sentence(writer, 2, "A cat sat.")
    version = rooms.room(room.id).version
    assert sum(member.is_silent for member in rooms.members(teacher)) == 3
    rooms.remove(teacher, None)
    state = rooms.room(room.id)
    assert (state.students, state.answered) == (2, {1: 1})
    assert state.version > version  # else a browser would take the smaller count for an old one
    for token in silent:
        with pytest.raises(RoomProblem, match=re.escape(store.NO_STUDENT)):
            rooms.student(token)
    assert all(map(rooms.student, (guesser, writer, elsewhere, rooms.join(room.code))))


def test_one_address_opens_half_of_a_hosts_rooms_at_most(open_rooms: Callable[..., Rooms]):
    clock = Clock()
    rooms = open_rooms(Settings(max_rooms=5), now=clock)
    tokens = [rooms.open(SOURCE, STEPS, client="one")[1] for _ in range(3)]
    with pytest.raises(RoomProblem, match=message(store.TOO_LARGE_A_SHARE.format(count=3))):
        rooms.open(SOURCE, STEPS, client="one")
    assert rooms.open(SOURCE, STEPS, client="another")
    rooms.close(tokens[0])
    assert rooms.open(SOURCE, STEPS, client="one")
    clock.seconds += 3600 * 25  # all are over
    assert rooms.open(SOURCE, STEPS, client="one")
