"""Each part of a block against its PyTorch counterpart with the same weights."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.support.torch_weights import SMALL_BERT, shake
from tx_core.transformer.layers import EncoderBlock, LayerNorm, gelu, layer_norm

NARROW = {"atol": 1e-5, "rtol": 0}


@pytest.mark.parametrize("eps", [1e-12, 1e-5])
def test_layer_norm_equals_pytorchs(eps):
    ours, x = shake(LayerNorm(10, eps)), torch.randn(2, 3, 10) * 5 + 2
    theirs = nn.LayerNorm(10, eps)
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(layer_norm(x, ours.weight, ours.bias, eps), theirs(x), **NARROW)
    torch.testing.assert_close(ours(x), theirs(x), **NARROW)


def test_activations_equal_pytorchs():
    x = torch.linspace(-6, 6, 101)
    torch.testing.assert_close(gelu(x), nn.functional.gelu(x), atol=1e-6, rtol=0)


def test_dropout_acts_while_training_only():
    block = EncoderBlock(replace(SMALL_BERT, dropout=0.5))
    hidden = torch.randn(1, 4, 12)
    assert not torch.equal(block.train()(hidden)[0], block(hidden)[0])
    assert torch.equal(block.eval()(hidden)[0], block(hidden)[0])
