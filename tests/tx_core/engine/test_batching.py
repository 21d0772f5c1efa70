"""Runs that share a batch: each gets what it would get alone, nobody waits for company, no failure is another's."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor

import numpy as np
import pytest

from tests.support.serving import wait_until
from tx_core.engine import batching, bert_engine, catalogue, threads
from tx_core.engine.batching import MAX_ROWS, SharedRuns
from tx_core.engine.bert_engine import BertEngine
from tx_core.errors import Busy, TextProblem
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS, AttentionStack, Trace, plain_encoding


class Model:
    """Computes when it is let, and writes down its batches."""

    def __init__(self, *, held: bool = True):
        self.let, self.batches = threading.Event(), []
        if not held:
            self.let.set()

    def compute(self, rows: Sequence[object]) -> list[str]:
        self.batches.append(list(rows))
        assert self.let.wait(120)
        for row in rows:
            if isinstance(row, BaseException):
                raise row
        return [f"outcome of {row}" for row in rows]


def always(_rows: Sequence[object], _row: object) -> bool:
    return True


def ask_together(
    shared: SharedRuns, model: Model, rows: Sequence[object], *, fits: Callable = always, first: Sequence[object] = ("first",)
) -> list[Future]:
    """Ask for `first` until all slots compute, then for all rows while they wait; let the model compute."""
    with ThreadPoolExecutor(len(first) + len(rows)) as pool:
        busy = [pool.submit(shared.run, row, model.compute, fits) for row in first]
        wait_until(lambda: len(model.batches) == len(first), 120, "busy slots")
        asked = []
        for number, row in enumerate(rows, 1):
            asked.append(pool.submit(shared.run, row, model.compute, fits))
            wait_until(lambda number=number: len(shared._waiting) == number, 120, "a call that waits")
        model.let.set()
    return [*busy, *asked]


@pytest.fixture
def one_slot(host) -> None:
    host(compute_slots=1)


def test_a_run_without_company_is_computed_at_once_and_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batching, "COLLECT_SECONDS", 3600.0)
    shared, model = SharedRuns(), Model(held=False)
    assert [shared.run(row, model.compute, always) for row in "abc"] == [f"outcome of {row}" for row in "abc"]
    assert model.batches == [["a"], ["b"], ["c"]]


def test_those_who_wait_share_the_next_batch_in_their_order_and_each_gets_its_own(one_slot):
    model = Model()
    asked = ask_together(SharedRuns(), model, "abcd")
    assert [one.result() for one in asked] == ["outcome of first", *(f"outcome of {row}" for row in "abcd")]
    assert model.batches == [["first"], list("abcd")]


def test_a_batch_is_bounded(one_slot):
    model, rows = Model(), [str(number) for number in range(2 * MAX_ROWS + 3)]
    asked = ask_together(SharedRuns(), model, rows)
    assert [one.result() for one in asked[1:]] == [f"outcome of {row}" for row in rows]
    assert [len(batch) for batch in model.batches] == [1, MAX_ROWS, MAX_ROWS, 3]


def test_what_does_not_fit_is_computed_apart(one_slot):
    model = Model()
    ask_together(SharedRuns(), model, ["a", "B", "c", "D"], fits=lambda rows, row: rows[0].isupper() == row.isupper())
    assert sorted(model.batches[1:]) == [["B", "D"], ["a", "c"]]


@pytest.mark.parametrize("problem", [MemoryError(), TextProblem("its own"), CancelledError()])
def test_the_failure_of_one_is_nobody_elses(one_slot, problem: Exception):
    shared, model = SharedRuns(), Model()
    asked = ask_together(shared, model, ["a", problem, "b"])
    assert [one.result() for one in (asked[1], asked[3])] == ["outcome of a", "outcome of b"]
    assert asked[2].exception() is problem
    assert model.batches == [["first"], ["a", problem, "b"], ["a"], [problem], ["b"]]
    assert shared.run("later", model.compute, always) == "outcome of later"


class Leaders(Model):
    """A model whose first batch of several rows ends with an error of whoever leads it; notes how long each leader waits."""

    def __init__(self, problem: BaseException):
        super().__init__()
        self.problem, self.waits = problem, []

    def compute(self, rows: Sequence[object]) -> list[str]:
        self.waits.append(threads.patience()[0])
        outcomes = super().compute(rows)
        if len(rows) > 1 and self.problem:
            problem, self.problem = self.problem, None
            raise problem
        return outcomes


@pytest.mark.parametrize("problem", [Busy(threads.BUSY), KeyboardInterrupt()])
def test_what_ends_the_leader_of_a_batch_leaves_the_others_their_outcomes(one_slot, problem: BaseException):
    shared, model = SharedRuns(), Leaders(problem)
    asked = ask_together(shared, model, "abcd")[1:]
    ended = [one for one in asked if one.exception()]
    assert [one.exception() for one in ended] == [problem]
    assert [one.result() for one in asked if one not in ended] == [
        f"outcome of {row}" for row, one in zip("abcd", asked, strict=True) if one not in ended
    ]
    assert shared.run("later", model.compute, always) == "outcome of later"
    assert not shared._waiting


def test_the_time_in_the_queue_counts_as_waiting_for_a_slot(one_slot, host):
    host(compute_slots=1, slot_timeout_seconds=60)
    model = Leaders(None)
    ask_together(SharedRuns(), model, "a")
    assert all(0 < seconds < 60 for seconds in model.waits)
    assert threads.patience()[0] == 60


def test_who_waits_for_too_long_is_told_that_the_host_is_busy(one_slot, host):
    host(compute_slots=1, slot_timeout_seconds=0.2)
    shared, model = SharedRuns(), Model()
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(shared.run, "first", model.compute, always)
        wait_until(lambda: model.batches, 120, "a busy slot")
        with pytest.raises(Busy):
            shared.run("late", model.compute, always)
        model.let.set()
        assert first.result() == "outcome of first"
    assert model.batches == [["first"]]


RUNS = (
    {"text": "The dog barks."},
    {"text": "The old dog and the cat saw a bird.", "keep": ALL_PARTS},
    {"text": "Birds sing.", "pair": "The dog ___ at me.", "keep": ("weights", "blank_logits")},
    {"text": "The king went to the ___ and ___.", "keep": ("hidden", "blank_logits", "scores")},
    *(
        {"text": f"The river ran past tower {number}.", "keep": ALL_PARTS, "interventions": (change,)}
        for number, change in enumerate(
            (
                Intervention("off", 1, 2),
                Intervention("off", 0),
                Intervention("uniform", 2, 1),
                Intervention("hidden", 1, 0, (2,)),
                Intervention("cut", 1, 3, (3, 1)),
                Intervention("temperature", 1, value=0.3),
                Intervention("sparse", 2),
                Intervention("hard", 3),
                Intervention("causal"),
                Intervention("no_positions"),
                Intervention("no_padding_mask", value=3.0),
            )
        )
    ),
)
"""Texts of several lengths, pairs, blanks, kept parts, and every kind of intervention."""


def differences(one: Trace, other: Trace) -> float:
    """Return the largest difference of all numbers of two traces, which keep the same parts.

    Of numbers beyond 1, by the size of the largest: they are sums of many products, of which float32 keeps seven digits, and with
    the rows of a batch, which follow from who comes when, the order of the sums changes.
    """
    pairs = [(one.hidden, other.hidden), (one.blank_logits, other.blank_logits)]
    names = [name for name in AttentionStack.__dataclass_fields__ if isinstance(getattr(one.attention, name), np.ndarray)]
    pairs += [(getattr(one.attention, name), getattr(other.attention, name)) for name in names]
    assert all((first is None) == (second is None) for first, second in pairs)
    found = [(first, second) for first, second in pairs if first is not None]
    assert all(first.shape == second.shape for first, second in found)
    return max(float(np.abs(first - second).max() / max(1.0, np.abs(first).max())) for first, second in found)


def test_every_run_in_a_batch_is_what_it_is_alone(host, monkeypatch: pytest.MonkeyPatch):
    host(compute_slots=1)
    engine = catalogue.load(catalogue.DEFAULT)
    alone = [engine.trace(**run) for run in RUNS]
    sizes, run_rows = [], BertEngine._run_rows

    def counted(self: BertEngine, rows: Sequence) -> list:
        sizes.append(len(rows))
        waiting = engine.runner.shared._waiting
        wait_until(lambda: sum(sizes) + len(waiting) == len(RUNS), 120, "all others")
        return run_rows(self, rows)

    monkeypatch.setattr(BertEngine, "_run_rows", counted)
    with ThreadPoolExecutor(len(RUNS)) as visitors:
        together = list(visitors.map(lambda run: engine.trace(**run), RUNS))
    assert max(sizes) > 2 and sum(sizes) == len(RUNS)
    for run, one, other in zip(RUNS, together, alone, strict=True):
        assert differences(one, other) <= 1e-5, run
        assert (one.attention.query_tokens, one.interventions) == (other.attention.query_tokens, other.interventions)


@pytest.mark.parametrize(
    ("lengths", "changes", "fit"),
    [
        ((6, 9), (), True),
        ((6, 13), (), False),
        ((128,) * 8, (), True),
        ((129,) * 8, (), False),
        ((6, 6), (Intervention("no_padding_mask", value=2.0),), False),
    ],
)
def test_rows_of_about_one_length_share_a_batch_of_bounded_size(lengths: Sequence[int], changes: tuple, fit: bool):
    texts = [plain_encoding(["word"] * length, range(length)) for length in lengths]
    *before, last = [bert_engine._Row(text, (), frozenset(["weights"]), []) for text in texts]
    assert bert_engine._fits(before, bert_engine._Row(last.encoding, changes, last.parts, [])) is fit
