"""Every family runs through our own attention and computes what the transformers library computes by its own."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
import transformers

from tests import checkpoints
from tx_core import attention, hub, hub_shape, models, recorder
from tx_core.engine import Engine
from tx_core.errors import TextProblem
from tx_core.hub_engine import HubEngine
from tx_core.hub_inputs import START_ONLY
from tx_core.interventions import Interventions
from tx_core.trace import PARTS, Trace

FAMILIES = ["roberta", "xlm-roberta", "distilbert", "albert", "electra", "modernbert", "gpt2", "t5", "bart"]
ONE_STACK = FAMILIES[:7]
TWO_SIDED = ["t5", "bart"]
FILLING = [family for family in FAMILIES if family not in ("gpt2", "t5")]
TEXT, PAIR = "Time flies like an arrow", "fruit flies"


@pytest.fixture(scope="session")
def engine(checkpoint):
    """An engine of each family, loaded once."""
    loaded: dict[str, HubEngine] = {}

    def of_family(family: str) -> HubEngine:
        if family not in loaded:
            loaded[family] = hub.load_engine(checkpoint(family), family, family.title())
        return loaded[family]

    return of_family


@pytest.fixture(scope="session")
def reference(checkpoint):
    """The same checkpoint as the library runs it by itself, with its own eager attention."""
    loaded: dict[str, transformers.PreTrainedModel] = {}

    def of_family(family: str) -> transformers.PreTrainedModel:
        if family not in loaded:
            kind = transformers.AutoModelForMaskedLM if family in FILLING else transformers.AutoModel
            model = kind.from_pretrained(checkpoint(family), attn_implementation="eager")
            loaded[family] = model.eval()
        return loaded[family]

    return of_family


@torch.inference_mode()
def by_the_library(model: transformers.PreTrainedModel, trace: Trace):
    """Run the library's model on the very tokens that a trace was made of."""
    source = trace.attention.query_tokens
    inputs = {"input_ids": torch.tensor([source.ids])}
    if getattr(model.config, "type_vocab_size", 0) == 2:
        inputs["token_type_ids"] = torch.tensor([source.segments])
    if len(trace.stacks) > 1:
        inputs["decoder_input_ids"] = torch.tensor([trace.stacks[1].query_tokens.ids])
    return model(**inputs, output_attentions=True, output_hidden_states=True)


def stacked(layers: Sequence[torch.Tensor]) -> np.ndarray:
    return torch.cat(list(layers)).numpy()


@pytest.mark.parametrize("family", ONE_STACK)
def test_weights_and_vectors_of_every_layer_are_the_librarys(engine, reference, family: str):
    trace = engine(family).trace(TEXT, PAIR, keep=("weights", "hidden"))
    expected = by_the_library(reference(family), trace)
    assert len(expected.attentions) == checkpoints.LAYERS
    np.testing.assert_allclose(trace.attention.weights, stacked(expected.attentions), atol=1e-6, rtol=0)
    np.testing.assert_allclose(trace.hidden, stacked(expected.hidden_states), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("family", TWO_SIDED)
@pytest.mark.parametrize("pair", [PAIR, None])
def test_encoder_decoder_and_cross_attention_are_the_librarys(engine, reference, family: str, pair: str | None):
    trace = engine(family).trace(TEXT, pair, keep=("weights", "hidden"))
    expected = by_the_library(reference(family), trace)
    assert [stack.kind for stack in trace.stacks] == ["self", "decoder", "cross"]
    theirs = (expected.encoder_attentions, expected.decoder_attentions, expected.cross_attentions)
    for stack, attentions in zip(trace.stacks, theirs, strict=True):
        assert stack.weights.shape[2:] == (len(stack.query_tokens), len(stack.key_tokens))
        np.testing.assert_allclose(stack.weights, stacked(attentions), atol=1e-6, rtol=0)
    np.testing.assert_allclose(trace.hidden, stacked(expected.encoder_hidden_states), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("family", FILLING)
def test_blanks_are_scored_as_the_library_scores_them(engine, reference, family: str):
    encoding = engine(family).encode("Time ___ like an ___ arrow")
    ids = torch.tensor([encoding.ids])
    with torch.inference_mode():
        expected = reference(family)(input_ids=ids).logits[0, list(encoding.blanks)]
    assert len(encoding.blanks) == 2
    torch.testing.assert_close(engine(family).blank_logits([encoding]).rows[0], expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_parts_of_a_layer_are_those_of_one_computation(engine, family: str):
    for stack in engine(family).trace(TEXT, PAIR, keep=PARTS).stacks:
        np.testing.assert_allclose(stack.context, stack.weights @ stack.value, atol=1e-5)
        allowed = np.where(stack.weights > 0, stack.scores, -np.inf)
        shares = np.exp(allowed - allowed.max(-1, keepdims=True))
        np.testing.assert_allclose(stack.weights, shares / shares.sum(-1, keepdims=True), atol=1e-6)
        if family != "t5":  # T5 adds a bias by distance and does not scale
            scores = stack.query @ stack.key.swapaxes(-1, -2) / np.sqrt(checkpoints.HEAD_DIM)
            np.testing.assert_allclose(stack.scores, scores, atol=1e-4)


def test_t5_scores_hold_its_bias_by_distance_and_no_scale(engine, reference):
    stack = engine("t5").trace(TEXT, keep=("query", "key", "scores")).attention
    bias = stack.scores - stack.query @ stack.key.swapaxes(-1, -2)
    table = reference("t5").encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight
    np.testing.assert_allclose(bias[:, :, 0, 0], table[0].detach().numpy()[None].repeat(2, 0), atol=1e-5)
    np.testing.assert_allclose(bias[:, :, 1, 1], bias[:, :, 0, 0], atol=1e-5)


OUTPUT_PROJECTION = {
    "roberta": "roberta.encoder.layer.1.attention.output.dense",
    "xlm-roberta": "roberta.encoder.layer.1.attention.output.dense",
    "distilbert": "distilbert.transformer.layer.1.attention.out_lin",
    "electra": "electra.encoder.layer.1.attention.output.dense",
    "modernbert": "model.layers.1.attn.Wo",
    "gpt2": "h.1.attn.c_proj",
    "t5": "encoder.block.1.layer.0.SelfAttention.o",
    "bart": "model.encoder.layers.1.self_attn.out_proj",
}


@pytest.mark.parametrize("family", OUTPUT_PROJECTION)
def test_a_head_off_is_its_slice_zeroed_before_the_output_projection(engine, reference, family: str):
    head, width = 2, checkpoints.HEAD_DIM
    trace = engine(family).trace(TEXT, PAIR, keep=PARTS, interventions=Interventions(frozenset({(1, head)})))

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
    assert not np.allclose(trace.hidden, engine(family).trace(TEXT, PAIR, keep=("hidden",)).hidden, atol=1e-3)
    assert not trace.attention.weights[1, head].any()
    assert trace.attention.weights[1, head - 1].any()


def test_a_head_off_in_one_layer_of_albert_leaves_it_on_where_the_same_module_runs_again(engine):
    off = Interventions(frozenset({(1, 2)}))
    weights = engine("albert").trace(TEXT, interventions=off).attention.weights
    assert [bool(weights[layer, 2].any()) for layer in range(checkpoints.LAYERS)] == [True, False, True]


@pytest.mark.parametrize("family", TWO_SIDED)
def test_layers_of_an_encoder_decoder_are_numbered_through_its_stacks(engine, family: str):
    encoder, decoder, cross = (0, 0), (2, 1), (2 + checkpoints.LAYERS, 3)
    off = Interventions(frozenset({encoder, decoder, cross}))
    for stack, head in zip(engine(family).trace(TEXT, PAIR, interventions=off).stacks, (0, 1, 3), strict=True):
        silent = {(layer, at) for layer, at in np.ndindex(stack.weights.shape[:2]) if not stack.weights[layer, at].any()}
        assert silent == {(0, head)}


@pytest.mark.parametrize("family", FILLING)
def test_rows_of_a_padded_batch_score_their_blanks_as_they_do_alone(engine, family: str):
    rows = [engine(family).encode("Time ___."), engine(family).encode("the ___ sleeps, and the quick brown ___ jumps")]
    off = Interventions(frozenset({(0, 1)}))
    together = engine(family).blank_logits(rows, interventions=off).rows
    for row, logits in zip(rows, together, strict=True):
        alone = engine(family).blank_logits([row], interventions=off).rows[0]
        assert logits.shape[0] == len(row.blanks) > 0
        torch.testing.assert_close(logits, alone, atol=1e-5, rtol=1e-5)
        assert not torch.allclose(alone, engine(family).blank_logits([row]).rows[0], atol=1e-3)


@pytest.mark.parametrize("family", ["roberta", "albert", "bart"])
def test_visitors_at_once_with_different_sentences_and_interventions_get_what_each_gets_alone(engine, family: str):
    asks = [(f"{'the dog ' * (1 + number % 4)}and a fox", PAIR, frozenset({(number % 2, number % 4)})) for number in range(8)]

    def run(ask) -> Trace:
        return engine(family).trace(*ask[:2], keep=("weights", "hidden"), interventions=Interventions(ask[2]))

    alone = [run(ask) for ask in asks]
    with ThreadPoolExecutor(8) as visitors:
        together = list(visitors.map(run, asks * 4))
    for number, trace in enumerate(together):
        expected = alone[number % len(asks)]
        np.testing.assert_allclose(trace.hidden, expected.hidden, atol=1e-6, rtol=1e-6)
        for stack, one in zip(trace.stacks, expected.stacks, strict=True):
            np.testing.assert_allclose(stack.weights, one.weights, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_an_engine_of_the_checkpoints_sizes(engine, family: str):
    ours = engine(family)
    assert isinstance(ours, Engine)
    assert (ours.num_layers, ours.num_heads) == (2 if family in TWO_SIDED else checkpoints.LAYERS, checkpoints.HEADS)
    assert ours.fills_blanks == (family in FILLING)
    assert ours.max_tokens == (hub_shape.TOKENS_WITHOUT_LIMIT if family == "t5" else checkpoints.POSITIONS)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "t5"])
def test_exactly_as_many_tokens_are_read_as_there_are_positions(engine, family: str):
    ours = engine(family)
    word = ours.tokenizer.word(ours.tokenizer.pieces(".")[-1])
    text = "." * (ours.max_tokens - len(ours.encode(word)) + 1)
    trace = ours.trace(text)
    assert trace.attention.weights.shape[-1] == ours.max_tokens
    with pytest.raises(TextProblem, match="shorten it by 1 "):
        ours.trace(text + ".")


def test_a_bert_in_the_librarys_engine_answers_as_it_does_in_our_own(checkpoint):
    ours, theirs = (load(checkpoint("bert"), "bert", "BERT") for load in (models.load_bert_engine, hub.load_engine))
    trace = ours.trace("The ___ sleeps", keep=("hidden",))
    encoding, states = trace.attention.query_tokens, trace.hidden[:, 1]
    torch.testing.assert_close(ours.early_scores(states), theirs.early_scores(states))
    np.testing.assert_array_equal(ours.output_projection(2), theirs.output_projection(2))

    def moved(lookup, answer) -> torch.Tensor:
        return answer(torch.stack([lookup(encoding.ids), 0.5 * lookup(encoding.ids)]), 2).detach()

    torch.testing.assert_close(ours.over_vectors(encoding, moved), theirs.over_vectors(encoding, moved), atol=1e-5, rtol=1e-5)
    assert (ours.hidden_size, ours.predicts_next) == (theirs.hidden_size, theirs.predicts_next) == (checkpoints.HIDDEN, False)


def test_what_a_decoder_reads_is_the_second_sentence_behind_the_start_token(engine):
    for family, start in (("t5", "<pad>"), ("bart", "</s>")):
        stack = engine(family).trace(TEXT, PAIR).stacks[1]
        alone = engine(family).encode(PAIR)
        assert stack.query_tokens.tokens == (start, *alone.tokens[:-1])
        assert stack.query_tokens.special[0]
        assert stack.query_tokens.word_texts == ("fruit", "flies")
        assert engine(family).trace(TEXT, PAIR).notice == ""


def test_without_a_second_sentence_t5_reads_its_start_token_alone_and_says_so(engine):
    trace = engine("t5").trace(TEXT)
    assert (trace.stacks[1].query_tokens.tokens, trace.notice) == (("<pad>",), START_ONLY)


def test_without_a_second_sentence_bart_reads_its_sentence_again_as_it_does_to_fill_a_blank(engine):
    trace = engine("bart").trace("Time ___ like an arrow")
    source, target = trace.stacks[2].key_tokens, trace.stacks[2].query_tokens
    assert target.ids == (2, *source.ids[:-1])
    assert [target.tokens[place] for place in target.blanks] == ["<mask>"]


@pytest.mark.parametrize("pair", ["the dog " * 40, " \ud800"])
def test_a_second_sentence_that_cannot_be_read_is_refused_by_an_encoder_decoder_too(engine, pair: str):
    with pytest.raises(TextProblem):
        engine("bart").encode(TEXT, pair)


def test_gpt2_looks_only_back_and_its_end_of_text_is_a_mark_not_an_unknown_word(engine):
    attention = engine("gpt2").trace("the dog<|endoftext|>the fox").attention
    assert not np.triu(attention.weights, 1).any()
    read = attention.query_tokens
    assert [token for token, special in zip(read.tokens, read.special, strict=True) if special] == ["<|endoftext|>"]
    assert read.unknown == ()


def test_sentence_pieces_belong_to_the_words_that_were_typed(engine):
    read = engine("xlm-roberta").encode("Time flies, unbelievable ___")
    assert read.word_texts == ("Time", "flies,", "unbelievable", "<mask>")
    assert not any("▁" in token for token in read.tokens)


def test_a_space_that_is_a_piece_of_its_own_is_a_word_that_can_be_seen(engine):
    assert engine("xlm-roberta").encode("the  dog").word_texts == ("the", "␣", "dog")


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_of_a_padded_batch_have_the_weights_that_they_have_alone(engine, family: str):
    texts = [TEXT, "Time", "An arrow flies"]
    rows = [engine(family).encode(text) for text in texts]
    batched = engine(family).over_weights(rows, lambda layers: [layer.clone().numpy() for layer in layers])
    for place, (text, row) in enumerate(zip(texts, rows, strict=True)):
        alone = engine(family).trace(text).attention.weights
        together = np.stack([layer[place, :, : len(row)] for layer in batched])
        np.testing.assert_allclose(together[..., : len(row)], alone, atol=1e-5)
        assert not together[..., len(row) :].any()


@pytest.mark.parametrize("family", FAMILIES)
def test_for_many_texts_no_attention_is_computed_but_that_of_the_first_stack(engine, family: str, monkeypatch):
    runner, computed = engine(family), []

    def counted(*given, **options):
        found = attention.attend(*given, **options)
        computed.append(found.weights.nbytes)
        return found

    monkeypatch.setattr(recorder, "attend", counted)
    rows = [runner.encode(text) for text in (TEXT, "Time")]
    asked_for = runner.over_weights(rows, lambda layers: [layer.nbytes for layer in layers])
    assert computed == asked_for
