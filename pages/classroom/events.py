"""What changes in a room, told to every browser in it by server-sent events, and on request where these are blocked.

A room with listeners has one channel. It reads the room once after a change, however many listen, and wakes those whose
message is another one. A browser that reads slowly or is gone holds back its own stream only: a stream keeps nothing but
whether something is new.
"""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from gzip import compress
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from cachetools import TTLCache
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.classroom import texts
from pages.ui.shell.start_page import SHELL
from tx_core.errors import ExplorerError, RoomGone, RoomProblem
from tx_core.settings import host_settings

if TYPE_CHECKING:
    from pages.classroom.results import Votes
    from tx_core.classroom.rooms import Room

TEACHER, STUDENT = "teacher", "student"
"""The roles of the members of a room."""
MEMBERS = "members"
"""Beside the messages of both roles: the ids of who is in the room."""
EVENTS, STATE, STAGE = "classroom_events", "classroom_state", "classroom_stage"
PAUSE_SECONDS = 0.1
"""Between two looks at a room: what happens meanwhile is told together."""
LOOK_SECONDS = 15.0
"""A room is looked at this often without a notification: one may be lost, and SQLite has none between servers."""
SEND_TIMEOUT_SECONDS = 20.0
LEFT_SECONDS = 30.0
"""A student whose browser has stopped listening so long ago is not waited for: a reload takes less."""
MAX_STREAMS = 10
"""Of one key: a browser listens by one for each of its tabs. More ask for the state every few seconds."""
MAX_LEFT = 10_000
"""Students who are remembered as having left."""
MAX_STAGE_BYTES = 32_000_000
"""Of the stages of all rooms that phones are about to fetch; each is forgotten with its room, or when a room would end."""
SWEEP_SECONDS, FIRST_SWEEP_SECONDS = 600.0, 3.0
"""The first one, soon after the start, finds out whether the rooms can be used, and logs why not."""
HEADERS = {"Cache-Control": "no-store"}
CLOSED = json.dumps({"closed": True, "note": texts.CLOSED}, ensure_ascii=False)
"""What everybody in a room is told last."""
GONE = json.dumps({"closed": True, "note": ""})
"""What a key of no member is told: its page runs again, and says whether the room was closed or the student removed."""


class Channel:
    """A room with listeners: its current messages by role, and whom to wake when they change."""

    def __init__(self, room: int):
        self.room = room
        self.messages: dict[str, object] = {}
        self.listeners: dict[asyncio.Event, str] = {}
        self.dirty = asyncio.Event()
        self.task = asyncio.create_task(self.follow())

    async def follow(self) -> None:
        """Read the room after every change, and wake the listeners whose message changed."""
        while True:
            self.dirty.clear()
            with suppress(ExplorerError):  # the database is away, say, which is logged there: what is known stays
                self.publish(await asyncio.to_thread(read_messages, self.room))
            await asyncio.sleep(PAUSE_SECONDS)
            try:
                await asyncio.wait_for(self.dirty.wait(), LOOK_SECONDS)
            except TimeoutError:
                continue

    def publish(self, messages: dict[str, object]) -> None:
        """Replace the messages, and wake the listeners of each role whose message changed."""
        news = {role for role, text in messages.items() if text != self.messages.get(role)}
        self.messages = messages
        for listener, role in self.listeners.items():
            if role in news:
                listener.set()


class SharedStage(NamedTuple):
    """The stage of a step that was revealed, as every phone of a room is shown it: made once.

    votes: which it shows. name: of its data in an address, a hash of them. packed: its data, compressed.
    """

    step: int
    votes: "Votes"
    entry: str
    name: str
    packed: bytes


class Hub:
    """The channels of all rooms with listeners on this server, and the stages that these share; `lock` is held to use those."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        ttl = 3600 * host_settings().room_hours
        self.stages: TTLCache[int, SharedStage] = TTLCache(MAX_STAGE_BYTES, ttl, getsizeof=lambda one: len(one.packed))
        self.channels: dict[int, Channel] = {}
        self.streams: Counter[str] = Counter()
        self.left: TTLCache[int, float] = TTLCache(MAX_LEFT, ttl)
        self.loop: asyncio.AbstractEventLoop | None = None
        self.ending = False

    def end(self) -> None:
        """End all streams, called from any thread: browsers listen again, at the server that they find then."""
        self.ending = True
        if self.loop and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        for channel in self.channels.values():
            for listener in channel.listeners:
                listener.set()

    def notify(self, room: int | None) -> None:
        """Mark a room as changed, None for every room; called from any thread, returns at once."""
        if self.loop and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._mark, room)

    def _mark(self, room: int | None) -> None:
        for channel in self.channels.values():
            if room in (None, channel.room):
                channel.dirty.set()

    def leave(self, student: int | None) -> None:
        """Note when a student has stopped listening; None is a teacher."""
        if student is not None:
            with self.lock:
                self.left[student] = time.monotonic()

    def come_back(self, student: int | None) -> None:
        """Note that a student listens, or asks."""
        with self.lock:
            self.left.pop(student, None)

    def gone(self) -> frozenset[int]:
        """Return the ids of the students who have not listened to this server for LEFT_SECONDS, and did before."""
        with self.lock:
            return frozenset(student for student, since in self.left.items() if time.monotonic() - since >= LEFT_SECONDS)

    async def stream(self, room: int, student: int | None, token: str) -> AsyncIterator[dict[str, str]]:
        """Yield the messages for a student, None for the teacher, now and after every change; the stream ends with the room.

        Yield nothing where so many streams of this token are open.
        """
        if self.streams[token] >= MAX_STREAMS:
            return
        role = TEACHER if student is None else STUDENT
        self.loop = asyncio.get_running_loop()
        channel = self.channels.setdefault(room, None) or Channel(room)
        self.channels[room] = channel
        news, sent = asyncio.Event(), None
        channel.listeners[news] = role
        self.streams[token] += 1
        self.come_back(student)
        try:
            while not self.ending:
                text = channel.messages.get(role)
                if text is not None and text != sent:
                    sent = text
                    yield {"data": text}
                    if text == CLOSED:
                        return
                    is_known = student is None or student in channel.messages.get(MEMBERS, ())
                    if not is_known and not await asyncio.to_thread(is_member, token):
                        yield {"data": GONE}
                        return
                await news.wait()
                news.clear()
        finally:
            del channel.listeners[news]
            self.streams[token] -= 1
            if not self.streams[token]:
                del self.streams[token]
                self.leave(student)
            if not channel.listeners and self.channels.get(room) is channel:
                channel.task.cancel()
                del self.channels[room]


hub = Hub()


def host_store():
    """Return the room store of this host; its changes are reported to the hub, and grades are due when a room ends."""
    # Imported here: SQLAlchemy takes a quarter of a second, for which the start of the server does not wait.
    from tx_core.classroom.launches import settle
    from tx_core.classroom.rooms import host_rooms

    rooms = host_rooms()
    rooms.changed, rooms.ending = hub.notify, settle
    return rooms


def share_stage(room: "Room", votes: "Votes", entry: str, data: bytes) -> None:
    """Share the stage of a step with the phones of a room: its script (`entry`) and what it draws (`data`), made once."""
    if describe_stage(room, votes) is None:
        made = SharedStage(room.step, votes, entry, sha256(data).hexdigest(), compress(data, 6))
        with hub.lock:
            hub.stages[room.id] = made
        hub.notify(room.id)


def describe_stage(room: "Room", votes: "Votes") -> dict[str, object] | None:
    """Return how a phone fetches the stage of the step that is shown; None before it is revealed and shared."""
    from pages.classroom.results import lesson_of
    from pages.ui.stage.scripts import STAGE_FILES

    with hub.lock:
        shared = hub.stages.get(room.id)
    if shared is None or room.step not in room.revealed or (shared.step, shared.votes) != (room.step, votes):
        return None
    scripts = {"drawing": SHELL.address("drawing.js"), "home": STAGE_FILES.address().rstrip("/"), "entry": shared.entry}
    lesson = lesson_of(room.source)
    said = {"then": lesson.steps[room.step - 1].then or "", "recap": lesson.recap_after(room.step)}
    return scripts | said | {"data": f"{STAGE}/{room.id}/{shared.name}"}


def note_left(room: "Room") -> "Room":
    """Return a room with how many are not waited for. With several servers none: a student may listen to another one."""
    rooms, gone = host_store(), hub.gone()
    if not gone or not room.together or host_settings().database_url:
        return room
    return replace(room, left=len(rooms.without_answer(room) & gone))


def read_messages(room: int) -> dict[str, object]:
    """Return the messages for the members of a room, by role, and who they are."""
    # Imported here: lessons take a fifth of a second to import, for which the start of the server does not wait.
    from pages.classroom.results import Votes, message, shows_votes, votes_of

    rooms = host_store()
    now = rooms.room(room)
    if now is None:
        with hub.lock:
            hub.stages.pop(room, None)
        return dict.fromkeys((TEACHER, STUDENT), CLOSED)
    now = note_left(now)
    votes = votes_of(rooms, now, now.step) if shows_votes(now, now.step) else Votes()
    told = {role: message(now, votes, for_teacher=role == TEACHER) for role in (TEACHER, STUDENT)}
    told[STUDENT] |= {"stage": describe_stage(now, votes)}
    return {role: json.dumps(text, ensure_ascii=False) for role, text in told.items()} | {MEMBERS: rooms.student_ids(now)}


def is_member(token: str) -> bool:
    """Return whether a token still leads to a room; True where the database cannot be asked."""
    try:
        return bool(host_store().find_member(token))
    except RoomProblem as problem:
        return not isinstance(problem, RoomGone)


async def events(request: Request) -> Response:
    """Stream the changes of the room of `?key=`: 404 for no room, 429 for one stream too many, 503 without the database."""
    token = request.query_params.get("key", "")
    try:
        room, student = await asyncio.to_thread(lambda: host_store().find_member(token))
    except RoomProblem as problem:
        return Response(str(problem), 404 if isinstance(problem, RoomGone) else 503, HEADERS, "text/plain")
    if hub.streams[token] >= MAX_STREAMS:
        return Response(None, 429, HEADERS)
    return EventSourceResponse(
        hub.stream(room, student, token), ping=LOOK_SECONDS, send_timeout=SEND_TIMEOUT_SECONDS, headers=HEADERS, sep="\n"
    )


async def state(request: Request) -> Response:
    """Answer once with what the event stream would send, for browsers where it is blocked; an unknown key reads as closed."""
    try:
        room, student = await asyncio.to_thread(lambda: host_store().find_member(request.query_params.get("key", "")))
        hub.come_back(student)
        channel = hub.channels.get(room)
        messages = channel.messages if channel and channel.messages else await asyncio.to_thread(read_messages, room)
        return Response(messages[TEACHER if student is None else STUDENT], 200, HEADERS, "application/json")
    except RoomGone:
        return Response(GONE, 200, HEADERS, "application/json")
    except ExplorerError as problem:
        return Response(str(problem), 503, HEADERS, "text/plain")


async def stage(request: Request) -> Response:
    """Serve the data of a shared stage: its name, a hash of what it shows, is told with the answers and not before."""
    with hub.lock:
        found = hub.stages.get(request.path_params["room"])
    if found is None or found.name != request.path_params["name"]:
        return Response(None, 404, HEADERS)
    kept = {"Cache-Control": "private, max-age=31536000, immutable", "Content-Encoding": "gzip"}
    return Response(found.packed, 200, kept, "application/octet-stream")


ROUTES = (Route(f"/{EVENTS}", events), Route(f"/{STATE}", state), Route(f"/{STAGE}/{{room:int}}/{{name}}", stage))


def start_sweeping() -> threading.Event:
    """Delete rooms whose time is over soon and every few minutes, in a thread, until the event is set."""
    over = threading.Event()
    threading.Thread(target=partial(_keep_sweeping, over), name="rooms-sweep", daemon=True).start()
    return over


def _keep_sweeping(over: threading.Event) -> None:
    pause = FIRST_SWEEP_SECONDS
    while not over.wait(pause):
        pause = SWEEP_SECONDS
        with suppress(ExplorerError):  # the database is away, say, which is logged there: the next time may work
            sweep()


def sweep() -> None:
    """Delete rooms whose time is over, and forget the stages of rooms that are closed, on another server or unheard here."""
    rooms = host_store()
    rooms.sweep()
    with hub.lock:
        shared = list(hub.stages)
    gone = [room for room in shared if rooms.room(room) is None]
    with hub.lock:
        for room in gone:
            hub.stages.pop(room, None)
