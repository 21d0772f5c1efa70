"""What the glossary claims of each term is true: of the embedded model, of small models of other families, or by a formula."""

import numpy as np
import pytest
import torch
from transformers import BertConfig

from tx_core.analysis.patterns import entropy
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import predict
from tx_core.lessons.position_encodings import ENCODINGS
from tx_core.training.pretraining.batches import BLANKED, REPLACED
from tx_core.transformer.attention import attend, attention_weights, causal_mask, softmax, with_temperature
from tx_core.transformer.interventions import Intervention

TEXT, PAIR = "Mary lost her keys.", "She is sad."
PARTS = ("query", "key", "value", "scores", "weights", "context", "hidden")


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


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


def test_every_vector_has_the_hidden_size_and_the_first_is_that_of_the_embedding(engine, trace):
    assert trace.hidden.shape == (engine.info.num_layers + 1, len(trace.attention.query_tokens), engine.info.hidden_size)
    ids, segments = torch.tensor([trace.attention.query_tokens.ids]), torch.zeros(1, 7, dtype=torch.long)
    np.testing.assert_allclose(trace.hidden[0], engine.model.embeddings(ids, segments)[0].detach(), atol=1e-6)


def test_positions_enter_by_the_embeddings_by_the_scores_or_by_an_angle():
    places = {name: encoding.adds_to for name, encoding in ENCODINGS.items()}
    assert set(places.values()) == {"nothing", "word vectors", "scores", "queries and keys"}
    assert [name for name, place in places.items() if place == "nothing"] == ["none"]


def test_a_second_text_has_a_learned_vector_of_its_own(engine):
    table = engine.model.embeddings.segments.weight
    assert table.shape == (2, engine.info.hidden_size)
    assert (table[0] - table[1]).abs().max() > 0.01
    assert engine.encode(TEXT, PAIR).segments == (0,) * 7 + (1,) * 5


def test_a_head_averages_values_by_the_softmax_of_the_scores(engine, trace):
    one = trace.attention
    assert one.query.shape == one.key.shape == one.value.shape
    products = one.query @ np.swapaxes(one.key, -1, -2)
    np.testing.assert_allclose(one.scores, products / np.sqrt(one.query.shape[-1]), atol=1e-4)
    np.testing.assert_allclose(one.weights, torch.tensor(one.scores).softmax(-1), atol=1e-6)
    np.testing.assert_allclose(one.weights @ one.value, one.context, atol=1e-5)
    assert one.weights.min() > 0
    np.testing.assert_allclose(one.weights.sum(-1), 1, atol=1e-5)


def test_t5_does_not_divide_its_scores_and_bert_does(hub_engine):
    scales = {family: hub_engine(family).trace("Time flies").attention.scales for family in ("t5", "roberta")}
    assert set(scales["t5"]) == {1.0}
    assert scales["roberta"][0] == pytest.approx(6**-0.5)


def test_a_low_temperature_makes_weights_sharper_and_a_high_one_flatter(trace):
    scores = torch.tensor(trace.attention.scores)
    spread = [entropy(with_temperature(softmax, value)(scores).numpy()).mean() for value in (0.25, 0.5, 1.0, 2.0, 4.0)]
    assert spread == sorted(spread)
    assert np.diff(spread).min() > 0.05


def test_entropy_is_0_for_one_token_and_highest_where_attention_is_uniform(trace):
    assert entropy(np.eye(4)).tolist() == [0, 0, 0, 0]
    uniform = entropy(np.full((1, 7), 1 / 7))[0]
    assert uniform == pytest.approx(np.log(7))
    assert 0 < entropy(trace.attention.weights).min() < entropy(trace.attention.weights).max() < uniform


def test_a_layer_is_attention_and_feed_forward_on_what_the_layer_before_gave(engine, trace):
    for number, block in enumerate(engine.model.encoder.blocks):
        before = torch.tensor(trace.hidden[number])[None]
        attended = block.attention_norm(before + block.attention(before).output)
        after = block.feed_forward_norm(attended + block.feed_forward(attended))
        np.testing.assert_allclose(after[0].detach(), trace.hidden[number + 1], atol=1e-4)
        order = torch.randperm(7)
        torch.testing.assert_close(block.feed_forward(attended)[:, order], block.feed_forward(attended[:, order]))
        assert [type(layer) for layer in (block.feed_forward.up, block.feed_forward.down)] == [torch.nn.Linear] * 2


def test_what_a_sublayer_leaves_alone_passes_by_it_and_so_does_its_gradient(engine):
    norm, vectors = torch.nn.LayerNorm(engine.info.hidden_size), torch.randn(1, 5, engine.info.hidden_size, requires_grad=True)
    added = vectors + 0 * engine.model.encoder.blocks[0].attention(vectors).output
    torch.testing.assert_close(norm(added), norm(vectors))
    (gradient,) = torch.autograd.grad(added.sum(), vectors)
    torch.testing.assert_close(gradient, torch.ones_like(vectors))


def test_a_layer_norm_gives_mean_0_and_variance_1_before_its_learned_scale_and_shift(engine, trace):
    norm = engine.model.encoder.blocks[-1].feed_forward_norm
    plain = (torch.tensor(trace.hidden[-1]) - norm.bias) / norm.weight
    torch.testing.assert_close(plain.mean(-1), torch.zeros(7), atol=1e-5, rtol=0)
    torch.testing.assert_close(plain.var(-1, correction=0), torch.ones(7), atol=1e-4, rtol=0)


def test_encoders_look_both_ways_decoders_at_themselves_and_back_and_across_at_the_encoder(hub_engine, trace):
    assert (trace.attention.weights > 0).all()
    back = hub_engine("gpt2").trace("Time flies like an arrow").attention.weights
    assert not np.triu(back, 1).any()
    assert (np.diagonal(back, axis1=-2, axis2=-1) > 0).all()
    encoder, decoder, cross = hub_engine("t5").trace("Time flies like an arrow", "fruit flies").stacks
    assert (cross.query_tokens, cross.key_tokens) == (decoder.query_tokens, encoder.key_tokens)


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


def test_a_mask_takes_scores_to_minus_infinity_and_weights_to_0():
    scores, mask = torch.randn(5, 5), causal_mask(5)
    expected = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    torch.testing.assert_close(attention_weights(scores, mask), expected)
    assert (attend(torch.randn(5, 4), torch.randn(5, 4), torch.randn(5, 4), mask).weights.triu(1) == 0).all()


def test_most_of_the_tokens_to_predict_were_replaced_by_the_mask_and_not_all():
    assert (BLANKED, REPLACED) == (0.8, 0.1)


def test_the_head_scores_the_whole_vocabulary_and_softmax_makes_probabilities_of_it(engine):
    logits = engine.blank_logits([engine.encode("I drink a cup of [MASK].")]).rows[0][0]
    assert len(logits) == engine.tokenizer.vocab_size
    best = predict(engine, "I drink a cup of [MASK].", top_k=5).blanks[0].predictions
    shares = torch.tensor(logits).double().softmax(-1)
    assert [one.probability for one in best] == pytest.approx([float(shares[one.id]) for one in best], abs=1e-5)


def test_tiny_bert_looks_both_ways_and_is_smaller_than_bert_in_every_size(engine, trace):
    assert np.triu(trace.attention.weights, 1).max() > 0.5
    assert np.tril(trace.attention.weights, -1).max() > 0.5
    bert = BertConfig()
    assert engine.info.num_layers < bert.num_hidden_layers
    assert engine.info.num_heads < bert.num_attention_heads
    assert engine.info.hidden_size < bert.hidden_size
    assert engine.tokenizer.vocab_size < bert.vocab_size


def test_a_gradient_is_the_change_of_the_output_by_that_of_an_input(engine):
    read = engine.encode("I drink a cup of [MASK].")
    blank, word = read.blanks[0], engine.tokenizer.entry("tea")
    vectors, step = engine.embed(read.ids)[None], np.zeros((1, len(read), engine.info.hidden_size), dtype=np.float32)
    step[0, 2, 7] = 0.05
    exact = float(engine.gradients(read, vectors, blank, word).gradients[0, 2, 7])
    up, down = (float(engine.gradients(read, moved, blank, word).scores[0]) for moved in (vectors + step, vectors - step))
    assert (up - down) / 0.1 == pytest.approx(exact, rel=0.02)


def test_what_is_switched_off_changes_what_depends_on_it_and_nothing_before_it(engine):
    off = [Intervention("off", 2, 1)]
    plain, changed = (engine.trace(TEXT, interventions=one).attention.weights for one in ((), off))
    np.testing.assert_array_equal(changed[:2], plain[:2])
    assert not changed[2, 1].any()
    assert np.abs(changed[3:] - plain[3:]).max() > 0.001
