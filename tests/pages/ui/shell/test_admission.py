"""Visitors are let in as long as there is a place, and a page that asks for runs too fast waits for its next one."""

import asyncio
from types import SimpleNamespace

import pytest

from pages.ui.shell import admission
from pages.ui.shell.admission import BURST, HEADER, Pace, Turns, VisitorLimit
from tests.support.apart import run_apart

STREAM = "/below/_stcore/stream"


class Websocket:
    def __init__(self, path: str = STREAM):
        self.scope = {"type": "websocket", "path": path, "headers": [(HEADER, b"forged"), (b"host", b"x")]}
        self.sent: list[dict] = []

    async def receive(self) -> dict:
        return {"type": "websocket.connect"}

    async def send(self, message: dict) -> None:
        self.sent.append(message)


def test_the_header_of_a_page_is_the_servers_and_not_the_visitors():
    seen = []

    async def app(scope, _receive, _send) -> None:
        seen.extend(value.decode() for name, value in scope["headers"] if name == HEADER)
        assert seen[0] in admission._pages

    one = Websocket()
    run_apart(VisitorLimit(app)(one.scope, one.receive, one.send))
    assert len(seen) == 1 and seen != ["forged"]
    assert not admission._pages


def test_whoever_sends_a_text_where_pages_send_bytes_is_sent_away():
    read, one = [], Websocket()
    messages = iter([{"type": "websocket.receive", "bytes": b"a"}, {"type": "websocket.receive", "text": "a"}])

    async def receive() -> dict:
        return next(messages)

    async def app(_scope, receive, _send) -> None:
        read.extend([await receive(), await receive()])

    run_apart(VisitorLimit(app)(one.scope, receive, one.send))
    assert read == [{"type": "websocket.receive", "bytes": b"a"}, {"type": "websocket.disconnect", "code": admission.NO_TEXTS}]
    assert one.sent == [{"type": "websocket.close", "code": admission.NO_TEXTS}]


def test_who_finds_too_many_waiting_is_refused_and_asked_to_try_again(host, monkeypatch: pytest.MonkeyPatch):
    host(max_visitors=1)
    monkeypatch.setattr(admission, "MAX_WAITING", 2)
    answered = []

    async def app(scope, receive, send) -> None:
        answered.append(scope)
        following = Websocket()
        await limit(following.scope, following.receive, following.send)
        refused.extend(following.sent)

    refused: list[dict] = []
    limit = VisitorLimit(app)
    one = Websocket()
    run_apart(limit(one.scope, one.receive, one.send))
    assert len(answered) == 3
    assert refused == [{"type": "websocket.close", "code": admission.TRY_AGAIN_LATER}]


def test_a_slot_that_comes_to_somebody_who_has_left_goes_to_the_next():
    turns, came = Turns(slots=1, most_waiting=2, patience=20), []

    async def take(visitor: str) -> None:
        async with turns.turn(visitor) as has_come:
            came.append((visitor, has_come))
            await asyncio.sleep(0)

    async def leave() -> None:
        async with turns.turn("first"):
            waiting = [asyncio.create_task(take(visitor)) for visitor in ("leaves", "called and leaves", "stays")]
            await asyncio.sleep(0)
            waiting[0].cancel()
            await asyncio.sleep(0)
        waiting[1].cancel()  # its slot is there, and it has not looked yet
        await asyncio.wait(waiting)
        await take("again")

    run_apart(leave())
    assert came == [("stays", True), ("again", True)]


def test_a_slot_is_handed_back_in_the_moment_in_which_the_one_who_waits_leaves():
    turns, came = Turns(slots=1, most_waiting=2, patience=20), []

    async def wait() -> None:
        async with turns.turn("leaves"):
            came.append("leaves")

    async def leave() -> None:
        async with turns.turn("first"):
            waiting = asyncio.create_task(wait())
            await asyncio.sleep(0)
            waiting.cancel()  # it has not heard of that yet
        await asyncio.wait([waiting])
        async with turns.turn("next") as has_come:
            came.append(("next", has_come))

    run_apart(leave())
    assert came == [("next", True)]


def test_a_page_that_keeps_to_its_rate_never_waits_and_a_faster_one_does():
    now = 0.0
    pace = Pace(5, lambda: now)
    assert [pace.count_run() for _ in range(BURST)] == pytest.approx([0.0] * BURST)
    assert pace.count_run() == pytest.approx(0.2)
    now = 0.2
    assert pace.count_run() == pytest.approx(0.2)
    now = 100.0
    waits = []
    for _ in range(3 * BURST):
        waits.append(pace.count_run())
        now += 0.2
    assert waits == pytest.approx([0.0] * len(waits))


def test_a_page_that_is_run_too_often_waits_before_it_runs(open_app, host, monkeypatch: pytest.MonkeyPatch):
    host(max_runs_a_second=0.1)
    waits: list[float] = []
    monkeypatch.setattr(admission, "time", SimpleNamespace(sleep=waits.append))
    monkeypatch.setattr(admission, "Pace", lambda rate: Pace(rate, lambda: 0.0))  # all runs at once, however long they take
    app = open_app("words")
    for _ in range(BURST):
        app.run()
    assert waits[BURST] > 0 and not any(waits[:BURST])


@pytest.mark.parametrize(
    ("address", "counted_by"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:0:7::1", "2001:db8:0:7::/64"),
        ("2001:db8:0:8::1", "2001:db8:0:8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_visitors_are_counted_by_what_one_of_them_has_one_of(address: str, counted_by: str):
    assert admission.counted_address(address) == counted_by
