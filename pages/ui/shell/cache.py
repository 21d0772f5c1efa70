"""Results shared by all visitors: engines and runs, cached by plain keys within a limit in bytes. All are read-only.

A result that one visitor alone has used goes when that visitor leaves; what several have used stays while there is room.

The default limit, TX_CACHE_MEGABYTES, holds the run of a large model on a long text (12 layers of 12 heads on 512 tokens:
151 MB), its view in whole words, and another visitor's run of the same size.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol, TypeVar
from weakref import WeakSet, WeakValueDictionary

from cachetools import LRUCache

from pages.ui.shell import garbage, metrics, readiness
from pages.ui.shell.admission import connections
from pages.ui.shell.draining import own_session
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine, with_special_tokens
from tx_core.engine.first_view import awaited_engine
from tx_core.errors import memory_checked
from tx_core.settings import host_settings
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Trace


class Sized(Protocol):
    """A read-only result that reports its size in bytes."""

    @property
    def nbytes(self) -> int: ...


Result = TypeVar("Result", bound=Sized)


@dataclass(eq=False)
class CacheEntry:
    """A cached result.

    Attributes:
        key: What it is cached under.
        result: What was computed.
        nbytes: The estimated size in bytes of the result and its key.
        session: The only session whose pages have used it; "" before a page has, None once several sessions have.
    """

    key: tuple
    result: Sized
    nbytes: int
    session: str | None = ""


_entries: LRUCache[tuple, CacheEntry] = LRUCache(
    host_settings().cache_megabytes * 1_000_000, getsizeof=lambda entry: entry.nbytes
)
_in_use: WeakValueDictionary[tuple, Sized] = WeakValueDictionary()
"""Results that are larger than the whole cache, for as long as a page that shows them holds them."""
_of_one_session: defaultdict[str, WeakSet[CacheEntry]] = defaultdict(WeakSet)
"""By session, the entries that it alone has used."""
_guard = Lock()
metrics.watch_number("tx_cache_bytes", "Results that visitors share", lambda: _entries.currsize)
_frozen_engines: dict[str, int] = {}
"""By model name, the id() of the engine after whose load `garbage.freeze` ran."""


def engine(model: str, *, special_tokens: bool = True, weights: bool = False) -> Engine:
    """Return the engine of a model, loading it on first use.

    special_tokens: whether it puts the model's special tokens around every text.
    weights: whether the page computes with its weights themselves, which must then be in this process.

    While the default model is being loaded in this process, it is one that has the run of the first example stored.

    Raises:
        ExplorerError: If the model is not available or its files are damaged.
    """
    if model == catalogue.DEFAULT and not weights and readiness.is_awaited() and (awaited := awaited_engine()):
        return with_special_tokens(awaited, special_tokens)
    loaded = catalogue.load(model, weights=weights)
    # The default engine is loaded at startup, which freezes the garbage collector itself.
    if model != catalogue.DEFAULT and _frozen_engines.get(model) != id(loaded):
        _frozen_engines[model] = id(loaded)
        garbage.freeze()
    return with_special_tokens(loaded, special_tokens)


def engine_key(runner: Engine) -> tuple[str, str, bool]:
    """Return what tells the results of an engine from those of others: model, device, and whether it adds special tokens."""
    return runner.name, runner.device, runner.tokenizer.special_tokens


def trace(
    model: str,
    text: str,
    pair: str | None = None,
    *,
    keep: Collection[str] = ("weights",),
    interventions: Sequence[Intervention] = (),
) -> Trace:
    """Run a model on a text, or return the cached trace of the same run.

    Raises:
        ExplorerError: If the model or the text cannot be used.
    """
    return trace_with(engine(model), text, pair, keep=keep, interventions=interventions)


def trace_with(
    runner: Engine,
    text: str,
    pair: str | None = None,
    *,
    keep: Collection[str] = ("weights",),
    interventions: Sequence[Intervention] = (),
) -> Trace:
    """Run an engine on a text as it is, which may add no special tokens, or return the cached trace of the same run.

    Raises:
        TextProblem: If the text cannot be read.
    """
    key = ("trace", engine_key(runner), text, pair or None, frozenset(interventions), frozenset(keep))
    return get_or_compute(key, lambda: runner.trace(text, pair or None, keep=keep, interventions=interventions))


def get(key: tuple) -> Sized | None:
    """Return the result cached under a key, or None."""
    with _guard:
        entry = _entries.get(key)
        if entry is None:
            return _in_use.get(key)
        _note_use(entry, own_session())
        return entry.result


def get_or_compute(key: tuple, compute: Callable[[], Result]) -> Result:
    """Return the result cached under a key, or compute and cache it, evicting the least recently used entries.

    Two simultaneous calls may both compute; both get a result for this key. An exception from `compute` propagates
    and is not cached; a lack of memory becomes OutOfMemory. A result larger than the whole cache is returned again only while
    somebody holds it: the parts of a page share it, and nothing is left of it afterwards.
    """
    cached = get(key)
    if cached is not None:
        return cached
    with memory_checked():
        result = compute()
    entry = CacheEntry(key, result, result.nbytes + _key_bytes(key))
    with _guard:
        if entry.nbytes <= _entries.maxsize:
            _entries[key] = entry
            _note_use(entry, own_session())
        else:
            _in_use[key] = result
    return result


def drop_results_of_absent_visitors() -> None:
    """Drop what no session has used but one whose visitor has left."""
    with _guard:
        for session in _of_one_session.keys() - connections.sessions():
            for entry in _of_one_session.pop(session):
                _entries.pop(entry.key, None)


connections.when_left.append(drop_results_of_absent_visitors)


def _note_use(entry: CacheEntry, session: str) -> None:
    """Take in that a session has used a result; "" stands for a request outside of a run of a page."""
    if not session or entry.session in (session, None):
        return
    if entry.session == "":
        entry.session = session
        _of_one_session[session].add(entry)
    else:
        _of_one_session[entry.session].discard(entry)
        entry.session = None


def _key_bytes(key: tuple) -> int:
    """Estimate the memory of a key and of the labels of its result: a text of spaces is long, its result tiny."""
    return 2000 + sum(100 * len(part) for part in key if isinstance(part, str))
