"""What an app's process takes to start and to hold when its models run in Ray, beside one that runs them itself."""

import asyncio
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.table import Row
from tests.bench.visitors import server_process, used_by
from tests.support.ray_cluster import serving_models
from tests.support.serving import ROOT, fetch, serving, wait_until
from tests.support.stream_client import visit

ROUNDS = 3
PAGES = ("attention", "fill_mask", "compare", "summaries", "many_sentences")


@dataclass(frozen=True)
class Process:
    """A server from its start to five pages of Explore.

    Attributes:
        answers: Seconds until it answers at its address.
        ready: Seconds until its model answers.
        processor: Seconds of the processor by then.
        megabytes: Its memory then.
        after: Its memory after one visit to each page.
    """

    answers: float
    ready: float
    processor: float
    megabytes: float
    after: float


async def see(url: str, page: str) -> None:
    """Open a page once."""
    async with visit(url, page):
        pass


def started(**variables: str) -> Process:
    """Start a server with these settings, and visit its pages."""
    begun = time.monotonic()
    with TemporaryDirectory() as folder, serving(ROOT, Path(folder) / "log", **variables) as url:
        answers = time.monotonic() - begun
        wait_until(lambda: fetch(f"{url}/api/ready")[0] == 200, 120, "a model that answers")
        ready, server = time.monotonic() - begun, server_process(url)
        used, before = used_by([server]), server.memory_info().rss / 1e6
        for page in PAGES:
            asyncio.run(see(url, page))
        return Process(answers, ready, used, before, server.memory_info().rss / 1e6)


def median(found: list[Process]) -> Process:
    """Return the median of each figure."""
    columns = zip(*(vars(one).values() for one in found), strict=True)
    return Process(*(sorted(column)[len(column) // 2] for column in columns))


def rows() -> list[Row]:
    """Measure both kinds of process in turns, where Ray is installed."""
    if not find_spec("ray"):
        return []
    found = {"ray": [], "process": []}
    with serving_models() as cluster:
        for _ in range(ROUNDS):
            for engine, processes in found.items():
                processes.append(started(TX_ENGINE=engine, TX_RAY_ADDRESS=cluster.address))
    there, here = (median(processes) for processes in found.values())
    start = "{0.answers:.1f} s, its model {0.ready:.1f} s, {0.processor:.1f} s of processor"
    starts = f"{start.format(there)} / {start.format(here)}"
    where = "models in Ray / in its own process"
    memory = {
        f"memory of a server that is ready, {where}": (there.megabytes, here.megabytes),
        f"memory of a server after five pages of Explore, {where}": (there.after, here.after),
    }
    return [
        Row(f"start of a server, {where}", starts, "2 s", there.answers < 2),
        *(Row(what, f"{one:.0f} MB / {other:.0f} MB", "200 MB", one < 200) for what, (one, other) in memory.items()),
    ]
