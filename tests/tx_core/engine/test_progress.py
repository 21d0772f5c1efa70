"""Runs of a model are counted while they are made, and estimated before."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from tx_core.causal.deciding_words import explain_pair, pair_runs, read_pair
from tx_core.causal.explain import METHODS
from tx_core.causal.patch import patch, patch_runs
from tx_core.engine import progress
from tx_core.engine.progress import begin_runs, count_runs, operations, plan_runs, run_seconds, share_of_layers, watch_runs
from tx_core.fill_mask import predictions

TEXT, OTHER = "The dogs near the house [MASK] big.", "The dog near the house [MASK] big."


@dataclass
class Watcher:
    told: list[tuple[int, int]]

    def __call__(self, done: int, total: int, seconds: float) -> None:
        self.told.append((done, total))


@pytest.fixture
def watched():
    watcher = Watcher([])
    with watch_runs(watcher):
        yield watcher.told


def test_runs_are_told_before_the_first_and_after_each_batch_and_nobody_hears_of_them_afterwards(engine, watched, monkeypatch):
    monkeypatch.setattr(predictions, "ROWS_AT_ONCE", 2)
    row = engine.encode("It [MASK].")
    assert len(list(predictions.blank_logits_in_batches(engine, [row] * 5))) == 3
    assert watched == [(0, 5), (2, 5), (4, 5), (5, 5)]
    with watch_runs(lambda *_: None):
        count_runs(7)
    assert watched[-1] == (5, 5)


def test_computations_that_were_not_planned_add_up_and_those_that_were_keep_their_number(watched):
    begin_runs(3, 1.0)
    count_runs(3)
    begin_runs(2, 1.0)
    assert watched == [(0, 3), (3, 3), (3, 5)]
    count_runs(2)
    plan_runs(4, 1.0)
    begin_runs(3, 1.0)
    count_runs(3)
    assert watched[3:] == [(5, 5), (5, 9), (8, 9)]


def test_a_map_and_all_explanations_make_as_many_runs_as_they_say_before(engine, watched):
    found = patch(engine, source=TEXT, target=OTHER, answers=("are", "is"))
    runs, seconds = patch_runs(engine, len(found.target), "residual")
    assert watched[-1] == (runs + 1, runs + 1) and seconds > 0  # and the target as it is
    del watched[:]
    pair = read_pair(engine, TEXT, OTHER)
    runs, _ = pair_runs(pair.run, METHODS)
    begun = len(watched)
    explain_pair(engine, TEXT, OTHER)
    counted = [done - watched[begun][0] for done, _ in watched[begun:]]
    assert counted[-1] == runs and counted == sorted(counted)
    del watched[:]
    explain_pair(engine, TEXT, OTHER, ("gradient_input", "lrp", "last_layer"))  # what is quick is counted, too
    assert [done - watched[0][0] for done, _ in watched] == [0, 1, 2, 3, 4] and watched[0][1] - watched[0][0] == 4


def test_time_grows_with_tokens_layers_and_the_square_of_the_width_and_a_card_is_faster(engine):
    info = engine.info
    assert operations(engine, 10, 3) == 24 * 3 * 10 * info.num_layers * info.hidden_size**2
    assert run_seconds(engine, 20, 3) == pytest.approx(2 * run_seconds(engine, 10, 3))
    card = SimpleNamespace(info=info, device="cuda:0")
    assert run_seconds(card, 10) < run_seconds(engine, 10) / 10


def test_changes_of_every_layer_in_turn_cost_our_layers_their_own_share_and_the_library_s_all(engine):
    layers = engine.info.num_layers
    own = np.mean([(layers - begun) / layers for begun in range(layers)])
    assert share_of_layers(engine) == pytest.approx(own)
    assert share_of_layers(SimpleNamespace(info=SimpleNamespace(is_own=False))) == 1.0


def test_a_batch_is_small_enough_that_its_progress_is_told_every_few_seconds(engine, monkeypatch):
    assert predictions.rows_at_once(engine, 10) > 3
    monkeypatch.setattr(predictions, "SECONDS_AT_ONCE", 3.5 * progress.run_seconds(engine, 10))
    assert predictions.rows_at_once(engine, 10) == 3
