"""Trainings beyond what a host computes at once: they wait in their order, begin by themselves, and give up their place."""

import pytest

from tests.support.counting import Clock, Counting, ended, until
from tx_core.errors import Busy
from tx_core.training.background import Registry


def queue_of(registry: Registry, *visitors: str) -> list[int | None]:
    """How many others are before each visitor; None for one who does not wait."""
    looks = [registry.snapshot(visitor, "copy") for visitor in visitors]
    return [look.before if look and look.state == "waiting" else None for look in looks]


def test_those_beyond_the_limit_wait_and_begin_by_themselves_in_the_order_in_which_they_came():
    registry, names = Registry(limit=2, queue=9), [f"visitor {number}" for number in range(5)]
    trainings = {name: Counting(1) for name in names}
    states = [registry.start(name, "copy", trainings[name]).state for name in names]
    assert states == ["running", "running", "waiting", "waiting", "waiting"]
    assert queue_of(registry, *names) == [None, None, 0, 1, 2]
    assert registry.snapshot(names[2], "copy").result is None
    for place, name in enumerate(names):
        assert queue_of(registry, *names[place + 2 :]) == list(range(len(names[place + 2 :])))
        assert all(trainings[later].done == 0 for later in names[place + 2 :])
        trainings[name].let(1)
        until(lambda done=trainings[name]: done.closed)
        until(lambda begun=names[place : place + 3][-1]: registry._jobs.get((begun, "copy")))  # nobody asked for it
        assert ended(registry, name).records == (1,)
    assert registry.running == 0


def test_a_stop_takes_one_out_of_the_queue_and_those_behind_move_up():
    registry, first = Registry(limit=1, queue=9), Counting(1)
    registry.start("ann", "copy", first)
    for name in ("bob", "cid", "dan"):
        registry.start(name, "copy", Counting(0))
    registry.stop("bob", "copy")
    assert registry.snapshot("bob", "copy") is None
    assert queue_of(registry, "bob", "cid", "dan") == [None, 0, 1]
    registry.forget("cid")
    assert queue_of(registry, "cid", "dan") == [None, 0]
    first.let(1)
    assert ended(registry, "dan").state == "finished"
    assert registry.snapshot("bob", "copy") is None
    assert not registry.gave_up("bob", "copy")


def test_whoever_no_longer_asks_gives_up_the_place_and_keeps_what_was_there_before():
    clock = Clock()
    registry, first, stopped = Registry(limit=1, queue=9, patience=20.0, clock=clock), Counting(1), Counting()
    registry.keep("away", "copy", stopped, (7,))
    registry.start("ann", "copy", first)
    assert registry.go_on("away", "copy").records == (7,)
    registry.start("here", "copy", Counting(0))
    assert queue_of(registry, "away", "here") == [0, 1]
    clock.now = 15.0
    assert queue_of(registry, "here") == [1]
    clock.now = 21.0
    first.let(1)
    assert ended(registry, "here").state == "finished"
    assert registry.gave_up("away", "copy")
    assert not registry.gave_up("away", "copy")
    before = registry.snapshot("away", "copy")
    assert (before.state, before.records, before.result, stopped.done) == ("stopped", (7,), stopped, 0)


def test_the_queue_is_bounded_and_holds_a_visitor_once():
    registry, first = Registry(limit=1, queue=2), Counting(1)
    registry.start("ann", "copy", first)
    registry.start("bob", "copy", Counting(0))
    for act in (lambda: registry.start("bob", "classifier", Counting()), lambda: registry.start("ann", "classifier", Counting())):
        with pytest.raises(Busy, match="You already have a training running"):
            act()
    with pytest.raises(Busy, match="still running"):
        registry.keep("bob", "copy", Counting())
    registry.start("cid", "copy", Counting(0))
    with pytest.raises(Busy, match="at its limit"):
        registry.start("dan", "copy", Counting())
    assert queue_of(registry, "bob", "cid", "dan") == [0, 1, None]
    first.let(1)
    assert [ended(registry, name).state for name in ("ann", "bob", "cid")] == ["finished"] * 3


def test_a_training_dropped_while_it_computes_hands_its_place_on_when_it_has_stopped():
    registry, dropped, next_one = Registry(limit=1, queue=1), Counting(), Counting(0)
    registry.start("ann", "copy", dropped)
    registry.start("bob", "copy", next_one)
    registry.forget("ann")
    assert queue_of(registry, "bob") == [0]
    dropped.let(1)
    until(lambda: next_one.closed)
    assert ended(registry, "bob").state == "finished"
