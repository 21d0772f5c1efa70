"""What visitors share: engines, and the records of runs by plain keys, bounded in bytes. Nothing here can be changed.

The default bound, TX_CACHE_MEGABYTES, holds the run of a large model on a long text (12 layers of 12 heads on 512 tokens:
151 MB) with its view in whole words, and other visitors' runs.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from cachetools import LRUCache

from pages.ui.shell import readiness
from tx_core.settings import host_settings

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.engine.engine import Engine
    from tx_core.transformer.interventions import Intervention
    from tx_core.transformer.trace import Trace


class Sized(Protocol):
    """A read-only result that knows its memory in bytes."""

    @property
    def nbytes(self) -> int: ...


Result = TypeVar("Result", bound=Sized)


@dataclass(frozen=True)
class Kept:
    """A record and the memory that it takes together with its key."""

    record: Sized
    nbytes: int


_kept: LRUCache[tuple, Kept] = LRUCache(host_settings().cache_megabytes * 1_000_000, getsizeof=lambda kept: kept.nbytes)
_guard = Lock()
_settled: dict[str, int] = {}


def engine(model: str) -> "Engine":
    """Give the engine of a model, loaded on first use; raise ExplorerError when it cannot be had."""
    from tx_core.engine import catalogue

    loaded = catalogue.load(model)
    if model != catalogue.DEFAULT and _settled.get(model) != id(loaded):  # the start of the server settles the default
        _settled[model] = id(loaded)
        readiness.settle()
    return loaded


def trace(
    model: str,
    text: str,
    pair: str | None = None,
    *,
    keep: Collection[str] = ("weights",),
    interventions: "Sequence[Intervention]" = (),
) -> "Trace":
    """Run a model on a text, or take the record of the same run; raise ExplorerError when either cannot be used."""
    runner = engine(model)
    key = ("trace", model, runner.device, text, pair or None, frozenset(interventions), frozenset(keep))
    return remember(key, lambda: runner.trace(text, pair or None, keep=keep, interventions=interventions))


def known(key: tuple) -> Sized | None:
    """Give the result kept under a key, or None; nothing is computed."""
    with _guard:
        found = _kept.get(key)
    return None if found is None else found.record


def remember(key: tuple, compute: Callable[[], Result]) -> Result:
    """Give the result kept under a key, or compute and keep it; the least recently used make room.

    Two who ask at the same moment may both compute; each gets a result of this very key. What `compute`
    raises is passed on and not kept; a result larger than the whole bound is handed out and not kept.
    """
    found = known(key)
    if found is not None:
        return found
    record = compute()
    kept = Kept(record, record.nbytes + _weight(key))
    with _guard:
        if kept.nbytes <= _kept.maxsize:
            _kept[key] = kept
    return record


def _weight(key: tuple) -> int:
    """Guess the memory of a key and of the labels that go with its record: a text of spaces is long, its record tiny."""
    return 2000 + sum(100 * len(part) for part in key if isinstance(part, str))
