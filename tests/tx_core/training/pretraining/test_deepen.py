"""A trained model with more blocks: it says what it said before, and all of it can learn."""

from dataclasses import replace

import pytest
import torch

from tests.support.torch_weights import SMALL_BERT
from tx_core.training.pretraining.deepen import deepen_model, frozen_while_new_blocks_learn, new_blocks
from tx_core.transformer.bert import random_bert
from tx_core.transformer.layers import EncoderRun

CONFIG = replace(SMALL_BERT, vocab_size=30, hidden_size=64, num_layers=4, num_heads=4, intermediate_size=96, max_positions=12)


@pytest.fixture
def four_layers():
    """As after training: norms that stretch and shift every number differently, and biases."""
    model, generator = random_bert(CONFIG, 5), torch.Generator().manual_seed(6)
    for name, parameter in model.named_parameters():
        drawn = torch.randn(parameter.shape, generator=generator)
        parameter.data = 0.9 + 0.1 * drawn if name.endswith("norm.weight") else parameter.data + 0.1 * drawn
    return model


def read(model) -> EncoderRun:
    ids = torch.arange(3, 15).view(1, 12)
    return model(ids, torch.zeros_like(ids), keep=("weights",))


@pytest.mark.parametrize(
    ("layers", "places"), [(4, []), (5, [4]), (6, [2, 5]), (8, [1, 3, 5, 7]), (12, [1, 2, 4, 5, 7, 8, 10, 11])]
)
def test_new_blocks_stand_evenly_among_the_old_ones_and_add_nothing_yet(four_layers, layers, places):
    deeper = deepen_model(four_layers, layers).encoder.blocks
    assert new_blocks(4, layers) == places and len(deeper) == layers
    old, before = iter(four_layers.encoder.blocks), None
    for place, block in enumerate(deeper):
        before = before if place in places else next(old)
        assert torch.equal(block.feed_forward.up.weight, before.feed_forward.up.weight)
        assert torch.equal(block.attention.query.weight, before.attention.query.weight) == (place not in places)
        assert bool(block.attention.output.weight.any()) == (place not in places)


def test_heads_of_a_new_block_look_everywhere_alike_and_those_of_the_others_where_they_looked(four_layers):
    before, after = (read(model).layers for model in (four_layers, deepen_model(four_layers, 6)))
    for place in (2, 5):
        assert (after[place]["weights"] - 1 / 12).abs().max() < 0.02
    for place, old in ((3, 2), (4, 3)):
        assert (after[place]["weights"] - before[old]["weights"]).abs().mean() < 0.1 * before[old]["weights"].std()


def test_what_a_new_block_adds_is_all_that_is_not_held(four_layers):
    model = deepen_model(four_layers, 6)
    free = {name for name, _ in model.named_parameters()} - set(frozen_while_new_blocks_learn(model, [2, 5]))
    assert {name.split(".")[2] for name in free} == {"2", "5"}
    parts = {"attention.value", "attention.output", "attention_norm"}
    parts |= {"feed_forward.up", "feed_forward.down", "feed_forward_norm"}
    assert {name.split(".", 3)[3].rpartition(".")[0] for name in free} == parts
    assert frozen_while_new_blocks_learn(four_layers, []) == []


def test_the_deeper_model_gives_nearly_the_scores_of_the_one_that_it_came_from(four_layers):
    before, after = (model.predict(read(model).output) for model in (four_layers, deepen_model(four_layers, 6)))
    assert (after - before).std() < 0.03 * before.std()


def test_the_new_blocks_are_taught_by_the_first_update(four_layers):
    deeper = deepen_model(four_layers, 6).train().requires_grad_(True)
    torch.nn.functional.cross_entropy(deeper.predict(read(deeper).output)[0], torch.arange(12)).backward()
    for block in deeper.encoder.blocks:
        assert block.attention.output.weight.grad.abs().max() > 0
        assert block.feed_forward.down.weight.grad.abs().max() > 0
