"""What the glossary claims of the built-in models is true; what it claims of the mathematics is held where that is computed."""

import numpy as np

from pages.ui.shell.glossary import GROUPS
from tx_core.analysis.sinks import attention_sinks
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.lessons.labels import FINE_TUNED

TEXT = "Mary lost her keys."


def test_little_is_taken_from_the_special_tokens_of_bert_and_the_first_of_a_model_that_writes(engine):
    for model, layer in ((engine, 4), (catalogue.load(catalogue.WRITER), 0)):
        found = attention_sinks(model.trace(TEXT, keep=("weights", "value")).attention)
        assert found.shares[layer].mean() > 0.7 and found.even < 0.3
        assert found.sink_lengths[layer].mean() < found.other_lengths[layer].mean() / 6
    first = attention_sinks(engine.trace(TEXT, keep=("weights", "value")).attention)  # "often", "not in every layer"
    assert first.sink_lengths[0].mean() > 0.7 * first.other_lengths[0].mean()


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


def test_special_tokens_stand_where_they_are_said_to_and_a_word_outside_the_vocabulary_is_split_or_unknown(engine):
    tokens = engine.tokenizer.encode("Mary lost ___.", "It rained.").tokens
    assert tokens == ("[CLS]", "mary", "lost", "[MASK]", ".", "[SEP]", "it", "rain", "##ed", ".", "[SEP]")
    assert engine.tokenizer.encode("snailfish").tokens[1:-1] == ("sn", "##ail", "##fish")
    assert engine.tokenizer.encode("漢").tokens[1:-1] == ("[UNK]",)
    assert engine.tokenizer.backend.id_to_token(engine.tokenizer.padding_id) == "[PAD]"


def test_a_blank_is_a_token_like_any_other_and_heads_score_every_token_or_every_label(engine):
    blank = engine.tokenizer.encode("Mary lost [MASK] keys.")
    assert (engine.trace(blank.text).attention.weights > 0).all()
    assert engine.blank_logits([blank])[0].shape == (1, engine.tokenizer.backend.get_vocab_size())
    reviews = catalogue.load(FINE_TUNED)
    hidden = reviews.trace(TEXT, keep=("hidden",)).hidden[-1]
    assert reviews.label_logits(hidden).shape == (len(reviews.labels),) == (2,)


def test_a_layer_is_a_round_in_which_every_token_looks_and_is_rewritten_and_tiny_bert_has_six(engine):
    trace = engine.trace(TEXT, keep=("weights", "hidden"))
    assert trace.attention.weights.shape[0] == engine.info.num_layers == 6
    assert (trace.attention.weights.sum(-1) > 0.99).all()
    assert (np.abs(np.diff(trace.hidden, axis=0)).max(-1) > 0.1).all()  # each token's vector, in each layer
    (meaning,) = (term.meaning for group in GROUPS for term in group.terms if term.name == "layer, block")
    assert meaning.startswith("One round in which every token looks") and "Tiny BERT has six" in meaning
