"""A server with limits: who waits reads why and comes in, who comes back has the place, and a greedy one slows nobody."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import websockets
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.contents import PAGES
from pages.ui.shell import admission, texts
from pages.ui.shell.pace import BURST_SECONDS
from pages.ui.shell.texts import SENTENCE
from tests.support.apart import run_apart
from tests.support.serving import ROOT, WITHOUT_MODELS, fetch, serving, wait_until
from tests.support.stream_client import Visitor, visit

LESSONS = next(page for page in PAGES if page.key == "learn")


@pytest.fixture
def limited(tmp_path: Path) -> Callable[..., AbstractContextManager[str]]:
    """Start a server with limits, which computes nothing: `with limited(TX_MAX_VISITORS="1") as url`."""
    return lambda **variables: serving(ROOT, tmp_path / "log.txt", **WITHOUT_MODELS, **variables)


def titles(visitor: Visitor) -> list[str]:
    return [one.heading.body for one in visitor.elements.values() if one.WhichOneof("type") == "heading"]


def test_a_visitor_beyond_the_limit_reads_why_and_sees_the_page_when_there_is_room(limited):
    async def come(url: str) -> None:
        async with visit(url, LESSONS.key) as first:
            assert titles(first)[0] == LESSONS.question
            async with visit(url, LESSONS.key) as second:
                said = " ".join(str(one) for one in second.elements.values())
                assert titles(second) == [texts.PLEASE_WAIT]
                assert texts.ADDRESS_FULL_OF_ONE in said
                await first.socket.close()
                async with asyncio.timeout(120):
                    while titles(second)[0] != LESSONS.question:
                        await second.run()  # of the page that was asked for, as the browser does every few seconds

    with limited(TX_MAX_VISITORS_AN_ADDRESS="1") as url:
        run_apart(come(url))


def test_who_reconnects_after_a_break_sees_the_page_while_others_wait(limited):
    async def come(url: str) -> None:
        async with visit(url, LESSONS.key) as first, visit(url, LESSONS.key) as second:
            assert titles(second) == [texts.PLEASE_WAIT]
            first.socket.transport.abort()
            await second.run()
            async with visit(url, LESSONS.key, lost=first.session) as again:
                assert again.session == first.session
                assert titles(again)[0] == LESSONS.question
                await second.run()
                assert titles(second) == [texts.PLEASE_WAIT]
                async with visit(url, LESSONS.key, lost=first.session) as before_the_server_knows:
                    assert titles(before_the_server_knows)[0] == LESSONS.question

    with limited(TX_MAX_VISITORS="1") as url:
        run_apart(come(url))


def test_whoever_closes_the_page_leaves_no_session_to_come_back_to(server: str):
    async def come() -> None:
        async with visit(server, "attention") as first:
            pass
        async with asyncio.timeout(120):
            session = first.session
            while session == first.session:  # until the server has read that the page was closed
                async with visit(server, "attention", lost=first.session) as again:
                    session = again.session

    run_apart(come())


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

    with limited(TX_MAX_VISITORS="1") as url:
        assert run_apart(come(url)) == 503
        wait_until(lambda: fetch(url)[0] == 200, 120, "the start page")


def test_who_opens_connections_without_end_is_refused_beyond_the_requests_of_an_address(limited):
    async def come(url: str) -> tuple[int, int, float]:
        stream, opened, refused = url.replace("http", "ws") + "/_stcore/stream", 0, 0
        begun = time.monotonic()
        for _ in range(40):
            try:
                async with websockets.connect(stream, subprotocols=["streamlit"]):
                    opened += 1
            except websockets.InvalidStatus:
                refused += 1
        return opened, refused, time.monotonic() - begun

    with limited(TX_MAX_REQUESTS_A_SECOND="1") as url:
        opened, refused, seconds = run_apart(come(url))
    assert 1 <= opened <= BURST_SECONDS + seconds + 1
    assert opened + refused == 40


def test_a_greedy_visitor_gets_the_runs_of_the_limit_and_ten_others_get_all_of_theirs(tmp_path: Path):
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

    with serving(ROOT, tmp_path / "log.txt", TX_MAX_RUNS_A_SECOND=str(rate)) as url:
        wait_until(lambda: fetch(f"{url}/api/ready")[0] == 200, 120, "the default model's first answer")
        (asked, runs, taken), answered = run_apart(together(url))
    assert all(answered)
    assert asked > 3 * runs
    assert 1 <= runs <= rate * (BURST_SECONDS + taken) + 1


async def code_of_end(visitor: Visitor) -> int | None:
    """Read until the server ends the connection; give the code with which it does."""
    try:
        while True:
            await visitor.read()
    except websockets.ConnectionClosed as end:
        return end.rcvd.code if end.rcvd else None


def test_a_message_that_is_larger_than_any_page_sends_ends_its_connection_and_nothing_else(limited, tmp_path: Path):
    most = 200_000

    async def come(url: str) -> None:
        async with visit(url, LESSONS.key) as greedy, visit(url, LESSONS.key) as other:
            greedy.query = "text=" + "a" * (most - 1000)
            await greedy.run()
            greedy.query += "a" * 1000
            await greedy.ask()
            assert await code_of_end(greedy) == admission.MESSAGE_TOO_LARGE
            await other.run()
            assert titles(other)[0] == LESSONS.question

    with limited(TX_MAX_MESSAGE_MEGABYTES=str(most / 1e6)) as url:
        run_apart(come(url))
    assert "Traceback" not in (tmp_path / "log.txt").read_text("utf-8")
