"""What an app's process takes to start and to hold when its models run in Ray, beside one that runs them itself."""

import asyncio
import time
from importlib.util import find_spec
from statistics import median

from tests.bench.table import Row
from tests.bench.visitors import ready_server
from tests.support.ray_cluster import serving_models
from tests.support.stream_client import visit

ROUNDS = 3
PAGES = ("attention", "fill_mask", "compare", "summaries", "many_sentences")


async def see(url: str, page: str) -> None:
    """Open a page once."""
    async with visit(url, page):
        pass


def started(**variables: str) -> tuple[float, float, float]:
    """Start a server with these settings, and visit its pages.

    Returns the seconds until its model answers, and its megabytes then and after one visit to each page.
    """
    begun = time.monotonic()
    with ready_server(**variables) as (url, server):
        ready, before = time.monotonic() - begun, server.memory_info().rss / 1e6
        for page in PAGES:
            asyncio.run(see(url, page))
        return ready, before, server.memory_info().rss / 1e6


def rows() -> list[Row]:
    """Measure both kinds of process in turns, where Ray is installed."""
    if not find_spec("ray"):
        return []
    found: dict[str, list[tuple[float, ...]]] = {"ray": [], "process": []}
    with serving_models() as cluster:
        for _ in range(ROUNDS):
            for engine, processes in found.items():
                processes.append(started(TX_ENGINE=engine, TX_RAY_ADDRESS=cluster.address))
    there, here = ([median(column) for column in zip(*processes, strict=True)] for processes in found.values())
    where = "models in Ray / in its own process"
    found = [Row(f"start of a server until its model answers, {where}", f"{there[0]:.1f} / {here[0]:.1f} s", "2 s", there[0] < 2)]
    for when, one, other in zip(("that is ready", "after five pages of Explore"), there[1:], here[1:], strict=True):
        found.append(Row(f"memory of a server {when}, {where}", f"{one:.0f} / {other:.0f} MB", "200 MB", one < 200))
    return found
