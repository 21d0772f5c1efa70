"""What an app's process takes to start and to hold when its models run in Ray, beside one that runs them itself."""

import time
from importlib.util import find_spec
from statistics import median

from tests.bench.table import Row
from tests.bench.visitors import ready_server
from tests.support.ray_cluster import serving_models

ROUNDS = 3


def started(**variables: str) -> tuple[float, float]:
    """Start a server with these settings; return the seconds until its model answers, and its megabytes then."""
    begun = time.monotonic()
    with ready_server(**variables) as (_, server):
        return time.monotonic() - begun, server.memory_info().rss / 1e6


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
    return [
        Row(f"start of a server until its model answers, {where}", f"{there[0]:.1f} / {here[0]:.1f} s", "2 s", there[0] < 2),
        Row(f"memory of a server that is ready, {where}", f"{there[1]:.0f} / {here[1]:.0f} MB", "200 MB", there[1] < 200),
    ]
