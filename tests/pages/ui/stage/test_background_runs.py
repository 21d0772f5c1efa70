"""Training on a page: what a visitor has ends with the session, and queue and curves are said in words."""

from collections.abc import Iterator

import pytest

from pages.contents import HOME
from pages.ui.stage import background_runs
from tests.support.trainings import Clock, Counting, until
from tx_core.training.background import Registry


@pytest.fixture
def two_runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Clock, list[Counting]]]:
    clock, runs = Clock(), [Counting(10), Counting(10)]
    for name, run in zip(("TRAININGS", "SCANS"), runs, strict=True):
        monkeypatch.setattr(background_runs, name, Registry(limit=1, clock=clock))
        getattr(background_runs, name).start("ann", "copy", run)
    yield clock, runs
    for run in runs:
        run.let(1000)
    until(lambda: background_runs.TRAININGS.running + background_runs.SCANS.running == 0)


def test_the_end_of_a_session_drops_its_trainings_and_its_scans(two_runs):
    clock, runs = two_runs
    background_runs._release("ann")
    clock.now = 1.01 * background_runs.LEFT_SECONDS
    for registry, run in zip((background_runs.TRAININGS, background_runs.SCANS), runs, strict=True):
        run.let(1)  # nobody else asks: the run itself finds that its visitor is gone
        until(lambda run=run: run.closed)
        assert run.done == 1
        assert registry.snapshot("ann", "copy") is None


def test_what_a_visitor_runs_is_seen_in_no_other_session(open_app):
    assert len({open_app("encoder_decoder").session_state["training_visitor"] for _ in range(2)}) == 2


def test_a_short_loss_of_the_network_keeps_the_training_on_whatever_page_the_visitor_is(two_runs, open_app):
    clock, (run, _) = two_runs
    background_runs._release("ann")
    app = open_app(HOME)
    app.session_state["training_visitor"] = "ann"
    app.run()
    clock.now = 3 * background_runs.LEFT_SECONDS
    run.let(1)
    until(lambda: run.done == 1)
    assert background_runs.TRAININGS.snapshot("ann", "copy").state == "running"
