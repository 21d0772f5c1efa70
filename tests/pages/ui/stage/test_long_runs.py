"""A bar shows how many runs are done where they take over a second, and only there."""

import pytest

from pages.ui.shell.numbers import duration
from pages.ui.stage import long_runs
from pages.ui.stage.texts import RUNS_DONE
from tx_core.engine.progress import begin_runs, count_runs
from tx_core.errors import TextProblem


class Slot:
    """A place of a page."""

    def __init__(self):
        self.drawn = []

    def progress(self, share: float, said: str) -> None:
        self.drawn.append((share, said))

    def empty(self) -> None:
        self.drawn.append(None)


def test_a_bar_stands_from_the_start_of_what_takes_long_and_goes_at_its_end():
    slot = Slot()
    with long_runs.runs_shown(slot):
        begin_runs(4, 1.5)
        count_runs(3)
        count_runs(1)
    said = [RUNS_DONE.format(done=done, total=4) for done in (0, 3, 4)]
    assert slot.drawn == [(0.0, said[0]), (0.75, said[1]), (1.0, said[2]), None]


def test_a_bar_goes_where_a_computation_ends_with_a_problem():
    slot = Slot()

    def compute() -> None:
        with long_runs.runs_shown(slot):
            begin_runs(4, 1.5)
            raise TextProblem("The texts have the same answer.")

    with pytest.raises(TextProblem):
        compute()
    assert slot.drawn == [(0.0, RUNS_DONE.format(done=0, total=4)), None]


def test_what_is_quick_has_no_bar_unless_it_takes_longer_than_was_thought(monkeypatch):
    slot, now = Slot(), 100.0
    monkeypatch.setattr(long_runs.time, "monotonic", lambda: now)
    with long_runs.runs_shown(slot):
        begin_runs(4, 0.5)
        count_runs(1)
        assert not slot.drawn
        now = 101.5
        count_runs(1)
    assert slot.drawn[0] == (0.5, RUNS_DONE.format(done=2, total=4))


@pytest.mark.parametrize(("seconds", "written"), [(11, "10 seconds"), (86, "90 seconds"), (100, "2 minutes"), (200, "4 minutes")])
def test_a_time_is_written_roughly(seconds: float, written: str):
    assert duration(seconds) == f"about {written}"
