"""What the glossary claims of the built-in models is true."""

import numpy as np

from tx_core.analysis.sinks import attention_sinks
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict

TEXT = "Mary lost her keys."


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
