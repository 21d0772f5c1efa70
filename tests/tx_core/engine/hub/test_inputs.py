"""What a family reads: as much as it has positions for, its marks and pieces, and a decoder's own side."""

import numpy as np
import pytest

from tests.support.hub_families import FAMILIES, PAIR, TEXT
from tx_core.engine.hub.inputs import START_ONLY
from tx_core.errors import TextProblem


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "t5"])
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


@pytest.mark.parametrize("pair", ["the dog " * 40, " \ud800"])
def test_a_second_sentence_that_cannot_be_read_is_refused_by_an_encoder_decoder_too(hub_engine, pair: str):
    with pytest.raises(TextProblem):
        hub_engine("bart").encode(TEXT, pair)


def test_gpt2_looks_only_back_and_its_end_of_text_is_a_mark_not_an_unknown_word(hub_engine):
    attention = hub_engine("gpt2").trace("the dog<|endoftext|>the fox").attention
    assert not np.triu(attention.weights, 1).any()
    read = attention.query_tokens
    assert [token for token, special in zip(read.tokens, read.special, strict=True) if special] == ["<|endoftext|>"]
    assert read.unknown == ()


def test_sentence_pieces_belong_to_the_words_that_were_typed(hub_engine):
    read = hub_engine("xlm-roberta").encode("Time flies, unbelievable ___")
    assert read.word_texts == ("Time", "flies,", "unbelievable", "<mask>")
    assert not any("▁" in token for token in read.tokens)


def test_a_space_that_is_a_piece_of_its_own_is_a_word_that_can_be_seen(hub_engine):
    assert hub_engine("xlm-roberta").encode("the  dog").word_texts == ("the", "␣", "dog")
