"""Each part of a block against its PyTorch counterpart with the same weights."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.support.torch_weights import SMALL_BERT, SMALL_SEQ2SEQ, copy_attention, shake, torch_decoder_layer, torch_encoder_layer
from tx_core.transformer.attention import causal_mask, padding_mask
from tx_core.transformer.layers import EncoderBlock, LayerNorm, MultiHeadAttention, gelu, layer_norm
from tx_core.transformer.seq2seq import DecoderBlock

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


def both_attentions():
    ours = shake(MultiHeadAttention(12, 3))
    theirs = nn.MultiheadAttention(12, 3, batch_first=True).eval()
    copy_attention(theirs, ours)
    return ours, theirs


def test_multi_head_attention_over_a_padded_source_equals_pytorchs():
    ours, theirs = both_attentions()
    hidden, source = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    mask = padding_mask([4, 7])
    result = ours(hidden, source, mask)
    output, weights = theirs(hidden, source, source, key_padding_mask=~mask[:, 0, 0], average_attn_weights=False)
    torch.testing.assert_close(result.output, output, **NARROW)
    torch.testing.assert_close(result.weights, weights, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("norm_first", "activation"), [(False, "gelu"), (True, "relu")])
def test_an_encoder_block_equals_pytorchs(norm_first, activation):
    ours = shake(EncoderBlock(replace(SMALL_SEQ2SEQ, activation=activation), norm_first=norm_first))
    theirs = torch_encoder_layer(ours, 20, activation)
    hidden, mask = torch.randn(2, 5, 12), padding_mask([5, 3])
    expected = theirs(hidden, src_key_padding_mask=~mask[:, 0, 0])
    # PyTorch may leave the padding's own vectors out; only real tokens are compared.
    for batch, length in enumerate([5, 3]):
        torch.testing.assert_close(ours(hidden, mask)[0][batch, :length], expected[batch, :length], **NARROW)


@pytest.mark.parametrize(("norm_first", "activation"), [(False, "gelu"), (True, "relu")])
def test_a_decoder_block_equals_pytorchs(norm_first, activation):
    ours = shake(DecoderBlock(replace(SMALL_SEQ2SEQ, activation=activation, norm_first=norm_first)))
    theirs = torch_decoder_layer(ours, 20, activation)
    hidden, source, source_mask = torch.randn(2, 5, 12), torch.randn(2, 7, 12), padding_mask([4, 7])
    expected = theirs(hidden, source, tgt_mask=~causal_mask(5), memory_key_padding_mask=~source_mask[:, 0, 0])
    torch.testing.assert_close(ours(hidden, source, causal_mask(5), source_mask)[0], expected, **NARROW)


def test_dropout_acts_while_training_only():
    block = EncoderBlock(replace(SMALL_BERT, dropout=0.5))
    hidden = torch.randn(1, 4, 12)
    assert not torch.equal(block.train()(hidden)[0], block(hidden)[0])
    assert torch.equal(block.eval()(hidden)[0], block(hidden)[0])
