"""Every family changes under an intervention as the transformers library's own model does when it is meddled with."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from torch.nn.functional import scaled_dot_product_attention

from tests.support.hub_families import TWO_SIDED, by_the_library
from tx_core.transformer.interventions import Intervention

FAMILIES = ["bert", "gpt2", "t5"]
TEXT = "the quick brown ___ jumps over the dog"
HIDDEN = 3
BIASED = {"t5"}
"""Families whose scores have more in them than queries and keys."""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_token_hidden_everywhere_is_one_with_attention_mask_0(hub_engine, reference, family: str):
    pair = "time flies" if family == "t5" else None
    hidden = [Intervention("hidden", positions=(HIDDEN,))]
    trace = hub_engine(family).trace(TEXT, pair, keep=("weights", "hidden"), interventions=hidden)
    expected = by_the_library(reference(family), trace, hidden=HIDDEN)
    if family in TWO_SIDED:
        states = expected.encoder_hidden_states
        attentions = (expected.encoder_attentions, expected.decoder_attentions, expected.cross_attentions)
    else:
        states, attentions = expected.hidden_states, (expected.attentions,)
    np.testing.assert_allclose(trace.hidden, torch.cat(states).numpy(), atol=1e-5, rtol=1e-5)
    for stack, theirs in zip(trace.stacks, attentions, strict=True):
        np.testing.assert_allclose(stack.weights, torch.cat(theirs).numpy(), atol=1e-6, rtol=0)
    plain = hub_engine(family).trace(TEXT, pair, keep=("hidden",))
    assert abs(trace.hidden - plain.hidden).max() > 1e-3


@pytest.mark.parametrize("family", ["bert", "bart"])
def test_predictions_with_a_token_hidden_or_padding_unmasked_equal_those_of_the_library(hub_engine, reference, family: str):
    hidden, unmasked = [Intervention("hidden", positions=(HIDDEN,))], [Intervention("no_padding_mask", value=4.0)]
    trace = hub_engine(family).trace(TEXT)
    encoding = trace.attention.query_tokens
    rows = [encoding, hub_engine(family).encode("A ___."), encoding]
    found = hub_engine(family).blank_logits(rows, interventions=[hidden, (), unmasked])
    padded = replace(encoding, ids=(*encoding.ids, *[hub_engine(family).tokenizer.padding_id] * 4))
    for logits, source, missing in ((found[0], encoding, HIDDEN), (found[2], padded, None)):
        expected = by_the_library(reference(family), trace, source, missing).logits[0, list(encoding.blanks)]
        np.testing.assert_allclose(logits, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_causal_run_is_torchs_causal_attention_in_every_layer(hub_engine, family: str):
    parts = ("query", "key", "value", "context", "weights")
    trace = hub_engine(family).trace(TEXT, "flies", keep=parts, interventions=[Intervention("causal")])
    stack, same_scale = trace.attention, {"scale": 1.0} if family == "t5" else {}
    allowed_pairs = np.tril(np.ones(stack.weights.shape[-2:], bool))
    assert not stack.weights[..., ~allowed_pairs].any()
    np.testing.assert_allclose(stack.weights.sum(-1), 1, atol=1e-6)
    if family not in BIASED:
        heads = (torch.tensor(getattr(stack, part)) for part in ("query", "key", "value"))
        expected = scaled_dot_product_attention(*heads, is_causal=True, **same_scale).numpy()
        np.testing.assert_allclose(stack.context, expected, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_that_nobody_masks_is_a_longer_text_of_the_library_cut_to_its_own_tokens(hub_engine, reference, family: str):
    padding = 4
    changed = [Intervention("no_padding_mask", value=float(padding))]
    trace = hub_engine(family).trace(TEXT, keep=("weights", "hidden"), interventions=changed)
    source = trace.attention.query_tokens
    padded = replace(source, ids=(*source.ids, *[hub_engine(family).tokenizer.padding_id] * padding))
    expected = by_the_library(reference(family), trace, padded)
    states = expected.encoder_hidden_states if family in TWO_SIDED else expected.hidden_states
    weights = expected.encoder_attentions if family in TWO_SIDED else expected.attentions
    own = slice(len(source))
    np.testing.assert_allclose(trace.hidden, torch.cat(states).numpy()[:, own], atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(trace.attention.weights, torch.cat(weights).numpy()[..., own, own], atol=1e-6)
    lost = 1 - trace.attention.weights.sum(-1)
    assert lost.max() < 1e-6 if family == "gpt2" else lost.mean() > 0.01  # it looks at nothing that comes later
    if family in TWO_SIDED:
        cross = torch.cat(expected.cross_attentions).numpy()
        np.testing.assert_allclose(trace.stacks[2].weights, cross[..., own], atol=1e-6)


def test_a_run_without_positions_is_the_librarys_bert_with_a_table_of_zeros(checkpoint, hub_engine):
    meddled = transformers.BertForMaskedLM.from_pretrained(checkpoint("bert"), attn_implementation="eager", dtype=torch.float32)
    meddled.bert.embeddings.position_embeddings.weight.data.zero_()
    changed = [Intervention("no_positions")]
    trace = hub_engine("bert").trace(TEXT, keep=("weights", "hidden"), interventions=changed)
    encoding = trace.attention.query_tokens
    expected = by_the_library(meddled.eval(), trace)
    np.testing.assert_allclose(trace.hidden, torch.cat(expected.hidden_states).numpy(), atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(trace.attention.weights, torch.cat(expected.attentions).numpy(), atol=1e-6)
    logits = hub_engine("bert").blank_logits([encoding], interventions=[changed])[0]
    np.testing.assert_allclose(logits, expected.logits[0, list(encoding.blanks)], atol=1e-4, rtol=1e-4)
