"""Runs in the background: one per visitor, bounded for the host, queued, stopped when their visitor is gone."""

import pytest

from tests.support.trainings import Clock, Counting, ended, until
from tx_core.errors import Busy, TextProblem
from tx_core.training import background
from tx_core.training.background import ALREADY_RUNNING, QUEUE_FULL, SHARE_TAKEN, UNEXPECTED_END, Registry


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "REST_SECONDS", 0.0)


def queue_of(registry: Registry, *visitors: str) -> list[int | None]:
    snapshots = [registry.snapshot(visitor, "copy") for visitor in visitors]
    return [snapshot.ahead if snapshot and snapshot.state == "waiting" else None for snapshot in snapshots]


def test_a_stopped_training_keeps_what_it_learned():
    registry, training = Registry(limit=1), Counting(5)
    registry.start("ann", "copy", training)
    training.let(1)
    until(lambda: registry.snapshot("ann", "copy").records == (1,))
    assert registry.snapshot("ann", "copy").result is None
    registry.stop("ann", "copy")
    assert registry.snapshot("ann", "copy").state in ("stopping", "stopped")
    training.let(1)
    stopped = ended(registry, "ann")
    assert stopped.state == "stopped"
    assert stopped.result is training
    assert training.closed
    assert stopped.records == (1, 2)


def test_runs_beyond_the_limit_wait_and_begin_by_themselves_in_the_order_in_which_they_came():
    registry, names = Registry(limit=2), [f"visitor {number}" for number in range(5)]
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
        begun = names[place : place + 3][-1]
        until(lambda key=(begun, "copy"): registry._jobs[key].state != "waiting")  # nobody asked for it
        assert ended(registry, name).records == (1,)
    assert registry.running == 0


def test_a_stop_takes_a_run_out_of_the_queue_and_those_behind_move_up():
    registry, first = Registry(limit=1), Counting(1)
    registry.start("ann", "copy", first)
    for name in ("bob", "cid", "dan"):
        registry.start(name, "copy", Counting(0))
    registry.stop("bob", "copy")
    assert registry.snapshot("bob", "copy") is None
    assert queue_of(registry, "bob", "cid", "dan") == [None, 0, 1]
    registry.leave("cid", 0)
    assert queue_of(registry, "cid", "dan") == [None, 0]
    first.let(1)
    assert ended(registry, "dan").state == "finished"
    assert registry.snapshot("bob", "copy") is None


def test_the_queue_is_bounded_and_holds_a_visitor_once():
    registry, first = Registry(limit=1, max_runs=3), Counting(1)
    registry.start("ann", "copy", first)
    registry.start("bob", "copy", Counting(0))
    for act in (lambda: registry.start("bob", "classifier", Counting()), lambda: registry.start("ann", "classifier", Counting())):
        with pytest.raises(Busy, match=ALREADY_RUNNING):
            act()
    registry.start("cid", "copy", Counting(0))
    for act in (lambda: registry.start("dan", "copy", Counting()), lambda: registry.check_capacity("dan")):
        with pytest.raises(Busy, match=QUEUE_FULL):
            act()
    assert queue_of(registry, "bob", "cid", "dan") == [0, 1, None]
    first.let(1)
    assert [ended(registry, name).state for name in ("ann", "bob", "cid")] == ["finished"] * 3
    registry.check_capacity("dan")


def test_one_address_has_a_share_of_the_places_and_leaves_the_others_to_other_visitors():
    registry, first = Registry(limit=1, max_runs=5), Counting(1)
    registry.start("tab 0", "copy", first, "one")
    for number in range(1, 4):
        registry.start(f"tab {number}", "copy", Counting(0), "one")
    for act in (registry.check_capacity, lambda *who: registry.start(who[0], "copy", Counting(), who[1])):
        with pytest.raises(Busy, match=SHARE_TAKEN.format(most=4)):
            act("tab 4", "one")
    registry.start("bob", "copy", Counting(0), "two")
    assert queue_of(registry, "tab 1", "tab 2", "tab 3", "bob") == [1, 2, 3, 0]  # whose address has none yet is next
    first.let(1)
    assert all(ended(registry, name).state == "finished" for name in ("bob", "tab 3"))


def test_the_runs_held_are_bounded_and_those_who_left_lose_theirs_first_then_who_asked_for_it_longest_ago():
    clock = Clock()
    registry = Registry(limit=9, max_runs=3, clock=clock)

    def run(visitor: str) -> None:
        registry.start(visitor, "copy", Counting(0))
        ended(registry, visitor)
        clock.now += 1
        registry.snapshot("ann", "copy")  # whose page is in use

    for visitor in ("ann", "bob", "cid"):
        run(visitor)
    registry.leave("cid", 300)
    run("dan")
    assert registry.snapshot("cid", "copy") is None
    run("eve")
    assert [name for name in ("ann", "bob", "dan", "eve") if registry.snapshot(name, "copy")] == ["ann", "dan", "eve"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(("problem", "told"), [(TextProblem("One label."), "One label."), (ZeroDivisionError(), UNEXPECTED_END)])
def test_a_training_that_fails_frees_its_place_and_says_why(problem: Exception, told: str):
    class Failing:
        def updates(self):
            yield 1
            raise problem

    registry = Registry(limit=1)
    registry.start("ann", "copy", Failing())
    failed = ended(registry, "ann")
    assert (failed.state, failed.records, failed.problem) == ("failed", (1,), told)
    registry.start("bob", "copy", Counting(0))
    assert ended(registry, "bob").state == "finished"
