"""Limits of rooms: the length of texts, the number of steps, and rates."""

from collections.abc import Callable, Hashable
from threading import Lock

from cachetools import LRUCache, TTLCache

from tx_core.classroom.room_records import Room
from tx_core.errors import RoomProblem

MAX_COUNTED, MAX_OPENERS = 100_000, 10_000
"""Bounds of memory: counted keys, and rooms with a known opener; the oldest are evicted first."""
TOO_LONG = "This has {length:,} characters, and at most {limit:,} are kept. Shorten it."
NOTHING_WRITTEN = "Nothing is written here yet."
NO_SUCH_STEP = "This room has no such step."


class RateCount:
    """Requests by key in fixed windows of time; counts restart with each window.

    seconds: the length of such a window. now: seconds since 1970.
    """

    def __init__(self, seconds: int, now: Callable[[], float]):
        self._seconds, self._now, self._guard = seconds, now, Lock()
        self._counts: TTLCache[tuple[Hashable, ...], int] = TTLCache(MAX_COUNTED, seconds, now)

    def add(self, *key: Hashable) -> int:
        """Count one request; return the new count."""
        with self._guard:
            self._counts[self._window(key)] = count = self._counts.get(self._window(key), 0) + 1
        return count

    def get(self, *key: Hashable) -> int:
        """Return the count of the current window."""
        with self._guard:
            return self._counts.get(self._window(key), 0)

    def _window(self, key: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        return (*key, int(self._now() // self._seconds))


class Openers:
    """The address that opened each room, in this server's memory only: addresses are never stored."""

    def __init__(self) -> None:
        self._clients: LRUCache[int, str] = LRUCache(MAX_OPENERS)
        self._guard = Lock()

    def add(self, room: int, client: str) -> None:
        """Record which client opened a room."""
        with self._guard:
            self._clients[room] = client

    def rooms_of(self, client: str) -> list[int]:
        """Return the keys of the rooms that a client opened, closed ones included."""
        with self._guard:
            return [room for room, opener in self._clients.items() if opener == client]


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
