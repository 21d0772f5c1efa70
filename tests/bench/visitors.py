"""Many visitors at once: each types a new sentence every two seconds; how long the page takes to answer, and what it costs."""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from pages.ui.shell.texts import SENTENCE
from tests.bench.table import Row
from tests.support.serving import ROOT, fetch, serving, site_of_two, wait_until
from tests.support.stream_client import Visitor, visit

SECONDS_BETWEEN = 2.0
SECONDS = 30
FIRST_RUNS, RUNS = 10, 100
"""Sentences that one visitor types before and while the cost of a run is measured."""
UNPACED = {"TX_MAX_RUNS_A_SECOND": "1000"}
"""The cost of a run is measured by one visitor who types without a pause."""
WORDS = ("apple", "bird", "city", "dog", "farm", "fire", "garden", "girl", "house", "king", "letter", "river", "road", "ship")
"""One stands in each sentence: it shows whose sentence is drawn."""


def percentile(seconds: Sequence[float], share: float) -> float:
    """Return the time within which this share of all came, in seconds."""
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))] if seconds else float("nan")


class Load(NamedTuple):
    """What visitors met: seconds of each answer, answers that did not come or were another's, and the processor time of all."""

    seconds: tuple[float, ...]
    errors: int
    processor: float


class RunCost(NamedTuple):
    """What one run of a page for a new sentence costs: seconds of the server's processor, messages to the browser, kilobytes."""

    processor: float
    messages: float
    kilobytes: float


@contextmanager
def ready_server(**variables: str) -> Iterator[tuple[str, psutil.Process]]:
    """Start a server with these settings; yield its address and its process once its model answers."""
    with tempfile.TemporaryDirectory() as folder, serving(ROOT, Path(folder) / "log", **variables) as url:
        wait_until(lambda: fetch(f"{url}/api/ready")[0] == 200, 120, "a model that answers")
        yield url, server_process(url)


def sentence(visitor: int, turn: int, page: str = "attention") -> tuple[str, str]:
    """Return a sentence that nobody else types, and the word in it that tells it from the visitor's last one."""
    word = WORDS[(visitor + 7 * turn) % len(WORDS)]
    place = "[MASK]" if page == "fill_mask" else "tower"
    return f"The {word} near the {place} was number {visitor * 1000 + turn}.", word


async def type_and_run(visitor: Visitor, text: str) -> None:
    """Type a sentence, and wait for what the page runs for it: itself, or the part that the box stands in."""
    part = visitor.type_into(SENTENCE, text)
    await visitor.run(fragment=part)


async def type_sentences(visitor: Visitor, number: int, page: str, until: float) -> tuple[list[float], int]:
    """Type a new sentence every two seconds until the clock says so: the time of each answer, and how many were wrong."""
    times, errors, turn = [], 0, 0
    while time.monotonic() < until:
        begun = time.monotonic()
        turn += 1
        text, word = sentence(number, turn, page)
        try:
            await type_and_run(visitor, text)
        except TimeoutError:
            errors += 1
        else:
            times.append(time.monotonic() - begun)
            errors += f'"{word}"'.encode() not in visitor.drawings()
        await asyncio.sleep(max(0.0, SECONDS_BETWEEN - (time.monotonic() - begun)))
    return times, errors


async def one_visitor(url: str, number: int, page: str, start: float, until: float) -> tuple[list[float], int]:
    """Come, wait for the common start (spread over two seconds), and type."""
    async with visit(url, page) as visitor:
        await asyncio.sleep(max(0.0, start + SECONDS_BETWEEN * (number * 0.618 % 1) - time.monotonic()))
        return await type_sentences(visitor, number, page, until)


async def many_visitors(
    url: str, visitors: int, servers: Sequence[psutil.Process], seconds: float = SECONDS, page: str = "attention"
) -> Load:
    """Measure a number of visitors at once at a running server, or at several behind one address."""
    start = time.monotonic() + 2 + visitors * 0.1
    tasks = [asyncio.create_task(one_visitor(url, number, page, start, start + seconds)) for number in range(visitors)]
    await asyncio.sleep(start - time.monotonic())
    before = used_by(servers)
    answers = await asyncio.gather(*tasks)
    times = tuple(taken for one, _errors in answers for taken in one)
    return Load(times, sum(errors for _, errors in answers), used_by(servers) - before)


def used_by(servers: Sequence[psutil.Process]) -> float:
    """Return the processor time of these servers so far, in seconds."""
    return sum(sum(server.cpu_times()[:2]) for server in servers)


async def come_and_go(url: str, first: int, last: int) -> None:
    """Open the page for ten visitors at a time, who type two sentences each, and leave."""

    async def one(number: int) -> None:
        async with visit(url, "attention") as visitor:
            for turn in range(2):
                await type_and_run(visitor, sentence(number, turn)[0])

    for ten in range(first, last, 10):
        await asyncio.gather(*(one(number) for number in range(ten, min(ten + 10, last))))


async def run_cost(url: str, page: str, server: psutil.Process, number: int, runs: int = RUNS) -> RunCost:
    """Type sentences that nobody has typed as one visitor, by number, one after the other; return what each costs."""
    async with visit(url, page) as visitor:
        for turn in range(FIRST_RUNS):
            await type_and_run(visitor, sentence(number, turn)[0])
        begun, messages, received = sum(server.cpu_times()[:2]), visitor.messages, visitor.received
        for turn in range(FIRST_RUNS, FIRST_RUNS + runs):
            await type_and_run(visitor, sentence(number, turn)[0])
        used = sum(server.cpu_times()[:2]) - begun
    return RunCost(used / runs, (visitor.messages - messages) / runs, (visitor.received - received) / runs / 1000)


def cost_row() -> Row:
    """Measure a run of the attention page for a new sentence."""
    with ready_server(**UNPACED) as (url, server):
        costs = [asyncio.run(run_cost(url, "attention", server, number)) for number in range(500, 503)]
    cost = sorted(costs)[1]
    measured = f"{1000 * cost.processor:.1f} ms of processor; {cost.messages:.0f} messages, {cost.kilobytes:.0f} kB"
    return Row("a new sentence on the attention page, one visitor", measured, "15 ms", cost.processor <= 0.015)


def server_process(url: str) -> psutil.Process:
    """Find the server by its port on its command line."""
    port = url.rstrip("/").rsplit(":", 1)[1]
    return next(process for process in psutil.process_iter(["cmdline"]) if port in (process.info["cmdline"] or ()))


def rows() -> list[Row]:
    """Measure a run, 50 visitors and 30 who fill blanks at one server, 100 at two, and memory while 200 come and go."""
    found, what = [cost_row()], "{} visitors, a new {} every 2 s each, {}"
    with ready_server(TX_CACHE_MEGABYTES="512") as (url, server):
        asyncio.run(come_and_go(url, 0, 50))
        before = server.memory_info().rss / 1e6
        asyncio.run(come_and_go(url, 50, 200))
        more = server.memory_info().rss / 1e6 - before
        about = "memory after 200 visits, above that after 50, cache of 512 MB"
        found.append(Row(about, f"{more:.0f} MB", "50 MB", more <= 50))
        for visitors, asked, page in ((50, "sentence", "attention"), (30, "blank", "fill_mask")):
            load = asyncio.run(many_visitors(url, visitors, [server], page=page))
            found.append(load_row(what.format(visitors, asked, "one process"), load))
    with tempfile.TemporaryDirectory() as folder, site_of_two(Path(folder)) as (url, servers):
        load = asyncio.run(many_visitors(url, 100, [psutil.Process(server.pid) for server in servers]))
    return [*found, load_row(what.format(100, "sentence", "two processes behind Caddy"), load)]


def load_row(what: str, load: Load) -> Row:
    """Put what visitors met into a line."""
    late, usual = (1000 * percentile(load.seconds, share) for share in (0.95, 0.5))
    cost = 1000 * load.processor / max(len(load.seconds), 1)
    measured = f"{usual:.0f} ms median, {late:.0f} ms at 95 %; {cost:.0f} ms of processor each, {load.errors} errors"
    return Row(what, measured, "300 ms at 95 %", load.errors == 0 and late <= 300)
