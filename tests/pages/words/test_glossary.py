"""What the glossary claims of each term is true: of the embedded model, of small models of other families, or by a formula."""

import numpy as np
import pytest
import torch
from transformers import BertConfig

from tx_core.analysis.patterns import entropy
from tx_core.analysis.sinks import attention_sinks
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.lessons.position_encodings import ENCODINGS
from tx_core.training.pretraining.batches import BLANKED, REPLACED
from tx_core.transformer.attention import softmax, with_temperature

TEXT, PAIR = "Mary lost her keys.", "She is sad."
PARTS = ("query", "key", "value", "scores", "weights", "context", "hidden")


@pytest.fixture(scope="module")
def trace(engine):
    return engine.trace(TEXT, keep=PARTS)


def test_tokens_are_words_parts_of_words_and_punctuation_and_the_unknown_is_one_token(engine):
    read = engine.encode("The bananas, 💥.")
    assert read.tokens[1:-1] == ("the", "bananas", ",", "[UNK]", ".")
    pieces = engine.encode("quokka").tokens[1:-1]
    assert len(pieces) > 1
    assert engine.tokenizer.entry("quokka") is None
    assert all(piece.startswith("##") for piece in pieces[1:])
    assert len({engine.tokenizer.entry(piece) for piece in (*read.tokens, *pieces)}) == len({*read.tokens, *pieces})


def test_bert_puts_a_token_before_a_text_and_one_after_each_text_not_after_each_sentence(engine, hub_engine):
    assert engine.encode("I am. You are.").tokens.count("[SEP]") == 1
    pair = engine.encode("I am.", "You are.")
    assert [place for place, token in enumerate(pair.tokens) if token == "[SEP]"] == [4, 8]
    assert [place for place, token in enumerate(pair.tokens) if token == "[CLS]"] == [0]
    assert engine.encode("I ___.").tokens[2] == "[MASK]"
    assert hub_engine("roberta").tokenizer.added_tokens == ("<s>", "</s>")
    assert hub_engine("gpt2").tokenizer.added_tokens == ()


def test_little_is_taken_from_the_special_tokens_of_bert_and_the_first_of_a_model_that_writes(engine):
    for model, layer in ((engine, 4), (catalogue.load(catalogue.WRITER), 0)):
        found = attention_sinks(model.trace(TEXT, keep=("weights", "value")).attention)
        assert found.shares[layer].mean() > 0.7 and found.even < 0.3
        assert found.sink_lengths[layer].mean() < found.other_lengths[layer].mean() / 6


def test_bert_uses_the_words_after_a_blank_and_a_model_that_writes_only_those_before(engine):
    """What the paragraph on two kinds of models says."""
    at_blank = lambda end: predict(engine, f"Yesterday I [MASK] {end}.", top_k=5).blanks[0].predictions  # noqa: E731
    assert at_blank("to school")[0].word == "went"
    assert "went" not in [one.word for one in at_blank("a letter")]
    assert (engine.trace(TEXT).attention.weights > 0).all()
    writer = catalogue.load(catalogue.WRITER)
    one, other = (writer.trace(f"Yesterday I went {end}", keep=("weights", "hidden")) for end in ("to school", "away soon"))
    assert not np.triu(one.attention.weights, 1).any()
    np.testing.assert_allclose(one.hidden[:, :3], other.hidden[:, :3], atol=1e-5)


def test_positions_enter_by_the_embeddings_by_the_scores_or_by_an_angle():
    places = {name: encoding.adds_to for name, encoding in ENCODINGS.items()}
    assert set(places.values()) == {"nothing", "word vectors", "scores", "queries and keys"}
    assert [name for name, place in places.items() if place == "nothing"] == ["none"]


def test_a_second_text_has_a_learned_vector_of_its_own(engine):
    table = engine.model.embeddings.segments.weight
    assert table.shape == (2, engine.info.hidden_size)
    assert (table[0] - table[1]).abs().max() > 0.01
    assert engine.encode(TEXT, PAIR).segments == (0,) * 7 + (1,) * 5


def test_t5_does_not_divide_its_scores_and_bert_does(hub_engine):
    scales = {family: hub_engine(family).trace("Time flies").attention.scales for family in ("t5", "roberta")}
    assert set(scales["t5"]) == {1.0}
    assert scales["roberta"][0] == pytest.approx(6**-0.5)


def test_a_low_temperature_makes_weights_sharper_and_a_high_one_flatter(trace):
    scores = torch.tensor(trace.attention.scores)
    spread = [entropy(with_temperature(softmax, value)(scores).numpy()).mean() for value in (0.25, 0.5, 1.0, 2.0, 4.0)]
    assert spread == sorted(spread)
    assert np.diff(spread).min() > 0.05


def test_encoders_look_both_ways_decoders_at_themselves_and_back_and_across_at_the_encoder(hub_engine, trace):
    assert (trace.attention.weights > 0).all()
    back = hub_engine("gpt2").trace("Time flies like an arrow").attention.weights
    assert not np.triu(back, 1).any()
    assert (np.diagonal(back, axis1=-2, axis2=-1) > 0).all()
    encoder, decoder, cross = hub_engine("t5").trace("Time flies like an arrow", "fruit flies").stacks
    assert (cross.query_tokens, cross.key_tokens) == (decoder.query_tokens, encoder.key_tokens)


def test_most_of_the_tokens_to_predict_were_replaced_by_the_mask_and_not_all():
    assert (BLANKED, REPLACED) == (0.8, 0.1)


def test_tiny_bert_looks_both_ways_and_is_smaller_than_bert_in_every_size(engine, trace):
    assert np.triu(trace.attention.weights, 1).max() > 0.5
    assert np.tril(trace.attention.weights, -1).max() > 0.5
    bert = BertConfig()
    assert engine.info.num_layers < bert.num_hidden_layers
    assert engine.info.num_heads < bert.num_attention_heads
    assert engine.info.hidden_size < bert.hidden_size
    assert engine.tokenizer.vocab_size < bert.vocab_size
