"""Encodings of positions: sinusoids against double precision, the four criteria, and the relative ones by law."""

import math

import numpy as np
import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb
from transformers.models.t5.modeling_t5 import T5Attention

from tx_core.transformer.attention import attend
from tx_core.transformer.positions import (
    alibi_bias,
    check_criteria,
    rotary_angles,
    rotate,
    shaw_bias,
    similarity,
    sinusoids,
    t5_buckets,
)


@pytest.mark.parametrize(("tokens", "hidden", "base"), [(7, 10, 10000.0), (600, 32, 10000.0), (33, 6, 20.0)])
def test_sinusoids_equal_the_formula_in_double_precision(tokens, hidden, base):
    angles = np.arange(tokens)[:, None] / base ** (np.arange(0, hidden, 2) / hidden)
    expected = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(tokens, hidden)
    assert np.abs(sinusoids(tokens, hidden, base).numpy() - expected).max() < 1e-7


def test_each_criterion_fails_where_it_should():
    def failing(encode):
        return {criterion.name for criterion in check_criteria(encode, 12) if not criterion.holds}

    table = torch.randn(12, 8)
    assert failing(lambda tokens: torch.arange(tokens)[:, None].float()) == {"bounded"}
    assert failing(lambda tokens: torch.arange(tokens)[:, None] / tokens) == {"deterministic"}
    assert failing(lambda tokens: sinusoids(5, 8).repeat(3, 1)[:tokens]) == {"unique", "consistent"}
    assert "consistent" in failing(lambda tokens: table[:tokens])
    assert "deterministic" in failing(lambda tokens: torch.randn(tokens, 8))


def test_a_sinusoids_similarity_depends_on_the_distance_alone():
    diagonals = [similarity(sinusoids(40, 16), "dot").diagonal(distance) for distance in range(40)]
    assert diagonals[0].mean().item() == pytest.approx(8)  # sin² + cos² = 1, eight times
    assert max((line.max() - line.min()).item() for line in diagonals) < 1e-5
    assert diagonals[0].mean() > diagonals[1].mean() > diagonals[2].mean()


@pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (8, 20)])
def test_buckets_equal_those_of_t5(buckets, max_distance):
    distances = torch.arange(300)[None, :] - torch.arange(290)[:, None]
    expected = T5Attention._relative_position_bucket(distances, True, buckets, max_distance)
    ours = t5_buckets(290, 300, buckets=buckets, max_distance=max_distance)
    assert torch.equal(ours, expected)


def test_rotary_equals_that_of_transformers():
    query, key = torch.randn(2, 3, 11, 8), torch.randn(2, 3, 11, 8)
    angles = rotary_angles(11, 8)
    both = torch.cat((angles, angles), dim=-1)[None]
    theirs = apply_rotary_pos_emb(query, key, both.cos(), both.sin())
    torch.testing.assert_close((rotate(query, angles), rotate(key, angles)), theirs, atol=1e-6, rtol=0)


@pytest.mark.parametrize("heads", [8, 6, 1])
def test_alibi_equals_that_of_bloom_up_to_what_softmax_does_not_see(heads):
    theirs = build_alibi_tensor(torch.ones(1, 7), heads, torch.float32).view(heads, 1, 7)
    before = torch.ones(7, 7, dtype=torch.bool).tril()
    ours = alibi_bias(heads, 7).masked_fill(~before, -torch.inf).softmax(-1)
    torch.testing.assert_close(ours, theirs.expand(heads, 7, 7).masked_fill(~before, -torch.inf).softmax(-1))


def test_shaw_attention_equals_its_equations_written_out():
    query, key, value = torch.randn(2, 4, 5), torch.randn(2, 6, 5), torch.randn(2, 6, 5)
    key_table = torch.randn(5, 5)  # distances clipped at 2
    context, _, scores = attend(query, key, value, bias=shaw_bias(query, key_table, 6))
    for batch in range(2):
        for i in range(4):
            place = [min(max(j - i, -2), 2) + 2 for j in range(6)]
            row = [query[batch, i] @ (key[batch, j] + key_table[place[j]]) / math.sqrt(5) for j in range(6)]
            torch.testing.assert_close(scores[batch, i], torch.stack(row))
            shares = torch.stack(row).softmax(0)
            mixed = sum(shares[j] * value[batch, j] for j in range(6))
            torch.testing.assert_close(context[batch, i], mixed)
