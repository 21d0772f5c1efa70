"""Changes of a room reach everybody in it, and nobody else; whoever reads slowly, or not at all, holds nobody back."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request

from pages.classroom import events, texts
from pages.classroom.events import CLOSED, EVENTS, GONE, STATE, STUDENT, TEACHER, Hub
from pages.classroom.results import Votes
from tests.support.apart import run_apart
from tests.support.postgres import postgres
from tests.support.serving import ROOT, WITHOUT_MODELS, fetch, serving
from tx_core.classroom.rooms import Rooms

pytestmark = pytest.mark.ci
SOURCE = (ROOT / "assets" / "lessons" / "path.yaml").read_text("utf-8")
STEPS = 10
MARK = "Xylophones"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    messages = {TEACHER: "t0", STUDENT: "s0"}
    monkeypatch.setattr(events, "read_messages", lambda room: dict(messages))
    monkeypatch.setattr(events, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(events, "is_member", lambda token: True)
    return messages


async def next_of(stream) -> str:
    async with asyncio.timeout(120):
        return (await anext(stream))["data"]


def test_everybody_hears_the_last_state_and_one_who_does_not_read_holds_nobody_back(told: dict[str, str]):
    async def play() -> None:
        hub = Hub()
        slow, fast, teacher = hub.stream(1, 7, "a"), hub.stream(1, 7, "b"), hub.stream(1, None, "c")
        assert [await next_of(one) for one in (slow, fast, teacher)] == ["s0", "s0", "t0"]
        for number in range(1, 50):
            told[STUDENT] = f"s{number}"
            hub.notify(1)
            assert await next_of(fast) == f"s{number}"
        assert await next_of(slow) == "s49"  # one message, not 49: nothing is kept for who does not read
        told[TEACHER] = "t1"
        waiting = asyncio.create_task(anext(fast))
        hub.notify(1)
        assert await next_of(teacher) == "t1" and not waiting.done()  # a student is not woken for the teacher's news
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        for one in (slow, fast, teacher):
            await one.aclose()
        assert not hub.channels

    run_apart(play())


def test_one_key_has_ten_streams_and_another_key_its_own(told: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "hub", hub := Hub())
    monkeypatch.setattr(events, "host_store", lambda: SimpleNamespace(find_member=lambda token: (1, 7)))

    async def play() -> None:
        streams = [hub.stream(1, 7, "a") for _ in range(events.MAX_STREAMS)]
        assert [await next_of(one) for one in streams] == ["s0"] * events.MAX_STREAMS
        with pytest.raises(StopAsyncIteration):
            await next_of(hub.stream(1, 7, "a"))
        asked = Request({"type": "http", "query_string": b"key=a", "headers": []})
        assert (await events.events(asked)).status_code == 429
        other = hub.stream(1, 8, "b")
        assert await next_of(other) == "s0"
        await streams.pop().aclose()
        again = hub.stream(1, 7, "a")
        assert await next_of(again) == "s0"
        for one in (*streams, other, again):
            await one.aclose()
        assert not hub.channels and not hub.streams

    run_apart(play())


def test_a_student_who_has_left_without_an_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    rooms = Rooms(f"sqlite:///{tmp_path}/rooms.sqlite")
    monkeypatch.setattr(events, "host_store", lambda: rooms)
    monkeypatch.setattr(events, "hub", hub := Hub())
    monkeypatch.setattr(events, "LEFT_SECONDS", 0.0)
    room, _ = rooms.open(SOURCE, STEPS)
    _, answered, gone = tokens = [rooms.join(room.code) for _ in range(3)]
    rooms.answer(answered, 1, "went")

    def said() -> str:
        return json.loads(events.read_messages(room.id)[TEACHER])["note"]

    async def play() -> None:
        streams = [hub.stream(room.id, rooms.find_member(token)[1], token) for token in tokens]
        for one in streams:
            await next_of(one)
        assert said() == texts.ANSWERED.format(answered=1, students=3)
        for one in streams[1:]:
            await one.aclose()
        assert said() == texts.WITHOUT_LEFT.format(said=texts.ANSWERED.format(answered=1, students=2), count=1)
        back = hub.stream(room.id, rooms.find_member(gone)[1], gone)
        await next_of(back)
        assert said() == texts.ANSWERED.format(answered=1, students=3)
        for one in (streams[0], back):
            await one.aclose()

    run_apart(play())


def test_a_stream_ends_with_the_room_and_not_with_somebody_who_writes_closed(told: dict[str, str]):
    async def play() -> None:
        hub = Hub()
        stream = hub.stream(1, 7, "a")
        await next_of(stream)
        for text in (json.dumps({"sentence": "closed"}), json.dumps({"closed": "closed"}), CLOSED):
            told[STUDENT] = text
            hub.notify(1)
            assert await next_of(stream) == text
        with pytest.raises(StopAsyncIteration):
            await next_of(stream)
        assert not hub.channels

    run_apart(play())


def test_a_student_who_is_removed_is_sent_that_and_nothing_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    rooms = Rooms(f"sqlite:///{tmp_path}/rooms.sqlite")
    monkeypatch.setattr(events, "host_store", lambda: rooms)
    monkeypatch.setattr(events, "PAUSE_SECONDS", 0.0)
    room, teacher = rooms.open(SOURCE, STEPS)
    stays, goes = rooms.join(room.code), rooms.join(room.code)
    rooms.answer(stays, 1, "went")

    async def play() -> None:
        hub = Hub()
        streams = [hub.stream(room.id, 7, token) for token in (stays, goes)]
        for stream in streams:
            await next_of(stream)
        rooms.remove(teacher, None)
        hub.notify(room.id)
        assert [await next_of(stream) == GONE for stream in streams] == [False, True]
        with pytest.raises(StopAsyncIteration):
            await next_of(streams[1])
        await streams[0].aclose()

    run_apart(play())


def test_the_stage_of_a_room_that_was_closed_elsewhere_is_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    here, elsewhere = (Rooms(f"sqlite:///{tmp_path}/rooms.sqlite") for _ in range(2))
    monkeypatch.setattr(events, "host_store", lambda: here)
    monkeypatch.setattr(events, "hub", hub := Hub())
    (closed, teacher), (stays, _) = (here.open(SOURCE, STEPS) for _ in range(2))
    for room in (closed, stays):
        events.share_stage(room, Votes(), "attention", b"drawn")
    elsewhere.close(teacher)
    events.sweep()
    assert list(hub.stages) == [stays.id]


def test_a_burst_of_answers_is_read_once_and_a_lost_notification_is_made_up_for(monkeypatch: pytest.MonkeyPatch):
    reads: list[int] = []

    def read(room: int) -> dict[str, str]:
        reads.append(room)
        return {TEACHER: str(len(reads)), STUDENT: "s"}

    monkeypatch.setattr(events, "read_messages", read)
    monkeypatch.setattr(events, "LOOK_SECONDS", 0.5)

    async def play() -> None:
        hub = Hub()
        teacher = hub.stream(7, None, "a")
        await next_of(teacher)
        for _ in range(1000):
            hub.notify(7)
        await next_of(teacher)
        assert len(reads) <= 3
        await next_of(teacher)  # without any notification
        await teacher.aclose()

    run_apart(play())


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("class")
    patch = pytest.MonkeyPatch()
    if request.param == "sqlite":
        with serving(ROOT, folder / "log.txt", **WITHOUT_MODELS) as url:
            yield url, f"sqlite:///{folder}/log.sqlite"
        return
    with postgres() as database:
        patch.setenv("TX_DATABASE_URL", database)
        with serving(ROOT, folder / "log.txt", **WITHOUT_MODELS) as url:
            yield url, database
    patch.undo()


@pytest.fixture
def rooms(served: tuple[str, str]) -> Iterator[Rooms]:
    found = Rooms(served[1])
    yield found
    found.dispose()


@contextmanager
def listening(url: str, token: str) -> Iterator[HTTPResponse]:
    server = urlsplit(url)
    connection = HTTPConnection(server.hostname, server.port, timeout=60)
    connection.request("GET", f"/{EVENTS}?key={token}", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    try:
        yield answer
    finally:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
        answer.close()
        connection.close()


def heard(answer: HTTPResponse) -> dict[str, object]:
    while not (line := answer.readline()).startswith(b"data:"):
        assert line, "the stream ended"
    return json.loads(line[5:])


def test_a_change_on_another_server_reaches_a_browser(served: tuple[str, str], rooms: Rooms):
    (left, teacher), (ended, other_teacher) = rooms.open(SOURCE, STEPS), rooms.open(SOURCE, STEPS)
    with listening(served[0], rooms.join(left.code)) as answer, listening(served[0], rooms.join(ended.code)) as other:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert heard(answer)["step"] == heard(other)["step"] == 1
        begun = time.monotonic()
        rooms.go(teacher, 3)
        rooms.go(other_teacher, 3)
        rooms.close(other_teacher)
        assert heard(answer)["step"] == 3
        while not (last := heard(other)).get("closed"):
            assert last["step"] == 3
        assert other.read().strip() == b""
        # between servers with one SQLite file there are no notifications: a look every few seconds
        if served[1].startswith("postgresql"):
            assert time.monotonic() - begun < 5
            rooms.close(teacher)
            assert heard(answer)["closed"]
            assert answer.read().strip() == b""


def test_nothing_of_a_room_is_had_without_a_token_of_it(served: tuple[str, str], rooms: Rooms):
    url = served[0]
    room, teacher = rooms.open(SOURCE, STEPS, nicknames=True)
    student = rooms.join(room.code, MARK)
    rooms.answer(student, 1, MARK)
    rooms.send_sentence(student, 1, MARK)
    rooms.reveal(teacher, 1, {"right": "went", "value": 1.0, "options": [], "shares": []})
    stranger_room, stranger_teacher = rooms.open(SOURCE, STEPS)
    keys = ["", room.code, str(room.id), "0", "%00", "a" * 5000, stranger_teacher, rooms.join(stranger_room.code)]
    for key in keys:
        status, headers, body = fetch(f"{url}/{STATE}?key={key}&room={room.code}&id={room.id}")
        assert status == 200 and headers["cache-control"] == "no-store"
        assert MARK.encode() not in body and room.code.encode() not in body
    for key in keys[:-2]:
        status, _, body = fetch(f"{url}/{EVENTS}?key={key}&room={room.code}")
        assert status == 404
        assert MARK.encode() not in body
    assert MARK.encode() in fetch(f"{url}/{STATE}?key={student}")[2]
