"""A trained model with more blocks: it says what it said before, and all of it can learn."""

import pytest
import torch

from tx_core.bert import random_bert
from tx_core.config import BertConfig
from tx_core.encoder import EncoderRun
from tx_core.training.pretraining.deepen import deepened, new_blocks, query_and_key_names

CONFIG = BertConfig(vocab_size=30, hidden_size=64, num_layers=4, num_heads=4, intermediate_size=96, max_positions=12,
                    num_segments=2, activation="gelu", layer_norm_eps=1e-12, dropout=0.0)  # fmt: skip


@pytest.fixture
def trained():
    """As after training: norms that stretch and shift every number differently, and biases."""
    model, generator = random_bert(CONFIG, 5), torch.Generator().manual_seed(6)
    for name, parameter in model.named_parameters():
        drawn = torch.randn(parameter.shape, generator=generator)
        parameter.data = 0.9 + 0.1 * drawn if name.endswith("norm.weight") else parameter.data + 0.1 * drawn
    return model


def read(model) -> EncoderRun:
    ids = torch.arange(3, 15).view(1, 12)
    return model(ids, torch.zeros_like(ids), keep=("weights",))


@pytest.mark.parametrize(("layers", "copies"), [(5, [1, 2, 3, 4, 4]), (6, [1, 2, 2, 3, 4, 4]), (8, [1, 1, 2, 2, 3, 3, 4, 4])])
def test_new_blocks_stand_evenly_among_the_old_ones_and_look_as_the_one_before(trained, layers, copies):
    deeper = deepened(trained, layers)
    keys = [block.attention.key.weight for block in trained.encoder.blocks]
    for block, number in zip(deeper.encoder.blocks, copies, strict=True):
        assert torch.equal(block.attention.key.weight, keys[number - 1])
    assert deeper.config.num_layers == layers


@pytest.mark.parametrize(("layers", "places"), [(4, []), (5, [4]), (6, [2, 5]), (8, [1, 3, 5, 7]),
                                                 (12, [1, 2, 4, 5, 7, 8, 10, 11])])
def test_the_new_blocks_are_those_that_add_nothing_yet(trained, layers, places):
    blocks = deepened(trained, layers).encoder.blocks
    assert [place for place, block in enumerate(blocks) if not block.attention.output.weight.any()] == places
    assert new_blocks(4, layers) == places
    assert len(places) == layers - 4
    assert [name for name in query_and_key_names(places) if "query.weight" in name] == [
        f"encoder.blocks.{place}.attention.query.weight" for place in places
    ]


def test_the_deeper_model_gives_nearly_the_vectors_and_scores_of_the_one_that_it_came_from(trained):
    before, after = read(trained), read(deepened(trained, 6))
    assert (after.output - before.output).std() < 0.03 * before.output.std()
    scores = [model.predict(run.output) for model, run in ((trained, before), (deepened(trained, 6), after))]
    assert (scores[1] - scores[0]).std() < 0.03 * scores[0].std()


def test_the_new_blocks_are_taught_by_the_first_update(trained):
    deeper = deepened(trained, 6).train()
    torch.nn.functional.cross_entropy(deeper.predict(read(deeper).output)[0], torch.arange(12)).backward()
    for block in deeper.encoder.blocks:
        assert block.attention.output.weight.grad.abs().max() > 0
        assert block.feed_forward.narrow.weight.grad.abs().max() > 0


def test_a_model_is_not_made_shallower(trained):
    assert torch.equal(read(deepened(trained, 4)).output, read(trained).output)
    with pytest.raises(ValueError, match="a model of 4 layers cannot be deepened to 3"):
        deepened(trained, 3)
