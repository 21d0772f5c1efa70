"""Training behind the page: one a visitor, bounded for the host, stopped when its visitor is gone."""

import pytest

from tests.support.counting import Clock, Counting, ended, until
from tx_core.errors import Busy, TextProblem
from tx_core.training.background import Registry


def test_a_training_reports_as_it_goes_and_hands_over_its_result_at_the_end():
    registry, training = Registry(limit=2), Counting(3)
    assert registry.snapshot("ann", "copy") is None
    assert registry.start("ann", "copy", training).state == "running"
    training.let(2)
    until(lambda: registry.snapshot("ann", "copy").records == (1, 2))
    assert registry.snapshot("ann", "copy").result is None
    training.let(1)
    done = ended(registry, "ann")
    assert (done.state, done.records, done.problem) == ("finished", (1, 2, 3), "")
    assert done.result is training


def test_a_stopped_training_keeps_what_it_learned_and_can_go_on():
    registry, training = Registry(limit=1), Counting(5)
    registry.start("ann", "copy", training)
    training.let(1)
    until(lambda: registry.snapshot("ann", "copy").records == (1,))
    registry.stop("ann", "copy")
    assert registry.snapshot("ann", "copy").state in ("stopping", "stopped")
    training.let(1)
    stopped = ended(registry, "ann")
    assert stopped.state == "stopped"
    assert stopped.result is training
    assert training.closed
    assert registry.go_on("ann", "copy").records == (1, 2)
    training.let(3)
    done = ended(registry, "ann")
    assert (done.state, done.records) == ("finished", (1, 2, 3, 4, 5))
    assert registry.go_on("ann", "copy") is None
    assert registry.go_on("bob", "copy") is None


def test_a_stopped_training_waits_for_its_turn_to_go_on_where_the_host_is_busy():
    registry, stopped, other = Registry(limit=1), Counting(), Counting(1)
    registry.keep("ann", "copy", stopped, (1,))
    registry.start("bob", "copy", other)
    for ask in (lambda: registry.go_on("ann", "copy"), lambda: registry.check_room("ann")):
        with pytest.raises(Busy, match="at its limit"):
            ask()
    assert registry.snapshot("ann", "copy").state == "stopped"
    other.let(1)
    ended(registry, "bob")
    registry.check_room("ann")
    assert registry.go_on("ann", "copy").state == "running"
    registry.forget("ann")
    stopped.let(1)
    until(lambda: registry.running == 0)


def test_two_visitors_see_only_their_own():
    registry, one, two = Registry(limit=2), Counting(2), Counting(4)
    registry.start("ann", "copy", one)
    registry.start("bob", "copy", two)
    one.let(2)
    two.let(4)
    assert ended(registry, "ann").records == (1, 2)
    assert ended(registry, "bob").records == (1, 2, 3, 4)
    assert registry.snapshot("ann", "classifier") is None
    registry.stop("cid", "copy")
    assert registry.snapshot("cid", "copy") is None


def test_a_visitor_may_train_one_thing_at_a_time():
    registry, training = Registry(limit=5), Counting(2)
    registry.start("ann", "copy", training)
    for kind in ("copy", "classifier"):
        with pytest.raises(Busy, match="You already have a training running"):
            registry.start("ann", kind, Counting())
    training.let(2)
    ended(registry, "ann")
    registry.start("ann", "classifier", Counting(0))
    assert ended(registry, "ann", "classifier").state == "finished"
    assert registry.snapshot("ann", "copy").records == (1, 2)


def test_the_host_refuses_more_than_it_can_bear_and_takes_the_next_when_one_is_done():
    registry, trainings = Registry(limit=2), [Counting(1) for _ in range(2)]
    for number, training in enumerate(trainings):
        registry.start(f"visitor {number}", "copy", training)
    with pytest.raises(Busy, match="at its limit"):
        registry.start("late", "copy", Counting())
    assert registry.snapshot("late", "copy") is None
    trainings[0].let(1)
    ended(registry, "visitor 0")
    registry.start("late", "copy", Counting(0))
    trainings[1].let(1)
    ended(registry, "late")
    ended(registry, "visitor 1")
    assert registry.running == 0


def test_the_training_of_a_vanished_visitor_is_stopped_and_forgotten():
    clock = Clock()
    registry, gone, here = Registry(limit=2, seconds=60.0, clock=clock), Counting(), Counting()
    registry.start("gone", "copy", gone)
    registry.start("here", "copy", here)
    clock.now = 50.0
    registry.snapshot("here", "copy")
    clock.now = 100.0
    assert registry.snapshot("here", "copy").state == "running"
    assert registry.snapshot("gone", "copy") is None
    # Its last step still computes, so it still counts.
    with pytest.raises(Busy):
        registry.start("third", "copy", Counting())
    gone.let(1)
    until(lambda: gone.closed and registry.running == 1)
    registry.start("third", "copy", Counting(0))
    here.let(1000)
    ended(registry, "third")
    ended(registry, "here")


def test_a_visitor_can_be_forgotten_at_once():
    registry, training = Registry(limit=1), Counting()
    registry.start("ann", "copy", training)
    registry.forget("ann")
    assert registry.snapshot("ann", "copy") is None
    training.let(1)
    until(lambda: registry.running == 0)


def test_the_runs_remembered_are_bounded():
    clock = Clock()
    registry = Registry(limit=9, kept=2, clock=clock)
    for number, visitor in enumerate(("first", "second", "third")):
        clock.now = float(number)
        registry.start(visitor, "copy", Counting(0))
        ended(registry, visitor)
    assert registry.snapshot("first", "copy") is None
    assert registry.snapshot("second", "copy").state == "finished"
    assert registry.snapshot("third", "copy").state == "finished"


def test_a_problem_that_can_be_told_is_told():
    class Telling:
        def steps(self):
            yield 1
            raise TextProblem("Only one label was found.")

    registry = Registry(limit=1)
    registry.start("ann", "classifier", Telling())
    failed = ended(registry, "ann", "classifier")
    assert (failed.state, failed.records, failed.problem) == ("failed", (1,), "Only one label was found.")
    assert registry.running == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_training_that_breaks_frees_its_place_and_says_so():
    class Breaking:
        def steps(self):
            yield 1
            raise ZeroDivisionError("a mistake of ours")

    registry = Registry(limit=1)
    registry.start("ann", "copy", Breaking())
    failed = ended(registry, "ann")
    assert failed.state == "failed"
    assert "broke off" in failed.problem
    assert "mistake" not in failed.problem
    registry.start("bob", "copy", Counting(0))
    assert ended(registry, "bob").state == "finished"


def test_a_training_from_a_file_takes_its_place_but_not_that_of_a_running_one():
    registry, loaded, running = Registry(limit=1), Counting(), Counting(1)
    kept = registry.keep("ann", "copy", loaded, (7, 8))
    assert (kept.state, kept.records, kept.result) == ("stopped", (7, 8), loaded)
    registry.start("ann", "copy", running)
    with pytest.raises(Busy, match="still running"):
        registry.keep("ann", "copy", loaded)
    running.let(1)
    ended(registry, "ann")
