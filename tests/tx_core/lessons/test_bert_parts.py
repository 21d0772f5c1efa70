"""The parts of a BERT on a sentence: every tensor is the model's own, and the parts add up to the whole."""

import pytest
import torch

from tx_core.lessons.bert_parts import block_run, embedding_run, feed_forward_run, matrix_and_bias, norm_run

TEXT, PAIR = "The dog chased the cat.", "It was hungry."


@pytest.fixture(scope="module")
def states(engine):
    return torch.tensor(engine.trace(TEXT, PAIR, keep=("hidden",)).hidden)


def test_the_embeddings_are_three_rows_added_and_normed(engine, states):
    run, table = embedding_run(engine, TEXT, PAIR), engine.model.embeddings
    place = run.tokens.index("hungry")
    assert torch.equal(run.words[place], table.words.weight[run.ids[place]])
    assert torch.equal(run.positions[place], table.positions.weight[place])
    assert torch.equal(run.segments[place], table.segments.weight[1])
    torch.testing.assert_close(run.words + run.positions + run.segments, run.summed)
    assert torch.equal(run.normed, states[0])


def test_a_block_takes_the_models_vectors_in_and_gives_the_models_vectors_out(engine, states):
    run = block_run(engine, TEXT, PAIR, layer=3)
    assert torch.equal(run.input, states[3])
    torch.testing.assert_close(run.output, states[4], atol=1e-5, rtol=0)
    torch.testing.assert_close(run.input + run.attention_output, run.attention_sum)


def test_the_heads_laid_end_to_end_times_the_projection_are_the_attentions_output(engine):
    run = block_run(engine, TEXT, layer=1)
    matrix, bias = matrix_and_bias(engine.model.encoder.blocks[1].attention.output)
    tokens = len(run.tokens)
    assert run.context.shape == (8, tokens, 32)
    assert torch.equal(run.concatenated_of((2,))[:, 2 * 32 : 3 * 32], run.context[2])
    torch.testing.assert_close(run.concatenated_of(tuple(range(8))) @ matrix + bias, run.attention_output, atol=1e-5, rtol=0)
    torch.testing.assert_close(run.output_of(tuple(range(8)), bias), run.attention_output, atol=1e-5, rtol=0)


def test_the_models_feed_forward_is_a_convolution_and_feeds_every_token_alone(engine):
    block = block_run(engine, TEXT, layer=2)
    run = feed_forward_run(engine, block.attention_normed, 2, "gelu")
    torch.testing.assert_close(block.attention_normed + run.convolution.ours, block.feed_forward_sum, atol=1e-5, rtol=0)
    rounding = 3e-6 * float(run.convolution.ours.abs().max())
    assert run.convolution.greatest_difference < rounding
    assert run.difference_alone < rounding
    assert run.up_projected.shape == run.activated.shape == (len(block.tokens), 1024)
    torch.testing.assert_close(run.activated, torch.nn.functional.gelu(run.up_projected))


@pytest.mark.parametrize("place", ["embeddings", "attention", "feed_forward"])
def test_every_norm_of_the_model_written_out_is_pytorchs(engine, states, place):
    run = norm_run(engine, TEXT, PAIR, place=place, layer=2)
    assert run.tensors.result.greatest_difference < 1e-5
    assert run.eps == 1e-12
    torch.testing.assert_close(run.tensors.normed * run.weight + run.bias, run.tensors.result.ours, atol=1e-5, rtol=0)
    expected = {"embeddings": states[0], "feed_forward": states[3]}.get(place)
    if expected is not None:
        torch.testing.assert_close(run.tensors.result.ours, expected, atol=1e-5, rtol=0)
