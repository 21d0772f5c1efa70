"""Every family runs through our own attention and computes what the transformers library computes by its own."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
import transformers

from tests.support import checkpoints
from tests.support.hub_families import PAIR, TEXT, TWO_SIDED, by_the_library
from tx_core.engine import catalogue
from tx_core.engine.hub.hub_engine import START_ONLY
from tx_core.errors import TextProblem
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS


def stacked(layers: Sequence[torch.Tensor]) -> np.ndarray:
    return torch.cat(list(layers)).numpy()


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_without_special_tokens_a_text_is_read_as_the_librarys_tokenizer_and_model_read_it(checkpoint, family: str):
    theirs = transformers.AutoModel.from_pretrained(checkpoint(family), attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint(family))
    segments = (getattr(theirs.config, "type_vocab_size", None) or 0) > 1
    inputs = tokenizer(TEXT, PAIR, add_special_tokens=False, return_token_type_ids=segments, return_tensors="pt")
    with torch.inference_mode():
        expected = theirs(**inputs, output_attentions=True)
    read = catalogue.load(checkpoint(family), special_tokens=False).trace(TEXT, PAIR).attention
    assert read.query_tokens.ids == tuple(inputs["input_ids"][0].tolist())
    assert not any(read.query_tokens.special)
    if segments:
        assert read.query_tokens.segments == tuple(inputs["token_type_ids"][0].tolist())
        assert sum(read.query_tokens.segments) == len(tokenizer.tokenize(PAIR))
    np.testing.assert_allclose(read.weights, stacked(expected.attentions), atol=1e-5, rtol=0)


def test_t5_scores_hold_its_bias_by_distance_and_no_scale(hub_engine, reference):
    stack = hub_engine("t5").trace(TEXT, keep=("query", "key", "scores")).attention
    assert stack.scales == (1.0,) * len(stack.query)
    bias = stack.scores - stack.query @ stack.key.swapaxes(-1, -2)
    table = reference("t5").encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight
    np.testing.assert_allclose(bias[:, :, 0, 0], table[0].detach().numpy()[None].repeat(2, 0), atol=1e-5)
    np.testing.assert_allclose(bias[:, :, 1, 1], bias[:, :, 0, 0], atol=1e-5)


OUTPUT_PROJECTION = {
    "roberta": "roberta.encoder.layer.1.attention.output.dense",
    "gpt2": "transformer.h.1.attn.c_proj",
    "bart": "model.encoder.layers.1.self_attn.out_proj",
}


@pytest.mark.parametrize("family", OUTPUT_PROJECTION)
def test_a_head_off_is_its_slice_zeroed_before_the_output_projection(hub_engine, reference, family: str):
    head, width = 2, checkpoints.HEAD_DIM
    trace = hub_engine(family).trace(TEXT, PAIR, keep=ALL_PARTS, interventions=[Intervention("off", 1, head)])

    def without_head(module, inputs):
        kept = inputs[0].clone()
        kept[..., head * width : (head + 1) * width] = 0
        return (kept,)

    hook = reference(family).get_submodule(OUTPUT_PROJECTION[family]).register_forward_pre_hook(without_head)
    try:
        expected = by_the_library(reference(family), trace)
    finally:
        hook.remove()
    hidden = expected.encoder_hidden_states if family in TWO_SIDED else expected.hidden_states
    np.testing.assert_allclose(trace.hidden, stacked(hidden), atol=1e-6, rtol=1e-6)
    assert not np.allclose(trace.hidden, hub_engine(family).trace(TEXT, PAIR, keep=("hidden",)).hidden, atol=1e-3)
    assert not trace.attention.weights[1, head].any()
    assert trace.attention.weights[1, head - 1].any()


def test_layers_of_an_encoder_decoder_are_numbered_through_its_stacks(hub_engine):
    off = [Intervention("off", *head) for head in ((0, 0), (2, 1), (2 + checkpoints.LAYERS, 3))]  # of encoder, decoder and cross
    for stack, head in zip(hub_engine("t5").trace(TEXT, PAIR, interventions=off).stacks, (0, 1, 3), strict=True):
        assert np.argwhere(~stack.weights.any((-2, -1))).tolist() == [[0, head]]


@pytest.mark.parametrize("family", ["roberta", "gpt2"])
def test_exactly_as_many_tokens_are_read_as_there_are_positions(hub_engine, family: str):
    ours = hub_engine(family)
    word = ours.tokenizer.word(ours.tokenizer.pieces(".")[-1])
    text = "." * (ours.info.max_tokens - len(ours.encode(word)) + 1)
    trace = ours.trace(text)
    assert trace.attention.weights.shape[-1] == ours.info.max_tokens
    with pytest.raises(TextProblem, match="shorten it by 1 "):
        ours.trace(text + ".")


def test_what_a_decoder_reads_is_the_second_sentence_behind_the_start_token(hub_engine):
    for family, start in (("t5", "<pad>"), ("bart", "</s>")):
        stack = hub_engine(family).trace(TEXT, PAIR).stacks[1]
        alone = hub_engine(family).encode(PAIR)
        assert stack.query_tokens.tokens == (start, *alone.tokens[:-1])
        assert stack.query_tokens.special[0]
        assert stack.query_tokens.word_texts == ("fruit", "flies")
        assert hub_engine(family).trace(TEXT, PAIR).notice == ""


def test_without_a_second_sentence_t5_reads_its_start_token_alone_and_says_so(hub_engine):
    trace = hub_engine("t5").trace(TEXT)
    assert (trace.stacks[1].query_tokens.tokens, trace.notice) == (("<pad>",), START_ONLY)


def test_without_a_second_sentence_bart_reads_its_sentence_again_as_it_does_to_fill_a_blank(hub_engine):
    trace = hub_engine("bart").trace("Time ___ like an arrow")
    source, target = trace.stacks[2].key_tokens, trace.stacks[2].query_tokens
    assert target.ids == (2, *source.ids[:-1])
    assert [target.tokens[place] for place in target.blanks] == ["<mask>"]
