"""The parts of a block under experiment: convolution, norm by hand, heads, and what depth does to vectors."""

import math

import pytest
import torch

from tests.support.torch_weights import shake
from tx_core.lessons.blocks import (
    compare_with_convolution,
    head_outputs,
    mean_cosine,
    norm_steps,
    through_depth,
    without_skips,
    word_journey,
)
from tx_core.transformer.layers import EncoderBlock, FeedForward, LayerNorm, MultiHeadAttention


@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_feed_forward_is_a_convolution_of_width_one(activation):
    both = compare_with_convolution(shake(FeedForward(6, 14, activation)), torch.randn(2, 5, 6))
    assert both.ours.shape == both.theirs.shape == (2, 5, 6)
    assert both.greatest_difference < 1e-5


def test_feed_forward_treats_every_position_alone_and_alike():
    layer, hidden = shake(FeedForward(6, 14)), torch.randn(2, 5, 6)
    torch.testing.assert_close(layer(hidden)[:, 3], layer(hidden[:, 3]))
    torch.testing.assert_close(layer(hidden.flip(1)), layer(hidden).flip(1))


def test_the_norm_written_out_equals_ours_and_pytorchs():
    norm, hidden = shake(LayerNorm(10)), torch.randn(5, 10) * 4 + 1
    steps = norm_steps(norm, hidden)
    torch.testing.assert_close(steps.normed * norm.weight + norm.bias, steps.result.ours)
    assert steps.result.greatest_difference < 1e-5
    torch.testing.assert_close(steps.normed.mean(-1), torch.zeros(5), atol=1e-6, rtol=0)
    torch.testing.assert_close(steps.normed.var(-1, unbiased=False), torch.ones(5))


def test_the_heads_outputs_and_the_bias_add_up_to_the_layers_output():
    layer = shake(MultiHeadAttention(12, 3))
    whole = layer(torch.randn(2, 5, 12))
    outputs = head_outputs(layer, whole.context)
    assert outputs.shape == (2, 3, 5, 12)
    torch.testing.assert_close(outputs.sum(1) + layer.output.bias, whole.output)


def test_pre_norm_vectors_grow_and_post_norm_vectors_stay():
    before, after = through_depth(norm_first=True), through_depth(norm_first=False)
    assert len(before.length) == 25
    assert before.length[24] > before.length[12] > before.length[1]
    assert before.length[24] > 1.5 * before.length[0]
    assert all(length == pytest.approx(math.sqrt(64), rel=1e-3) for length in after.length[1:])


@pytest.mark.parametrize("norm_first", [True, False])
def test_without_skip_connections_all_words_soon_become_the_same(norm_first):
    kept, lost = (through_depth(norm_first=norm_first, skips=skips, blocks=6) for skips in (True, False))
    assert lost.alike[4] > 0.99
    assert kept.alike[4] < 0.8
    assert lost.alike[0] == kept.alike[0] < 0.1


def test_the_gradient_is_measured_against_the_one_sent_from_the_end():
    depth = through_depth(norm_first=True, blocks=3)
    assert depth.gradient[3] == pytest.approx(1)
    assert min(depth.gradient) > 0


def test_a_block_without_skips_adds_nothing_of_what_it_read():
    block = shake(EncoderBlock(12, 3, 20, norm_first=True))
    hidden = torch.randn(1, 4, 12)
    attended = hidden + block.attention(block.attention_norm(hidden)).output
    torch.testing.assert_close(block(hidden)[0], attended + block.feed_forward(block.feed_forward_norm(attended)))
    replaced = block.attention(block.attention_norm(hidden)).output
    torch.testing.assert_close(without_skips(block, hidden), block.feed_forward(block.feed_forward_norm(replaced)))


def test_the_mean_cosine_by_hand():
    assert mean_cosine(torch.tensor([[1.0, 0], [0, 2], [3, 0]])) == pytest.approx(1 / 3)
    assert mean_cosine(torch.tensor([[1.0, 5.0]])) == 1.0


def test_a_words_journey_compares_each_layer_with_the_first_and_the_last_one():
    journey = word_journey("flies", torch.tensor([[1.0, 0], [0, 3], [0, 5]]))
    assert journey.length == (1, 3, 5)
    assert journey.stay == pytest.approx((1, 0, 0))
    assert journey.step == pytest.approx((1, 0, 1))
