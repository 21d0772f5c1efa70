"""Muon, and the optimisers side by side."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.support.torch_weights import SMALL_BERT
from tx_core.training.pretraining.optimiser import Muon, make_optimiser, orthogonalise
from tx_core.training.pretraining.settings import OptimiserSettings
from tx_core.transformer.bert import random_bert

CONFIG = replace(SMALL_BERT, vocab_size=31, max_positions=16)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(12, 12), (20, 12), (12, 20)])
def test_every_singular_value_comes_near_one_and_the_vectors_stay(shape):
    matrix = drawn(*shape)
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    made = orthogonalise(matrix * 1e-3)
    in_the_old_directions = left.T @ made @ right.T
    assert in_the_old_directions.diagonal()[values > 0.1 * values.max()].min() > 0.5
    assert in_the_old_directions.diagonal().max() < 1.3
    assert (in_the_old_directions - in_the_old_directions.diagonal().diag()).abs().max() < 1e-4


def test_a_matrix_of_zeros_stays_one():
    assert torch.equal(orthogonalise(torch.zeros(3, 5)), torch.zeros(3, 5))


def test_in_half_precision_a_step_is_the_same_but_for_rounding():
    start, gradient = drawn(20, 12), drawn(20, 12, seed=1)
    moved = []
    for half in (False, True):
        weights = nn.Parameter(start.clone())
        optimiser = Muon([weights], momentum=0.9, weight_decay=0.1, half=half)
        optimiser.param_groups[0]["lr"] = 0.02
        weights.grad = gradient
        optimiser.step()
        assert weights.dtype == optimiser.state[weights]["mean"].dtype == torch.float32
        moved.append(weights.detach() - start)
    assert 0 < (moved[0] - moved[1]).norm() < 0.02 * moved[0].norm()


def test_several_steps_are_those_of_pytorchs_muon_but_for_its_rounding():
    ours, theirs = nn.Parameter(drawn(20, 12)), nn.Parameter(drawn(20, 12))
    mine = Muon([ours], momentum=0.9, weight_decay=0.1)
    reference = torch.optim.Muon([theirs], lr=0.02, momentum=0.9, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    mine.param_groups[0]["lr"] = 0.02
    for number in range(4):
        for weights, optimiser in ((ours, mine), (theirs, reference)):
            weights.grad = drawn(20, 12, seed=number + 1)
            optimiser.step()
    moved = (theirs - drawn(20, 12)).norm()
    assert (ours - theirs).norm() < 0.02 * moved


def test_muon_gets_the_matrices_of_the_blocks_and_adamw_everything_else():
    model = random_bert(CONFIG, 0)
    adamw, muon = make_optimiser(model, OptimiserSettings(muon=True)).parts
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    inside = [names[id(parameter)] for group in muon.param_groups for parameter in group["params"]]
    assert len(inside) == 6 * CONFIG.num_layers and all("blocks" in name and name.endswith("weight") for name in inside)
    outside = [names[id(parameter)] for group in adamw.param_groups for parameter in group["params"]]
    assert sorted([*inside, *outside]) == sorted(names.values())


def test_optimisers_that_are_saved_and_taken_up_step_as_before():
    models = [random_bert(CONFIG, 0), random_bert(CONFIG, 0)]
    first, second = (make_optimiser(model, OptimiserSettings(muon=True)) for model in models)

    def step(number: int, optimiser) -> None:
        model = models[0] if optimiser is first else models[1]
        for place, parameter in enumerate(model.parameters()):
            parameter.grad = drawn(*parameter.shape, seed=100 * number + place)
        optimiser.step(0.01)

    step(1, first)
    models[1].load_state_dict(models[0].state_dict())
    second.load_state_dict(deepcopy(first.state_dict()))
    step(2, first)
    step(2, second)
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.equal(one, other)
