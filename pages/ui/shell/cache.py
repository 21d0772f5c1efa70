"""Results shared by all visitors: engines and runs, cached by plain keys within a limit in bytes. All are read-only.

The default limit, TX_CACHE_MEGABYTES, holds the run of a large model on a long text (12 layers of 12 heads on 512 tokens:
151 MB), its view in whole words, and another visitor's run of the same size.
"""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from threading import Lock
from typing import NamedTuple, TypeVar
from weakref import WeakValueDictionary

from cachetools import LRUCache

from pages.ui.shell import garbage
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine, with_special_tokens
from tx_core.engine.notices import add_notice, collected_notices
from tx_core.engine.threads import use_all_cores, use_one_core
from tx_core.errors import memory_checked
from tx_core.settings import host_settings
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Trace

Result = TypeVar("Result")


class CacheEntry(NamedTuple):
    """A cached result, the estimated size in bytes of it and its key, and what was noted of how it was computed."""

    result: object
    nbytes: int
    notices: tuple[str, ...] = ()


_entries: LRUCache[tuple, CacheEntry] = LRUCache(
    host_settings().cache_megabytes * 1_000_000, getsizeof=lambda entry: entry.nbytes
)
_in_use: WeakValueDictionary[tuple, object] = WeakValueDictionary()
"""Results that are larger than the whole cache, for as long as a page that shows them holds them."""
_guard = Lock()
_frozen_engines: dict[str, int] = {}
"""By model name, the id() of the engine after whose load `garbage.freeze` ran."""


def engine(model: str, *, special_tokens: bool = True, weights: bool = False) -> Engine:
    """Return the engine of a model, loading it on first use; torch then computes on as many cores as its size needs.

    weights: whether the page computes with its weights themselves, which must then be in this process. Raises ExplorerError if
    the model is not available or its files are damaged.
    """
    loaded = catalogue.load_named(model, weights=weights)
    use_one_core() if catalogue.card(model).is_embedded else use_all_cores()
    # The default engine is loaded at startup, which freezes the garbage collector itself.
    if model != catalogue.DEFAULT and _frozen_engines.get(model) != id(loaded):
        _frozen_engines[model] = id(loaded)
        garbage.freeze()
    return with_special_tokens(loaded, special_tokens)


def engine_key(runner: Engine) -> tuple[str, str, bool]:
    """Return the part of a cache key that identifies an engine: model, device, and whether it adds special tokens."""
    return runner.name, runner.device, runner.tokenizer.special_tokens


def trace_with(
    runner: Engine,
    text: str,
    pair: str | None = None,
    *,
    keep: Collection[str] = ("weights",),
    interventions: Sequence[Intervention] = (),
    written: Sequence[int] = (),
) -> Trace:
    """Run an engine on a text as it is, which may add no special tokens, or return the cached trace of the same run.

    written: tokens that follow the text, as of `Engine.encode`. Raises TextProblem if the text cannot be read.
    """
    key = ("trace", engine_key(runner), text, pair or None, tuple(written), frozenset(interventions), frozenset(keep))
    return get_or_compute(key, lambda: runner.trace(text, pair or None, keep=keep, interventions=interventions, written=written))


def call(function: Callable[..., Result], runner: Engine, *arguments: object, **options: object) -> Result:
    """Return what a function, no lambda, makes of an engine and hashable arguments, cached under these and its name."""
    key = (function.__module__, function.__qualname__, engine_key(runner), *arguments, *sorted(options.items()))
    return get_or_compute(key, lambda: function(runner, *arguments, **options))


def get(key: tuple) -> object | None:
    """Return the result cached under a key, or None."""
    with _guard:
        entry = _entries.get(key)
        found = _in_use.get(key) if entry is None else entry.result
    for notice in entry.notices if entry else ():
        add_notice(notice)
    return found


def get_or_compute(key: tuple, compute: Callable[[], Result]) -> Result:
    """Return the result cached under a key, or compute and cache it, evicting the least recently used entries.

    Two simultaneous calls may both compute; both get a result for this key. An exception from `compute` propagates
    and is not cached; a lack of memory becomes OutOfMemory. A result larger than the whole cache is returned again only while
    somebody holds it: the parts of a page share it, and nothing is left of it afterwards.
    """
    cached = get(key)
    if cached is not None:
        return cached
    with memory_checked(), collected_notices() as notices:
        result = compute()
    entry = CacheEntry(result, size_of(result) + _key_bytes(key), tuple(notices))
    with _guard:
        if entry.nbytes <= _entries.maxsize:
            _entries[key] = entry
        else:
            with suppress(TypeError):  # a tuple cannot be held weakly
                _in_use[key] = result
    return result


def size_of(result: object) -> int:
    """Estimate the memory of a result in bytes: of its arrays and texts, and of what its records and sequences hold."""
    if (own := getattr(result, "nbytes", None)) is not None:  # an array, a tensor or a trace
        return own
    parts: Collection[object] = ()
    if is_dataclass(result):
        parts = [getattr(result, field.name) for field in fields(result)]
    elif isinstance(result, Mapping):
        parts = [*result, *result.values()]
    elif isinstance(result, list | tuple):
        parts = result
    return sys.getsizeof(result) + sum(map(size_of, parts))


def _key_bytes(key: tuple) -> int:
    """Estimate the memory of a key and of the labels of its result: a text of spaces is long, its result tiny."""
    return 2000 + sum(100 * len(part if isinstance(part, str) else repr(part)) for part in key)
