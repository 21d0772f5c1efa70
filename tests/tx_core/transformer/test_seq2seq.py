"""The encoder-decoder: its shapes, PyTorch's layers with the same weights, and the laws of its masks."""

from dataclasses import replace
from functools import cache

import pytest
import torch

from tests.support.torch_weights import SMALL_SEQ2SEQ, shake, torch_decoder_layer, torch_encoder_layer
from tx_core.transformer.attention import causal_mask, padding_mask
from tx_core.transformer.positions import sinusoids
from tx_core.transformer.seq2seq import Seq2Seq, greedy_decode, random_seq2seq


@cache
def small_model(**changes) -> Seq2Seq:
    return shake(random_seq2seq(replace(SMALL_SEQ2SEQ, **changes), seed=1))


def random_ids(*shape: int) -> torch.Tensor:
    return torch.randint(11, shape)


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_whole_equals_pytorchs_layers_with_the_same_weights(norm_first):
    model = small_model(norm_first=norm_first)
    source, target, source_mask = random_ids(2, 7), random_ids(2, 5), padding_mask([4, 7])
    hidden = model.source_embeddings.words(source) * 12**0.5 + sinusoids(7, 12)
    for block in model.encoder.blocks:
        hidden = torch_encoder_layer(block, 20, "relu")(hidden, src_mask=~source_mask.expand(2, 3, 7, 7).flatten(0, 1))
    memory = model.encoder_norm(hidden)
    hidden = model.target_embeddings.words(target) * 12**0.5 + sinusoids(5, 12)
    for block in model.decoder.blocks:
        hidden = torch_decoder_layer(block, 20, "relu")(
            hidden, memory, tgt_mask=~causal_mask(5), memory_key_padding_mask=~source_mask[:, 0, 0]
        )
    expected = model.vocabulary(model.decoder_norm(hidden))
    torch.testing.assert_close(model(source, target, source_mask).logits, expected, atol=1e-5, rtol=0)


def test_greedy_decoding_takes_the_likeliest_word_each_time():
    model = small_model()
    source = random_ids(3, 6)
    written = greedy_decode(model, source, start=1, tokens=8)
    assert written.shape == (3, 8)
    assert (written[:, 0] == 1).all()
    assert torch.equal(model(source, written[:, :-1]).logits.argmax(-1), written[:, 1:])


def test_a_sequence_too_long_is_refused():
    with pytest.raises(ValueError, match="may have 9 tokens, got 10"):
        small_model()(random_ids(1, 10), random_ids(1, 2))
