"""What heads add: lengths of the mixed vectors, held against the transformers library's own modules."""

import numpy as np
import pytest
import torch
import transformers

from tests.support.checkpoints import write_family
from tx_core.analysis.value_weighted import mixed_in, row_shares, total_shares, value_weighted
from tx_core.engine import catalogue
from tx_core.engine.hub import load
from tx_core.errors import ModelUnavailable


def as_bert(model, layer: int, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    attention = model.encoder.layer[layer].attention
    return attention.self.value(states), attention.output.dense.weight.T


def as_gpt2(model, layer: int, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    block = model.h[layer]
    return block.attn.c_attn(block.ln_1(states)).chunk(3, dim=-1)[2], block.attn.c_proj.weight


def as_t5(model, layer: int, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first = model.encoder.block[layer].layer[0]
    return first.SelfAttention.v(first.layer_norm(states)), first.SelfAttention.o.weight.T


FAMILIES = {"embedded": as_bert, "gpt2": as_gpt2, "t5": as_t5}


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_lengths_are_what_numpy_makes_of_the_librarys_weights(checkpoint, family: str):
    directory = catalogue.MODELS / family if family == "embedded" else checkpoint(family)
    other = catalogue.load(family) if family == "embedded" else load.load_engine(directory, family, family)
    stack = other.trace("The quick brown fox sleeps on", keep=("weights", "value")).attention
    theirs = transformers.AutoModel.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32).eval()
    encoder = theirs.get_encoder() if family == "t5" else theirs
    run = encoder(input_ids=torch.tensor([stack.query_tokens.ids]), output_attentions=True, output_hidden_states=True)
    for layer in (0, 1):
        found = value_weighted(other, stack, layer)
        value, output = (part.numpy() for part in FAMILIES[family](theirs, layer, run.hidden_states[layer][0]))
        brought = np.stack(
            [
                own @ part
                for own, part in zip(
                    np.split(value, other.info.num_heads, 1), np.split(output, other.info.num_heads), strict=True
                )
            ]
        )
        links = run.attentions[layer][0].numpy()[..., None] * brought[:, None]
        np.testing.assert_allclose(found.values, np.linalg.norm(brought, axis=-1), atol=1e-4)
        np.testing.assert_allclose(found.mixed, np.linalg.norm(links, axis=-1), atol=1e-5)
        np.testing.assert_allclose(found.together, np.linalg.norm(links.sum(axis=0), axis=-1), atol=1e-4)


def test_an_albert_of_several_groups_is_refused_rather_than_read_in_the_wrong_place(tmp_path):
    other = load.load_engine(write_family("albert", tmp_path, num_hidden_groups=2), "albert", "ALBERT")
    stack = other.trace("A bird", keep=("weights", "value")).attention
    with pytest.raises(ModelUnavailable, match="is not one whose modules this app can locate"):
        value_weighted(other, stack, 0)


def test_a_share_of_all_rows_together_counts_long_rows_for_more_than_the_mean_of_the_rows_shares_does():
    lengths = np.array([[9.0, 1.0], [0.0, 1.0]])
    assert row_shares(lengths).mean(axis=0).tolist() == [0.45, 0.55]
    np.testing.assert_allclose(total_shares(lengths), [9 / 11, 2 / 11])
    equal = np.array([[3.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(total_shares(equal), row_shares(equal).mean(axis=0))
    assert total_shares(np.zeros((2, 3))).tolist() == [0.0, 0.0, 0.0]


@torch.inference_mode()
def test_the_norms_are_those_of_vectors_that_add_up_to_the_librarys_output(hub_engine, reference):
    engine, model = hub_engine("bert"), reference("bert").bert
    trace = engine.trace("the quick ___ jumps over", keep=("weights", "value", "hidden"))
    found = mixed_in(engine, trace)
    run = model(torch.tensor([trace.attention.query_tokens.ids]), output_hidden_states=True, output_attentions=True)
    for layer, block in enumerate(model.encoder.layer):
        states, weights = run.hidden_states[layer][0], run.attentions[layer][0]
        output, norm = block.attention.output.dense, block.attention.output.LayerNorm
        values = block.attention.self.value(states).unflatten(-1, (len(weights), -1))
        own = output.weight.unflatten(-1, (len(weights), -1))
        vectors = torch.einsum("hqk,khd,ohd->qko", weights, values, own) + torch.diag_embed(states.T).permute(1, 2, 0)
        received = vectors.sum(1) + output.bias
        spread = (received.var(-1, correction=0) + norm.eps).sqrt()[:, None, None]
        scaled = (vectors - vectors.mean(-1, keepdim=True)) / spread * norm.weight
        from_biases = (output.bias - output.bias.mean()) / spread[:, 0] * norm.weight + norm.bias
        expected = norm(output(block.attention.self(states[None])[0][0]) + states)
        torch.testing.assert_close(scaled.sum(1) + from_biases, expected, atol=1e-4, rtol=0)
        np.testing.assert_allclose(found[layer], scaled.norm(dim=-1), atol=1e-4)
