"""Interventions are arguments of a call: they change that call's weights and nothing else."""

import torch

from tx_core import models
from tx_core.interventions import UNCHANGED, Interventions

SENTENCE = "The quick fox jumps."


def test_nothing_changed_is_no_change_at_any_layer():
    assert [UNCHANGED.on_weights(layer) for layer in range(3)] == [None, None, None]


def test_a_head_switched_off_gets_zeros_and_its_neighbours_keep_their_weights():
    weights = torch.rand(2, 3, 4, 5)
    changed = Interventions(frozenset({(1, 2)})).on_weights(1)(weights)
    assert torch.equal(changed[:, 2], torch.zeros(2, 4, 5))
    assert torch.equal(changed[:, :2], weights[:, :2])


def test_the_context_of_a_head_that_is_off_is_zero_and_later_layers_move():
    engine = models.load(models.DEFAULT)
    before = engine.trace(SENTENCE, keep=("weights", "context"))
    after = engine.trace(SENTENCE, keep=("weights", "context"), interventions=Interventions(frozenset({(0, 3)})))
    assert not after.attention.context[0, 3].any()
    assert (after.attention.weights[0, [0, 1, 2, 4]] == before.attention.weights[0, [0, 1, 2, 4]]).all()
    assert abs(after.attention.weights[1] - before.attention.weights[1]).max() > 1e-4


def test_a_run_after_an_intervention_is_as_the_run_before_it():
    engine = models.load(models.DEFAULT)
    before = engine.trace(SENTENCE)
    engine.trace(SENTENCE, interventions=Interventions(frozenset({(0, 0), (3, 7)})))
    assert (engine.trace(SENTENCE).attention.weights == before.attention.weights).all()


def test_the_record_says_what_was_changed():
    off = Interventions(frozenset({(2, 1)}))
    assert models.load(models.DEFAULT).trace(SENTENCE, interventions=off).interventions == off
