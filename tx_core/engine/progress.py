"""How far long work is, and how long it takes.

`Progress` is the one record that trainings, readings of sentences and scans of heads yield. What runs a model many times for a
page counts its runs (`begin_runs`, `count_runs`); `watch_runs` tells the page of them, and `run_seconds` estimates them.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import local
from typing import Any

from tx_core.engine.device_limits import device_limits
from tx_core.engine.engine import Engine
from tx_core.engine.threads import core_count


@dataclass(frozen=True)
class Progress:
    """How far a run in the background is.

    done, total: batches of a training, sentences of a reading, runs of the model of a scan. values: what was measured of a batch,
    by name, such as its loss in nats. probe: what the model makes of the probe of a training, at the moments that are kept. test:
    the score on test texts, at the end of an epoch.
    """

    done: int
    total: int
    seconds: float
    values: Mapping[str, float] = field(default_factory=dict)
    probe: Any = None
    test: Any = None


ShowRuns = Callable[[int, int, float], None]
"""A function of the runs that are done, of all, and of the seconds that all may take."""
AT_ONCE_SECONDS = 10.0
"""What may take longer, by `run_seconds`, a page begins only once it is asked to."""
_thread = local()


def operations(engine: Engine, tokens: int, runs: float = 1) -> float:
    """Return about how many additions and multiplications runs of a text take: each layer has 12 hidden² weights."""
    return 24.0 * runs * tokens * sum(engine.info.layers.values()) * engine.info.hidden_size**2


def run_seconds(engine: Engine, tokens: int, runs: float = 1) -> float:
    """Estimate how long runs of a text take on the engine's device while nobody else computes."""
    cores = 1 if engine.device.startswith("cuda") else core_count()
    return operations(engine, tokens, runs) / (device_limits(engine.device).operations_a_second * cores)


def share_of_layers(engine: Engine) -> float:
    """Return what share of a run is computed for changes in every layer in turn: our own layers begin at the changed one."""
    return (engine.info.num_layers + 1) / (2 * engine.info.num_layers) if engine.info.is_own else 1.0


@dataclass
class _Watch:
    """Runs that somebody watches. planned: how many were said to come, in so many seconds."""

    show: ShowRuns
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    planned: bool = False


@contextmanager
def watch_runs(show: ShowRuns) -> Iterator[None]:
    """Call `show` when runs of the model begin in this thread, and after each batch of them, within the block."""
    outer = getattr(_thread, "watch", None)
    _thread.watch = _Watch(show)
    try:
        yield
    finally:
        _thread.watch = outer


def plan_runs(runs: int, seconds: float) -> None:
    """Announce how many runs of several computations follow, and how long they may take."""
    if watch := getattr(_thread, "watch", None):
        watch.planned = False
        begin_runs(runs, seconds)
        watch.planned = True


def begin_runs(runs: int, seconds: float) -> None:
    """Announce that so many runs follow, unless they were planned; call it outside a compute slot."""
    watch = getattr(_thread, "watch", None)
    if watch and not watch.planned:
        watch.total, watch.seconds = watch.total + runs, watch.seconds + seconds
        watch.show(watch.done, watch.total, watch.seconds)


def count_runs(runs: int) -> None:
    """Count so many runs as done; call it outside a compute slot."""
    if watch := getattr(_thread, "watch", None):
        watch.done += runs
        watch.total = max(watch.total, watch.done)
        watch.show(watch.done, watch.total, watch.seconds)
