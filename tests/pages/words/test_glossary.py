"""What the glossary claims of each term is true: of the embedded model, of small models of other families, or by a formula."""

import numpy as np
import pytest

from tx_core.analysis.sinks import attention_sinks
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict

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
