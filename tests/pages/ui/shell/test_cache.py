"""The cache gives everyone the result of their own question, within its bound."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from cachetools import LRUCache

from pages.ui.shell import cache
from tx_core.engine.catalogue import load
from tx_core.engine.engine import Engine
from tx_core.engine.notices import add_notice, collected_notices
from tx_core.errors import TextProblem
from tx_core.transformer.interventions import Intervention

MODEL = "embedded"


@dataclass(frozen=True)
class Block:
    name: str
    nbytes: int


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> LRUCache:
    empty = LRUCache(100_000, getsizeof=lambda entry: entry.nbytes)
    monkeypatch.setattr(cache, "_entries", empty)
    return empty


def tiny(engine: Engine, question: object) -> Block:
    return Block("tiny", 1)


def never():
    raise AssertionError("this was to come from the cache")


def test_what_was_noted_of_a_result_is_told_with_it_again(store: LRUCache):
    def compute() -> Block:
        add_notice("computed on the CPU instead")
        return Block("a", 1)

    for make in (compute, never):
        with collected_notices() as notices:
            assert cache.get_or_compute(("noted",), make).name == "a"
        assert notices == ["computed on the CPU instead"]


def test_the_bound_is_in_bytes_and_the_least_recently_used_make_room(store: LRUCache):
    for name in "abc":
        cache.get_or_compute((name,), lambda: Block("large", 30_000))
    cache.get_or_compute(("a",), never)
    cache.get_or_compute(("d",), lambda: Block("large", 30_000))
    assert store.currsize <= 100_000
    assert cache.get_or_compute(("a",), never).name == "large"
    assert cache.get_or_compute(("b",), lambda: Block("again", 1)).name == "again"


def test_a_result_larger_than_the_bound_is_shared_while_somebody_holds_it_and_then_gone(store: LRUCache):
    cache.get_or_compute(("small",), lambda: Block("small", 10))
    held = cache.get_or_compute(("huge",), lambda: Block("huge", 1_000_000))
    assert cache.get_or_compute(("huge",), never) is held
    assert cache.get(("huge",)) is held
    assert cache.get_or_compute(("small",), never).name == "small"
    del held
    assert cache.get(("huge",)) is None
    assert cache.get_or_compute(("huge",), lambda: Block("again", 1_000_000)).name == "again"


def test_a_long_key_counts_though_its_result_is_tiny(store: LRUCache):
    engine = load("embedded")
    for number in range(50):
        cache.call(tiny, engine, f"{number} " + " " * 500)
        cache.call(tiny, engine, (f"{number} " + " " * 500,))
    assert len(store) < 5


@dataclass(frozen=True)
class Record:
    array: np.ndarray
    named: dict[str, tuple[str, ...]]
    block: Block


def test_the_size_of_a_record_is_that_of_all_that_it_holds():
    record = Record(np.zeros(1000), {"a": ("b" * 500,) * 3}, Block("inner", 5_000))
    assert 8_000 + 1_500 + 5_000 < cache.size_of(record) < 8_000 + 1_500 + 5_000 + 1_000
    assert cache.size_of((record, record)) > 2 * cache.size_of(record)


def test_what_goes_wrong_is_passed_on_and_not_kept(store: LRUCache):
    def fail():
        raise TextProblem("no")

    with pytest.raises(TextProblem, match="no"):
        cache.get_or_compute(("a",), fail)
    assert cache.get_or_compute(("a",), lambda: Block("now", 1)).name == "now"


def test_every_part_of_the_question_is_in_the_key(store: LRUCache):
    one = cache.trace_with(cache.engine(MODEL), "Time flies")
    others = [
        cache.trace_with(cache.engine(MODEL), "Time flies "),
        cache.trace_with(cache.engine(MODEL), "Time", "flies"),
        cache.trace_with(cache.engine(MODEL), "Time flies", keep=("weights", "hidden")),
        cache.trace_with(cache.engine(MODEL), "Time flies", interventions=[Intervention("off", 0, 1)]),
    ]
    assert len({id(trace) for trace in [one, *others]}) == 5
    assert cache.trace_with(cache.engine(MODEL), "Time flies", "") is one
    assert not others[-1].attention.weights[0, 1].any()
    assert one.attention.weights[0, 1].any()


def test_another_model_device_or_way_to_read_has_results_of_its_own(store: LRUCache):
    runner = cache.engine(MODEL)
    own = {name: getattr(runner, name) for name in ("name", "device", "tokenizer", "trace")}
    others = [SimpleNamespace(**own | changed) for changed in ({"name": "another"}, {"device": "cuda:0"})]
    bare = cache.engine(MODEL, special_tokens=False)
    traces = [cache.trace_with(one, "Time flies") for one in (runner, *others, bare)]
    assert len({id(trace) for trace in traces}) == 4
    assert cache.trace_with(SimpleNamespace(**own), "Time flies") is traces[0]
