"""Visitors within bounds: how many, how many from one address; a place that is kept; and how often each may ask."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from types import SimpleNamespace

import pytest
from starlette.types import Message

from pages.ui.shell import admission, texts
from pages.ui.shell.admission import HEADER, Connections, VisitorLimits
from pages.ui.shell.pace import BURST_SECONDS, Pace
from tests.support.apart import run_apart
from tx_core.settings import host_settings

SCHOOL, HOME = "203.0.113.7", "198.51.100.2"


def states(connections: Connections, tokens: Sequence[str]) -> list[bool]:
    """Tell of each connection whether it is admitted."""
    return [connections.find(token).admitted for token in tokens]


def test_beyond_the_visitors_of_the_host_one_waits_and_comes_in_when_another_leaves(host):
    host(max_visitors=2)
    connections = Connections()
    tokens = [connections.open(address) for address in (SCHOOL, HOME, "a", "b")]
    assert states(connections, tokens) == [True, True, False, False]
    assert connections.waiting() == 2
    assert connections.obstacle("c") == texts.SERVER_FULL.format(limit=2)
    connections.close(tokens[0])
    assert states(connections, tokens[1:]) == [True, True, False]
    connections.close(tokens[2])
    connections.close(tokens[1])
    assert states(connections, tokens[3:]) == [True]
    assert connections.obstacle("c") == ""


def test_one_address_has_no_more_than_its_share_and_others_still_come_in(host):
    host(max_visitors=10, max_visitors_an_address=2)
    connections = Connections()
    tokens = [connections.open(SCHOOL) for _ in range(3)] + [connections.open(HOME)]
    assert states(connections, tokens) == [True, True, False, True]
    assert connections.obstacle(SCHOOL) == texts.ADDRESS_FULL.format(limit=2)
    connections.close(tokens[3])
    assert states(connections, tokens[:3]) == [True, True, False]
    connections.close(tokens[0])
    assert states(connections, tokens[1:3]) == [True, True]


def test_those_who_wait_are_bounded_in_all_and_by_address_and_the_rest_is_told_why(host, monkeypatch: pytest.MonkeyPatch):
    host(max_visitors=1)
    monkeypatch.setattr(admission, "MAX_WAITING", 3)
    monkeypatch.setattr(admission, "MAX_WAITING_AN_ADDRESS", 2)
    connections = Connections()
    first = connections.open(HOME)
    come = (SCHOOL, SCHOOL, SCHOOL, HOME, HOME)
    taken_in = [bool(connections.open(address)) for address in come]
    assert taken_in == [True, True, False, True, False]
    assert connections.refuses("c") == connections.obstacle("c") == texts.SERVER_FULL_OF_ONE
    connections.close(first)
    assert connections.refuses("c") == ""


def test_who_comes_back_after_a_break_has_the_place_that_was_left_and_is_counted_once(host):
    host(max_visitors=2)
    now = [0.0]
    connections = Connections(lambda: now[0])
    first, other, waiting, last = (connections.open(address) for address in (SCHOOL, HOME, "a", "b"))
    for token, session in ((first, "of the first"), (waiting, "of the waiting")):
        connections.find(token).session = session
    connections.close(waiting, broken=True)
    connections.close(first, broken=True)
    assert states(connections, [other, last]) == [True, False]
    assert connections.find(first).admitted and connections.waiting() == 1
    again = connections.open("another network", "of the first")
    assert connections.find(again).address == "another network"
    assert states(connections, [again, other, last]) == [True, True, False]
    assert connections.find(first) is None
    connections.close(first, broken=True)  # what the old connection says late is about nobody
    connections.close(other)
    assert states(connections, [again, last]) == [True, True]
    waiting = connections.open("a", "of the waiting")
    connections.close(again)
    assert states(connections, [waiting, last]) == [True, True]


def test_a_browser_that_knows_of_the_break_before_the_server_is_counted_once(host):
    host(max_visitors=1)
    connections = Connections()
    first = connections.open(SCHOOL)
    connections.find(first).session = "its session"
    again = connections.open(SCHOOL, "its session")
    assert connections.find(first) is None and connections.find(again).admitted
    assert connections.close(first) == ""
    assert connections.find(again).session == "its session"
    assert not connections.find(connections.open(SCHOOL, "no session of this server")).admitted
    assert not connections.find(connections.open(SCHOOL, "")).admitted


def test_a_place_is_kept_as_long_as_the_session_and_no_longer(host):
    host(max_visitors=1)
    now = [0.0]
    connections = Connections(lambda: now[0])
    first, waiting = connections.open(SCHOOL), connections.open(HOME)
    connections.find(first).session = "its session"
    connections.close(first, broken=True)
    now[0] = admission.kept_seconds() - 1
    assert states(connections, [waiting]) == [False]
    now[0] += 2
    assert states(connections, [waiting]) == [True]
    assert not connections.find(connections.open(SCHOOL, "its session")).admitted


def test_places_that_nobody_came_back_to_are_free_for_whoever_asks_next(host):
    """All of a class lose the network at once: nobody is there who would open, close or find a connection."""
    host(max_visitors=1)
    now = [0.0]
    for ask in (Connections.refuses, Connections.obstacle):
        connections = Connections(lambda: now[0])
        tokens = [connections.open(SCHOOL) for _ in range(1 + admission.MAX_WAITING_AN_ADDRESS)]
        for number, token in enumerate(tokens):
            connections.find(token).session = f"session {number}"
            connections.close(token, broken=True)
        assert ask(connections, SCHOOL)
        now[0] += admission.kept_seconds() + 1
        assert ask(connections, SCHOOL) == ""
        assert connections.open(SCHOOL)


def test_who_waits_is_counted_as_waiting_no_longer_than_there_is_no_room(host):
    host(max_visitors=1)
    now = [0.0]
    connections = Connections(lambda: now[0])
    first, _waiting = connections.open(SCHOOL), connections.open(HOME)
    connections.find(first).session = "its session"
    connections.close(first, broken=True)
    assert connections.waiting() == 1
    now[0] = admission.kept_seconds() + 1
    assert connections.waiting() == 0


def test_a_connection_that_never_ran_a_page_leaves_no_place_behind(host):
    host(max_visitors=1)
    connections = Connections()
    first, waiting = connections.open(SCHOOL), connections.open(HOME)
    connections.close(first, broken=True)
    assert states(connections, [waiting]) == [True]


@pytest.mark.parametrize(
    ("address", "counted_by"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::FFFF:cb00:7107", "203.0.113.7"),
        ("2001:db8:0:7::1", "2001:db8:0:7::/64"),
        ("2001:0DB8:0000:0007:ffff:ffff:ffff:ffff", "2001:db8:0:7::/64"),
        ("2001:db8:0:8::1", "2001:db8:0:8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_visitors_are_counted_by_what_one_of_them_has_one_of(address: str, counted_by: str):
    assert admission.counted_address(address) == counted_by
    assert admission.client_address({"client": (address, 1)}) == counted_by


def test_the_header_of_a_connection_is_the_servers_and_not_the_visitors(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(admission, "connections", made := Connections())
    seen = []

    async def app(scope, _receive, _send) -> None:
        seen.append([value.decode() for name, value in scope["headers"] if name == HEADER])
        seen.append(made.find(seen[0][0]).address)

    headers = [(HEADER, b"forged"), (b"host", b"x")]
    scope = {"type": "websocket", "path": "/below/_stcore/stream", "headers": headers, "client": (SCHOOL, 1)}
    run_apart(VisitorLimits(app)(scope, None, None))
    assert len(seen[0]) == 1 and seen[0] != ["forged"]
    assert seen[1] == SCHOOL
    assert made.find(seen[0][0]) is None


@pytest.mark.parametrize(("code", "kept"), [(1000, False), (1001, False), (1005, True), (1006, True), (1011, True)])
def test_whose_page_is_closed_gives_the_place_away_and_ends_the_session_at_once(
    host, monkeypatch: pytest.MonkeyPatch, code: int, kept: bool
):
    host(max_visitors=1)
    monkeypatch.setattr(admission, "connections", made := Connections())
    closed = []
    monkeypatch.setattr(admission.Runtime, "exists", lambda: True)
    monkeypatch.setattr(admission.Runtime, "instance", lambda: SimpleNamespace(close_session=closed.append))

    async def receive() -> Message:
        return {"type": "websocket.disconnect", "code": code}

    async def app(scope, receive, _send) -> None:
        made.find(next(value for name, value in scope["headers"] if name == HEADER).decode()).session = "its session"
        assert not made.has_left("its session")
        await receive()
        assert made.has_left("its session") is not kept
        assert not made.has_left("another session") and not made.has_left("")

    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [], "client": (SCHOOL, 1)}
    run_apart(VisitorLimits(app)(scope, receive, None))
    assert bool(made.obstacle(HOME)) is kept
    assert closed == ([] if kept else ["its session"])


def test_the_broken_connection_of_a_browser_that_has_another_one_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(admission, "connections", made := Connections())
    ended = []

    async def silent() -> Message:
        return await asyncio.get_running_loop().create_future()

    async def app(scope, receive, _send) -> None:
        made.find(next(value for name, value in scope["headers"] if name == HEADER).decode()).session = "its session"
        ended.append((await receive())["type"])

    async def twice() -> None:
        protocols = (b"sec-websocket-protocol", b"streamlit, none, its session")
        scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [protocols], "client": (SCHOOL, 1)}
        first = asyncio.create_task(VisitorLimits(app)(scope, silent, None))
        await asyncio.sleep(0)
        again = asyncio.create_task(VisitorLimits(app)(scope, silent, None))
        async with asyncio.timeout(120):
            await first
        assert ended == ["websocket.disconnect"] and not again.done()
        assert len(made._by_token) == 1
        again.cancel()

    run_apart(twice())


def test_a_browser_that_connects_again_has_no_new_burst_of_runs(host, monkeypatch: pytest.MonkeyPatch):
    host(max_runs_a_second=4)
    monkeypatch.setattr(admission, "connections", made := Connections())
    monkeypatch.setattr(admission, "Pace", lambda rate: Pace(rate, lambda: 0.0))
    passed: list[int] = []

    async def browser() -> Message:
        return {"type": "websocket.receive", "bytes": b""}

    async def app(scope, receive, _send) -> None:
        made.find(next(value for name, value in scope["headers"] if name == HEADER).decode()).session = "its session"
        passed.append(0)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                while True:
                    await receive()
                    passed[-1] += 1

    async def connect_twice() -> None:
        for protocols in (b"streamlit, none", b"streamlit, none, its session"):
            headers = [(b"sec-websocket-protocol", protocols)]
            scope = {"type": "websocket", "path": "/_stcore/stream", "headers": headers, "client": (SCHOOL, 1)}
            await VisitorLimits(app)(scope, browser, None)

    run_apart(connect_twice())
    assert passed == [4 * BURST_SECONDS, 0]


def test_connections_of_one_address_are_counted_like_its_other_requests(host, monkeypatch: pytest.MonkeyPatch):
    host(max_requests_a_second=8)
    monkeypatch.setattr(admission, "Pace", lambda rate: Pace(rate, lambda: 0.0))
    opened, codes = [], []

    async def app(scope, _receive, _send) -> None:
        opened.append(scope["client"][0])

    async def browser() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        codes.append((message["type"], message["code"]))

    async def connect() -> None:
        limited = admission.RequestLimits(app, (admission.STREAM,))
        for address in [*[SCHOOL] * 100, HOME]:
            await limited({"type": "websocket", "path": "/below/_stcore/stream", "client": (address, 1)}, browser, send)

    run_apart(connect())
    burst = int(8 * BURST_SECONDS)
    assert opened == [*[SCHOOL] * burst, HOME]
    assert codes == [("websocket.close", admission.TRY_AGAIN_LATER)] * (100 - burst)


async def respond(_scope, _receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


def answers(monkeypatch: pytest.MonkeyPatch, asked: Sequence[tuple[float, str, str]]) -> list[int]:
    """Give the status of each answer to (time, address, path)."""
    now = [0.0]
    monkeypatch.setattr(admission, "Pace", lambda rate: Pace(rate, lambda: now[0]))
    found: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])
        elif found[-1] == 429:
            assert message["body"].decode() == texts.TOO_MANY_REQUESTS.format(limit=host_settings().max_requests_a_second)

    async def ask_all() -> None:
        limited = admission.RequestLimits(respond, ("prefetch", "_stcore/upload_file"))
        for now[0], address, path in asked:
            await limited({"type": "http", "path": path, "client": (address, 1), "headers": []}, None, send)

    run_apart(ask_all())
    return found


def test_a_class_of_30_behind_one_address_gets_all_that_it_asks_for(monkeypatch: pytest.MonkeyPatch):
    """Each presses a head or a control five times a second for a minute, after all opened a page at once."""
    first = [(0.0, "203.0.113.7", f"/prefetch/{student}") for student in range(30) for _ in range(10)]
    later = [(second / 5, "203.0.113.7", f"/prefetch/{student}") for second in range(300) for student in range(30)]
    assert set(answers(monkeypatch, first + later)) == {200}


def test_who_asks_faster_than_the_host_allows_is_refused_alone_and_only_what_is_over_it(host, monkeypatch: pytest.MonkeyPatch):
    host(max_requests_a_second=10)
    greedy = [(number / 100, f"2001:db8::{number:x}", "/below/prefetch/name") for number in range(1000)]
    others = [(10.0, "2001:db8:0:1::1", "/prefetch/name"), (10.0, "2001:db8::1", "/prefetched"), (10.0, "2001:db8::1", "/masks")]
    uploads = [(10.0, "2001:db8::1", "/_stcore/upload_file/session/file")] * 2 + [(20.0, "2001:db8::1", "/prefetch/name")]
    found = answers(monkeypatch, [*greedy, *others, *uploads])
    passed_of_greedy = found[:1000].count(200)
    assert 10 * 10 <= passed_of_greedy <= 10 * (10 + BURST_SECONDS) + 1
    assert found[1000:1003] == [200] * 3
    assert 429 in found[1003:1005] and found[1005] == 200


def test_the_addresses_that_are_counted_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(admission, "MAX_ADDRESSES", 3)
    limited = admission.RequestLimits(respond, ("prefetch",))

    async def ask_from_many() -> None:
        for number in range(20):
            await limited({"type": "http", "path": "/prefetch/x", "client": (f"10.0.0.{number}", 1), "headers": []}, None, ignore)

    async def ignore(_message: Message) -> None:
        pass

    run_apart(ask_from_many())
    assert list(limited.paces) == ["10.0.0.17", "10.0.0.18", "10.0.0.19"]
