"""Ten ordinary visitors alone, beside one who asks 50 times a second, and beside two trainings, in turns at one server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from statistics import median

import psutil
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.ui.shell.texts import SENTENCE
from pages.ui.stage import texts as stage_texts
from tests.bench.table import Row
from tests.bench.visitors import Load, many_visitors, ready_server
from tests.support.stream_client import Visitor, visit

VISITORS, SECONDS, ROUNDS = 10, 6.0, 5
GREEDY_RUNS_A_SECOND = 50
LONG_TRAINING = "batches=600&batch=128"
Neighbour = Callable[[str], AbstractAsyncContextManager[None]]


async def listen(visitor: Visitor) -> None:
    """Read what a page sends, for as long as it is open."""
    while True:
        await visitor.read()


@asynccontextmanager
async def nobody(_url: str) -> AsyncIterator[None]:
    """No neighbour at all."""
    yield


@asynccontextmanager
async def greedy(url: str) -> AsyncIterator[None]:
    """Ask for a run 50 times a second, each with a new sentence, without waiting for answers."""

    async def ask(visitor: Visitor) -> None:
        visitor.type_into(SENTENCE, "")
        (box,), number = visitor.states, 0
        while True:
            number += 1
            visitor.states[box] = WidgetState(id=box, string_value=f"The greedy dog saw {number} birds.")
            await visitor.ask()
            await asyncio.sleep(1 / GREEDY_RUNS_A_SECOND)

    async with visit(url, "attention") as visitor:
        tasks = [asyncio.create_task(ask(visitor)), asyncio.create_task(listen(visitor))]
        yield
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks)


@asynccontextmanager
async def two_trainings(url: str) -> AsyncIterator[None]:
    """Train two encoder-decoders, each on the page of its own visitor."""
    async with visit(url, "encoder_decoder", LONG_TRAINING) as one, visit(url, "encoder_decoder", LONG_TRAINING) as other:
        for visitor in (one, other):
            visitor.ask_stage("settings", {"training": "train"})
            await visitor.run()
        yield
        for visitor in (one, other):
            await visitor.run()
            if stage_texts.STOP not in str(visitor.elements):
                raise RuntimeError("a training ended before the measurement did")


async def beside(url: str, neighbour: Neighbour, server: psutil.Process) -> Load:
    """Measure ten visitors while the neighbour is there."""
    async with neighbour(url):
        return await many_visitors(url, VISITORS, [server], SECONDS)


def rows() -> list[Row]:
    """Compare what ten visitors meet with each neighbour with what they meet without, in the same round."""
    neighbours = {"alone": nobody, "greedy": greedy, "trainings": two_trainings}
    with ready_server() as (url, server):
        asyncio.run(beside(url, nobody, server))
        rounds = [{name: asyncio.run(beside(url, one, server)) for name, one in neighbours.items()} for _ in range(ROUNDS)]
    return [
        ratio_row("ten visitors beside one who asks 50 times a second, at 95 %", rounds, "greedy", 0.95),
        ratio_row("ten visitors beside two trainings, median", rounds, "trainings", 0.5),
    ]


def ratio_row(what: str, rounds: list[dict[str, Load]], name: str, share: float) -> Row:
    """Put the times with a neighbour and without it into a line, round by round."""
    pairs = [(found[name].percentile(share), found["alone"].percentile(share)) for found in rounds]
    errors = sum(load.errors for found in rounds for load in found.values())
    written = "; ".join(f"{1000 * late:.0f} ms / {1000 * alone:.0f} ms = {late / alone:.1f} ×" for late, alone in pairs)
    kept = errors == 0 and median(late / alone for late, alone in pairs) <= 2
    return Row(f"{what}, against ten alone", f"{written}; {errors} errors", "2 ×", kept)
