"""A server with limits: who waits reads why and comes in, and a greedy one slows nobody."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.contents import PAGES
from pages.ui.shell import texts
from pages.ui.shell.admission import BURST
from pages.ui.shell.texts import SENTENCE
from tests.support.apart import run_apart
from tests.support.serving import ROOT, WITHOUT_MODELS, fetch, serving, wait_until
from tests.support.stream_client import Visitor, visit

pytestmark = pytest.mark.ci

LESSONS = next(page for page in PAGES if page.key == "learn")


@pytest.fixture
def limited(tmp_path: Path) -> Callable[..., AbstractContextManager[str]]:
    """Start a server with limits, which computes nothing: `with limited(TX_MAX_VISITORS="1") as url`."""
    return lambda **variables: serving(ROOT, tmp_path / "log.txt", **WITHOUT_MODELS, **variables)


def titles(visitor: Visitor) -> list[str]:
    return [one.heading.body for one in visitor.elements.values() if one.WhichOneof("type") == "heading"]


def test_a_visitor_beyond_the_limit_reads_why_and_sees_the_page_when_there_is_a_place(limited):
    async def come(url: str) -> None:
        async with visit(url, LESSONS.key) as first:
            assert titles(first)[0] == LESSONS.question
            async with visit(url, LESSONS.key) as second:
                said = " ".join(str(one) for one in second.elements.values())
                assert titles(second) == [texts.PLEASE_WAIT]
                assert texts.SERVER_FULL_OF_ONE in said
                await first.socket.close()
                async with asyncio.timeout(120):
                    while titles(second)[0] != LESSONS.question:
                        await second.run()  # of the page that was asked for, as the browser does every few seconds

    with limited(TX_MAX_VISITORS="1") as url:
        run_apart(come(url))


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
    assert runs <= BURST + rate * taken + 1  # of those that were not broken off by the next request
