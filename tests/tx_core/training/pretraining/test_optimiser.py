"""Muon, its shares of a model with AdamW, and the running mean."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.support.torch_weights import SMALL_BERT
from tx_core.training.pretraining.optimiser import MOMENTUM, WEIGHT_DECAY, Muon, make_optimisers, running_mean
from tx_core.transformer.bert import random_bert

CONFIG = replace(SMALL_BERT, vocab_size=31, max_positions=16)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("half", [False, True])
def test_several_steps_are_those_of_pytorchs_muon_but_for_its_rounding(half):
    ours, theirs = nn.Parameter(drawn(20, 12)), nn.Parameter(drawn(20, 12))
    mine = Muon([ours], half)
    known = {"momentum": MOMENTUM, "weight_decay": WEIGHT_DECAY, "adjust_lr_fn": "match_rms_adamw"}
    reference = torch.optim.Muon([theirs], lr=0.02, **known)
    mine.param_groups[0]["lr"] = 0.02
    for number in range(4):
        for weights, optimiser in ((ours, mine), (theirs, reference)):
            weights.grad = drawn(20, 12, seed=number + 1)
            optimiser.step()
    assert (ours - theirs).norm() < 0.02 * (theirs - drawn(20, 12)).norm()
    assert ours.dtype == torch.float32


def test_muon_gets_the_matrices_of_the_blocks_and_adamw_everything_else_without_decay_of_norms_and_biases():
    model = random_bert(CONFIG, 0)
    adamw, muon = make_optimisers(model, half=False)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = [[names[id(parameter)] for parameter in group["params"]] for one in (muon, adamw) for group in one.param_groups]
    inside, decayed, free = groups
    assert len(inside) == 6 * CONFIG.num_layers and all("blocks" in name and name.endswith("weight") for name in inside)
    assert all(name.endswith("weight") and "norm" not in name for name in decayed)
    assert all(name.endswith("bias") or "norm" in name for name in free)
    assert sorted([*inside, *decayed, *free]) == sorted(names.values())
    assert [group["weight_decay"] for group in adamw.param_groups] == [WEIGHT_DECAY, 0]


def test_the_running_mean_follows_fast_at_first_and_keeps_tied_weights_tied():
    model = random_bert(CONFIG, 0)
    mean = running_mean(model, decay=0.9)
    mean.update_parameters(model)
    before = model.embeddings.words.weight.detach().clone()
    with torch.no_grad():
        model.embeddings.words.weight += 1.0
    mean.update_parameters(model)
    found = mean.module
    torch.testing.assert_close(found.embeddings.words.weight - before, torch.full_like(before, 1 - 2 / 12), rtol=0, atol=1e-6)
    assert found.head.vocabulary.weight is found.embeddings.words.weight
    torch.testing.assert_close(found.head.dense.weight, model.head.dense.weight)
