"""The cache gives everyone the result of their own question, within its bound."""

import asyncio
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakSet

import numpy as np
import pytest
from cachetools import LRUCache

from pages.ui.panels.head_map import prepared_view
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import cache
from pages.ui.shell.admission import Connections
from tests.support.apart import run_apart
from tests.support.serving import fetch, free_port, running, streamlit_command
from tests.support.stream_client import visit
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import AttentionStack, Encoding, Trace

MODEL = "embedded"


@dataclass(frozen=True)
class Block:
    """A result of a known size."""

    name: str
    nbytes: int


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> LRUCache:
    """An empty cache of 100,000 bytes."""
    empty = LRUCache(100_000, getsizeof=lambda entry: entry.nbytes)
    monkeypatch.setattr(cache, "_entries", empty)
    return empty


def never():
    raise AssertionError("this was to come from the cache")


def test_the_same_question_is_computed_once(room: LRUCache):
    first = cache.get_or_compute(("a",), lambda: Block("first", 10))
    assert cache.get_or_compute(("a",), never) is first


def test_the_bound_is_in_bytes_and_the_least_recently_used_make_room(room: LRUCache):
    for name in "abc":
        cache.get_or_compute((name,), lambda: Block("large", 30_000))
    cache.get_or_compute(("a",), never)
    cache.get_or_compute(("d",), lambda: Block("large", 30_000))
    assert room.currsize <= 100_000
    assert cache.get_or_compute(("a",), never).name == "large"
    assert cache.get_or_compute(("b",), lambda: Block("again", 1)).name == "again"


def test_a_result_larger_than_the_bound_is_handed_out_and_displaces_nothing(room: LRUCache):
    cache.get_or_compute(("small",), lambda: Block("small", 10))
    assert cache.get_or_compute(("huge",), lambda: Block("huge", 1_000_000)).name == "huge"
    assert cache.get_or_compute(("small",), never).name == "small"


def test_a_result_larger_than_the_bound_is_shared_while_somebody_holds_it_and_then_gone(room: LRUCache):
    held = cache.get_or_compute(("huge",), lambda: Block("huge", 1_000_000))
    assert cache.get_or_compute(("huge",), never) is held
    assert cache.get(("huge",)) is held
    assert len(room) == 0
    del held
    assert cache.get(("huge",)) is None
    assert cache.get_or_compute(("huge",), lambda: Block("again", 1_000_000)).name == "again"


def test_a_long_key_counts_though_its_result_is_tiny(room: LRUCache):
    for number in range(50):
        cache.get_or_compute((f"{number} " + " " * 500,), lambda: Block("tiny", 1))
    assert len(room) < 5


class Visitors:
    """Visitors by the names of their sessions, who run pages one after the other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.connections, self.tokens, self.running = Connections(), {}, ""
        self.connections.when_left.append(cache.drop_results_of_absent_visitors)
        monkeypatch.setattr(cache, "connections", self.connections)
        monkeypatch.setattr(cache, "own_session", lambda: self.running)

    def run(self, session: str, name: str) -> bool:
        """Let a visitor's page ask for a result; tell whether it was computed. "" stands for a request beside the pages."""
        if session and session not in self.tokens:
            self.tokens[session] = self.connections.open(session)
            self.connections.find(self.tokens[session]).session = session
        self.running, computed = session, []
        cache.get_or_compute((name,), lambda: computed.append(name) or Block(name, 10))
        return bool(computed)

    def leave(self, session: str, *, broken: bool = False) -> None:
        self.connections.close(self.tokens.pop(session), broken=broken)


@pytest.fixture
def visitors(room: LRUCache, monkeypatch: pytest.MonkeyPatch) -> Visitors:
    monkeypatch.setattr(cache, "_of_one_session", defaultdict(WeakSet))
    return Visitors(monkeypatch)


def names(room: LRUCache) -> set[str]:
    return {name for (name,) in room}


def test_what_one_visitor_alone_has_used_goes_when_that_visitor_leaves(visitors: Visitors, room: LRUCache):
    for session, name in (("ann", "hers"), ("bob", "his"), ("ann", "of both"), ("bob", "of both"), ("ann", "hers")):
        visitors.run(session, name)
    visitors.leave("ann")
    assert names(room) == {"his", "of both"}
    assert not visitors.run("bob", "his")
    visitors.leave("bob")
    assert names(room) == {"of both"}


def test_what_a_broken_connection_has_used_stays_as_long_as_its_place(visitors: Visitors, room: LRUCache):
    visitors.run("ann", "hers")
    visitors.run("bob", "his")
    visitors.leave("ann", broken=True)
    assert names(room) == {"hers", "his"}
    visitors.connections._clock = lambda: float("inf")
    visitors.leave("bob")
    assert names(room) == set()


def test_what_was_computed_before_any_page_used_it_belongs_to_the_first_that_does(visitors: Visitors, room: LRUCache):
    visitors.run("", "prefetched")
    visitors.run("", "never asked for")
    assert not visitors.run("ann", "prefetched")
    assert not visitors.run("", "prefetched")
    visitors.leave("ann")
    assert names(room) == {"never asked for"}


def test_what_a_run_computes_after_its_visitor_has_left_goes_with_the_next_who_leaves(visitors: Visitors, room: LRUCache):
    visitors.run("ann", "hers")
    visitors.run("bob", "his")
    token = visitors.tokens["ann"]
    visitors.leave("ann")
    visitors.tokens["ann"] = token  # her page is still running
    visitors.run("ann", "late")
    assert names(room) == {"his", "late"}
    visitors.leave("bob")
    assert names(room) == set()


def test_what_made_room_for_others_is_not_kept_for_its_visitor(visitors: Visitors, room: LRUCache):
    for number in range(100):
        visitors.run("ann", f"{number}")
    assert len(room) == len(cache._of_one_session["ann"]) < 60


def test_of_visitors_who_came_and_went_a_server_keeps_no_result(tmp_path: Path):
    url, secret = f"http://127.0.0.1:{(port := free_port())}", "a-secret-of-this-test"

    def cached_bytes() -> float:
        shown = fetch(f"{url}/api/metrics", Authorization=f"Bearer {secret}")[2].decode()
        return next(float(line.split()[1]) for line in shown.splitlines() if line.startswith("tx_cache_bytes"))

    async def until(size: float) -> None:
        async with asyncio.timeout(120):
            while await asyncio.to_thread(cached_bytes) != size:
                await asyncio.sleep(0.05)

    async def come_and_go() -> None:
        async with visit(url, "attention", "text=Someone+stays"):
            of_one = await asyncio.to_thread(cached_bytes)
            async with AsyncExitStack() as others:
                for number in range(5):
                    await others.enter_async_context(visit(url, "attention", f"text=Visitor+{number}+comes"))
                assert await asyncio.to_thread(cached_bytes) > 5 * of_one > 0
            await until(of_one)
        await until(0)

    with running(streamlit_command(port), f"{url}/api/ready", tmp_path / "log.txt", TX_METRICS_TOKEN=secret):
        run_apart(come_and_go())


def words(count: int) -> Encoding:
    """A text of one-piece words."""
    return Encoding(
        text="tea " * count,
        pair=None,
        ids=(7,) * count,
        tokens=("tea",) * count,
        segments=(0,) * count,
        special=(False,) * count,
        words=tuple(range(count)),
        word_texts=("Tea",) * count,
        blanks=(),
        unknown=(),
    )


def test_a_run_and_its_view_as_it_is_do_not_push_each_other_out(monkeypatch: pytest.MonkeyPatch):
    text, weights = words(512), np.broadcast_to(np.float32(1 / 512), (12, 12, 512, 512))
    run = Trace("large", "cpu", (AttentionStack("self", text, text, weights),))
    monkeypatch.setattr(cache, "_entries", LRUCache(run.nbytes + 5_000_000, getsizeof=lambda entry: entry.nbytes))
    options = ViewOptions("self", ((0, 0),), words=False, hide=False, show="both", lines=9, scale="plain", focus=None)
    cache.get_or_compute(("trace",), lambda: run)
    shown = prepared_view(run.attention, ("large", "cpu"), options)
    assert shown.weights is weights
    assert shown.queries == text.tokens
    assert cache.get_or_compute(("trace",), never) is run


def test_a_view_in_whole_words_is_made_once(room: LRUCache):
    text = words(5)
    stack = AttentionStack("self", text, text, np.full((2, 3, 5, 5), 0.2, np.float32))
    options = ViewOptions("self", ((0, 0),), words=True, hide=False, show="both", lines=9, scale="plain", focus=None)
    shown = prepared_view(stack, ("small", "cpu"), options)
    assert shown.queries == ("Tea",) * 5
    assert prepared_view(stack, ("small", "cpu"), options) is shown


def test_the_default_bound_holds_two_visitors_long_texts_one_of_them_in_whole_words(monkeypatch: pytest.MonkeyPatch):
    empty = LRUCache(cache._entries.maxsize, getsizeof=lambda entry: entry.nbytes)
    monkeypatch.setattr(cache, "_entries", empty)
    for name in ("run", "run in whole words", "another's run"):
        cache.get_or_compute((name,), lambda: Block("twelve by twelve, 512 tokens", 12 * 12 * 512 * 512 * 4))
    assert len(empty) == 3


def test_what_goes_wrong_is_passed_on_and_not_kept(room: LRUCache):
    def fail():
        raise TextProblem("no")

    with pytest.raises(TextProblem, match="no"):
        cache.get_or_compute(("a",), fail)
    assert cache.get_or_compute(("a",), lambda: Block("now", 1)).name == "now"


def test_a_trace_is_that_of_the_engine_and_the_same_one_the_second_time(room: LRUCache):
    trace = cache.trace(MODEL, "Time flies", "Fruit flies")
    assert cache.trace(MODEL, "Time flies", "Fruit flies") is trace
    direct = cache.engine(MODEL).trace("Time flies", "Fruit flies")
    np.testing.assert_array_equal(trace.attention.weights, direct.attention.weights)
    assert trace.attention.query_tokens == direct.attention.query_tokens


def test_every_part_of_the_question_is_in_the_key(room: LRUCache):
    one = cache.trace(MODEL, "Time flies")
    others = [
        cache.trace(MODEL, "Time flies "),
        cache.trace(MODEL, "Time", "flies"),
        cache.trace(MODEL, "Time flies", keep=("weights", "hidden")),
        cache.trace(MODEL, "Time flies", interventions=[Intervention("off", 0, 1)]),
    ]
    assert len({id(trace) for trace in [one, *others]}) == 5
    assert cache.trace(MODEL, "Time flies", "") is one
    assert not others[-1].attention.weights[0, 1].any()
    assert one.attention.weights[0, 1].any()


def test_nothing_handed_out_can_be_changed(room: LRUCache):
    with pytest.raises(ValueError, match="read-only"):
        cache.trace(MODEL, "Time flies").attention.weights[0, 0, 0, 0] = 1


def test_visitors_at_once_get_their_own_answers(room: LRUCache):
    asks = [(f"visitor {number % 5}", (Intervention("off", number % 4, number % 8),)) for number in range(40)]

    def ask(question: tuple[str, tuple[Intervention]]):
        return cache.trace(MODEL, question[0], interventions=question[1])

    with ThreadPoolExecutor(8) as visitors:
        traces = list(visitors.map(ask, asks))
    for (text, changes), trace in zip(asks, traces, strict=True):
        assert trace.attention.query_tokens.text == text
        assert trace.interventions == changes
        layer, head = changes[0].layer, changes[0].head
        assert not trace.attention.weights[layer, head].any()


def test_a_model_that_is_not_there_is_a_clear_error():
    with pytest.raises(ModelUnavailable, match="no model named 'banana'"):
        cache.trace("banana", "Time flies")
