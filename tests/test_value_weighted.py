"""What heads add: lengths of the mixed vectors, held against the transformers library's own modules."""

import numpy as np
import pytest
import torch
import transformers

from tx_core import hub, models
from tx_core.errors import ModelUnavailable
from tx_core.value_weighted import output_projection, row_shares, value_weighted

TEXT = "Fruit flies like a banana, and time flies like an arrow."


@pytest.fixture(scope="module")
def engine():
    return models.load("embedded")


@pytest.fixture(scope="module")
def stack(engine):
    return engine.trace(TEXT, keep=("weights", "value", "context")).attention


@torch.inference_mode()
def test_lengths_are_those_of_the_librarys_own_modules(engine, stack):
    theirs = transformers.AutoModel.from_pretrained(
        models.MODELS / "embedded", attn_implementation="eager", dtype=torch.float32
    ).eval()
    run = theirs(input_ids=torch.tensor([stack.query_tokens.ids]), output_attentions=True, output_hidden_states=True)
    for layer in (0, 3):
        attention = theirs.encoder.layer[layer].attention
        found = value_weighted(engine, stack, layer)
        values = attention.self.value(run.hidden_states[layer])[0]
        head_dim = values.shape[-1] // engine.num_heads
        together = 0
        for head in range(engine.num_heads):
            alone = torch.zeros_like(values)
            part = slice(head * head_dim, (head + 1) * head_dim)
            alone[:, part] = values[:, part]
            brought = attention.output.dense(alone) - attention.output.dense.bias
            links = run.attentions[layer][0, head, :, :, None] * brought
            together = together + links
            np.testing.assert_allclose(found.values[head], brought.norm(dim=-1), atol=1e-4)
            np.testing.assert_allclose(found.mixed[head], links.norm(dim=-1), atol=1e-5)
        np.testing.assert_allclose(found.together, together.norm(dim=-1), atol=1e-4)


def test_what_is_mixed_adds_up_to_what_the_layer_puts_out(engine, stack):
    layer = 1
    brought = stack.value[layer] @ output_projection(engine, layer)
    summed = np.einsum("hqk,hko->qo", stack.weights[layer], brought)
    joined = torch.tensor(stack.context[layer]).transpose(0, 1).flatten(1)
    output = engine.model.encoder.blocks[layer].attention.output
    np.testing.assert_allclose(summed, (output(joined) - output.bias).detach(), atol=1e-4)


def test_heads_together_are_never_longer_than_their_sum(engine, stack):
    for layer in range(engine.num_layers):
        found = value_weighted(engine, stack, layer)
        assert (found.together <= found.mixed.sum(axis=0) + 1e-6).all()


def test_without_the_parts_it_needs_it_says_so(engine):
    with pytest.raises(ValueError, match="must keep"):
        value_weighted(engine, engine.trace("A bird").attention, 0)


def test_a_model_of_another_family_is_refused_in_a_sentence(checkpoint):
    other = hub.load_engine(checkpoint("roberta"), "roberta", "RoBERTa")
    stack = other.trace("A bird", keep=("weights", "value")).attention
    with pytest.raises(ModelUnavailable, match="RoBERTa runs in the transformers library"):
        value_weighted(other, stack, 0)


def test_shares_of_rows_sum_to_one_and_zeros_stay():
    found = row_shares(np.array([[3.0, 1.0], [0.0, 0.0]]))
    assert found.tolist() == [[0.75, 0.25], [0.0, 0.0]]
