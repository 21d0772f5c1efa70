"""Visitors within bounds: how many, how many from one address, how often each may ask; and nobody is slowed by a greedy one."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
import websockets
from starlette.types import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.contents import PAGES
from pages.ui.shell import admission, texts
from pages.ui.shell.admission import BURST_SECONDS, HEADER, Connections, Pace, PacedMessages, VisitorLimits
from pages.ui.shell.texts import SENTENCE
from tests.support.apart import run_apart
from tests.support.serving import fetch, free_port, running, streamlit_command, wait_until
from tests.support.stream_client import Visitor, visit

SCHOOL, HOME = "203.0.113.7", "198.51.100.2"
ATTENTION = next(page for page in PAGES if page.key == "attention")


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
    assert connections.refuses("c") == connections.obstacle("c") == texts.SERVER_FULL.format(limit=1)
    connections.close(first)
    assert connections.refuses("c") == ""


def rerun(part: str = "", *, text: str = "", pressed: bool = False, page: str = "attention", back: bool = False) -> Message:
    """Write what a browser sends to run a part of a page, with the text in its box."""
    message = BackMsg()
    message.rerun_script.page_script_hash = page
    message.rerun_script.fragment_id = part
    message.rerun_script.is_history_navigation = back
    message.rerun_script.widget_states.widgets.append(WidgetState(id="text", string_value=text))
    if pressed:
        message.rerun_script.widget_states.widgets.append(WidgetState(id="button", trigger_value=True))
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def text_of(message: Message) -> str:
    return BackMsg.FromString(message["bytes"]).rerun_script.widget_states.widgets[0].string_value


@pytest.mark.parametrize(
    ("earlier", "later", "superseded"),
    [
        (rerun(text="a"), rerun(text="ab"), True),
        (rerun("part"), rerun("part"), True),
        (rerun("part"), rerun("other part"), False),
        (rerun("part"), rerun(), False),
        (rerun(page="masks"), rerun(), False),
        (rerun(pressed=True), rerun(), False),
        (rerun(), rerun(pressed=True), True),
        (rerun(back=True), rerun(), False),
        ({"type": "websocket.receive", "bytes": BackMsg(app_heartbeat=True).SerializeToString()}, rerun(), False),
        (rerun(), {"type": "websocket.receive", "bytes": b"\xff\xff"}, False),
        (rerun(), {"type": "websocket.receive", "text": "no bytes"}, False),
    ],
)
def test_only_what_the_newest_message_asks_for_too_is_left_out(earlier: Message, later: Message, superseded: bool):
    assert admission.is_superseded(earlier, later) is superseded


class Browser:
    """Sends messages without a pause; the clock runs only while it has nothing to send."""

    def __init__(self, messages: Sequence[Message]):
        self.messages, self.now = list(messages), 0.0

    async def receive(self) -> Message:
        if self.messages:
            return self.messages.pop(0)
        self.now += 60
        return await asyncio.get_running_loop().create_future()


def passed(messages: Sequence[Message], rate: float = 4) -> tuple[list[Message], SimpleNamespace]:
    """Give what comes through of messages that are all sent at once, and the connection."""
    browser, connection = Browser(messages), SimpleNamespace(notices=set())

    async def take() -> list[Message]:
        paced = PacedMessages(browser.receive, connection, Pace(rate, lambda: browser.now))
        found = []
        while browser.messages or paced._held:
            found.append(await paced.receive())
        paced.close()
        return found

    return run_apart(take()), connection


def test_a_burst_passes_whole_and_of_what_comes_after_it_the_newest():
    burst = int(4 * BURST_SECONDS)
    come, _ = passed([rerun(text=str(number)) for number in range(100)])
    assert [text_of(message) for message in come] == [*map(str, range(burst)), "99"]


def test_no_button_that_was_pressed_is_left_out():
    pressed = [rerun(text=f"button {number}", pressed=True) for number in range(10)]
    typed = [rerun(text=f"{number}") for number in range(100)]
    come, _ = passed([*typed[:50], *pressed, *typed[50:]])
    assert [text_of(message) for message in come if "button" in text_of(message)] == [text_of(message) for message in pressed]
    assert text_of(come[-1]) == "99"


def held_of(messages: Sequence[Message]) -> tuple[int, list[Message], set[str]]:
    """Send messages at once to a visitor of one run a second; give how many passed, what is held back and what is said."""
    browser, connection = Browser(messages), SimpleNamespace(notices=set())

    async def held() -> tuple[int, list[Message]]:
        paced, taken = PacedMessages(browser.receive, connection, Pace(1, lambda: browser.now)), []

        async def take() -> None:
            while True:
                taken.append(await paced.receive())

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(take(), 0.2)
        paced.close()
        return len(taken), list(paced._held)

    taken, held_back = run_apart(held())
    assert len(browser.messages) == len(messages) - taken - len(held_back)
    return taken, held_back, connection.notices


def test_what_is_held_back_is_bounded_in_number(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(admission, "MAX_HELD_MESSAGES", 4)
    taken, held_back, notices = held_of([rerun(f"part {number}") for number in range(100)])
    assert (taken, len(held_back)) == (int(BURST_SECONDS), 4)
    assert notices == {texts.HELD_UP}


def test_what_is_held_back_is_bounded_in_bytes_and_the_visitor_is_told():
    large = admission.MAX_HELD_BYTES // 3
    messages = [rerun(f"part {number}", text="x" * large) for number in range(20)]
    taken, held_back, notices = held_of(messages)
    assert (taken, len(held_back)) == (int(BURST_SECONDS), 3)
    assert sum(len(message["bytes"]) for message in held_back) < admission.MAX_HELD_BYTES + max(
        len(message["bytes"]) for message in messages
    )
    assert notices == {texts.HELD_UP}


def test_what_stays_in_the_connection_arrives_later_and_in_order(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(admission, "BURST_SECONDS", 0.0)
    text = "x" * admission.MAX_HELD_BYTES
    messages = [rerun(f"part {number}", text=f"{number} {text}") for number in range(20)]

    async def take() -> list[Message]:
        paced = PacedMessages(Browser(messages).receive, SimpleNamespace(notices=set()), Pace(100))
        return [await paced.receive() for _ in messages]

    assert run_apart(take()) == messages


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


def test_the_end_of_a_connection_is_not_held_back():
    end = {"type": "websocket.disconnect", "code": 1001}
    assert passed([*(rerun(str(number)) for number in range(30)), end])[0][-1] is end


def test_a_visitor_who_asks_too_fast_for_seconds_is_told_so(host):
    now = [0.0]
    host(max_runs_a_second=5)
    connection, pace = SimpleNamespace(notices=set()), Pace(5, lambda: now[0])

    async def receive() -> Message:
        now[0] += 0.02
        return rerun(text=f"{now[0]}")

    async def ask(until: float) -> None:
        paced = PacedMessages(receive, connection, pace)
        while now[0] < until:
            await paced.receive()
        paced.close()

    run_apart(ask(2.0))
    assert not connection.notices
    run_apart(ask(12.0))
    assert connection.notices == {texts.SLOWED_DOWN.format(limit=5)}


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


@pytest.fixture
def limited(tmp_path: Path) -> Callable:
    """Start a server with limits: `with limited(TX_MAX_VISITORS="1") as url`."""

    def start(**variables: str):
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        return running(streamlit_command(port), f"{url}/api/ready", tmp_path / "log.txt", **variables), url

    return start


def titles(visitor: Visitor) -> list[str]:
    return [one.heading.body for one in visitor.elements.values() if one.WhichOneof("type") == "heading"]


def test_a_visitor_beyond_the_limit_reads_why_and_sees_the_page_when_there_is_room(limited):
    async def come(url: str) -> None:
        async with visit(url, "attention") as first:
            assert titles(first)[0] == ATTENTION.question
            async with visit(url, "attention") as second:
                said = " ".join(str(one) for one in second.elements.values())
                assert titles(second) == [texts.PLEASE_WAIT]
                assert texts.ADDRESS_FULL.format(limit=1) in said
                await first.socket.close()
                async with asyncio.timeout(30):
                    while titles(second) != [ATTENTION.question]:
                        await second.run()  # of the page that was asked for, as the browser does every few seconds

    server, url = limited(TX_MAX_VISITORS_AN_ADDRESS="1")
    with server:
        run_apart(come(url))


def test_where_nobody_may_wait_either_the_start_page_says_so(limited):
    async def come(url: str) -> int:
        stream = url.replace("http", "ws") + "/_stcore/stream"
        waiting = []
        for _ in range(1 + admission.MAX_WAITING_AN_ADDRESS):
            waiting.append(await websockets.connect(stream, subprotocols=["streamlit"]))
        with pytest.raises(websockets.InvalidStatus):
            await websockets.connect(stream, subprotocols=["streamlit"])
        status, headers, body = await asyncio.to_thread(fetch, url)
        assert texts.TRY_LATER in body.decode() and "retry-after" in headers
        for socket in waiting:
            await socket.close()
        return status

    server, url = limited(TX_MAX_VISITORS="1")
    with server:
        assert run_apart(come(url)) == 503
        wait_until(lambda: fetch(url)[0] == 200, 30, "the start page")


def test_a_greedy_visitor_gets_the_runs_of_the_limit_and_ten_others_get_all_of_theirs(limited):
    rate, seconds, asked_a_second = 2, 6, 50

    async def ask_greedily(url: str, start: asyncio.Event) -> tuple[int, int, float]:
        """Ask 50 times a second without waiting for answers; give what was asked, what was run and how long it took."""
        async with visit(url, "attention") as greedy:
            await start.wait()
            runs = 0

            async def listen() -> None:
                nonlocal runs
                while True:
                    runs += await greedy.read()

            greedy.type_into(SENTENCE, "")
            (box,) = greedy.states
            listening, begun, asked = asyncio.create_task(listen()), time.monotonic(), 0
            while time.monotonic() - begun < seconds:
                greedy.states[box] = WidgetState(id=box, string_value=f"The dog saw {asked} birds.")
                await greedy.ask()
                asked += 1
                await asyncio.sleep(1 / asked_a_second)
            taken = time.monotonic() - begun
            listening.cancel()
            return asked, runs, taken

    async def ask_as_a_reader(url: str, number: int, start: asyncio.Event) -> bool:
        """Type two sentences; tell whether both were answered with their own words."""
        async with visit(url, "attention") as reader:
            await start.wait()
            right = []
            for word in ("apple", "river"):
                reader.type_into(SENTENCE, f"The {word} near the tower was number {number}.")
                await reader.run()
                right.append(f'"{word}"'.encode() in reader.drawings())
            return all(right)

    async def together(url: str) -> tuple[tuple[int, int, float], list[bool]]:
        start = asyncio.Event()
        greedy = asyncio.create_task(ask_greedily(url, start))
        readers = [asyncio.create_task(ask_as_a_reader(url, number, start)) for number in range(10)]
        await asyncio.sleep(1)
        start.set()
        return await greedy, await asyncio.gather(*readers)

    server, url = limited(TX_MAX_RUNS_A_SECOND=str(rate))
    with server:
        (asked, runs, taken), answered = run_apart(together(url))
    assert all(answered)
    assert asked > 3 * runs
    assert 1 <= runs <= rate * (BURST_SECONDS + taken) + 1
