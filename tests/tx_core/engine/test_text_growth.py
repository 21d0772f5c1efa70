"""The growth that follows from a tokenizer's rules is at least what they make of a text, and known models read all of theirs."""

import pytest
import tokenizers
from tokenizers import Regex, models, normalizers, pre_tokenizers, processors

from tx_core.engine.text_growth import text_growth
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import CheckpointProblem, TextProblem

LETTERS = ["ﷺ", "ᾯ", "İ", "日", "é", "a", " "]
"""What the rules of Unicode and of bytes make the most of."""
DOUBLE = normalizers.Replace("a", "aa")
NORMALIZERS = {
    "the forms of Unicode": normalizers.Sequence([normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD()]),
    "lower case": normalizers.Lowercase(),
    "BERT's": normalizers.BertNormalizer(strip_accents=True),
    "two doublings": normalizers.Sequence([DOUBLE, normalizers.Sequence([DOUBLE])]),
    "one between all letters": normalizers.Replace(Regex(""), "xyz"),
    "one before a text": normalizers.Prepend("xyz"),
    "bytes": normalizers.ByteLevel(),
}
PRE_TOKENIZERS = {
    "bytes of bytes": pre_tokenizers.Sequence([pre_tokenizers.ByteLevel(use_regex=False)] * 3),
    "a sign before every word": pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Metaspace()]),
}


def with_rules(**rules) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.BPE())
    for name, rule in rules.items():
        setattr(backend, name, rule)
    return backend


@pytest.mark.parametrize("name", NORMALIZERS)
def test_no_text_grows_more_by_a_normalizer_than_is_computed(name: str):
    growth = text_growth(with_rules(normalizer=NORMALIZERS[name]))
    for letter in LETTERS:
        assert len(NORMALIZERS[name].normalize_str(letter)) <= growth


@pytest.mark.parametrize("name", PRE_TOKENIZERS)
def test_no_text_grows_more_by_a_pre_tokenizer_than_is_computed(name: str):
    growth = text_growth(with_rules(pre_tokenizer=PRE_TOKENIZERS[name]))
    for letter in LETTERS:
        assert sum(len(word) for word, _ in PRE_TOKENIZERS[name].pre_tokenize_str(letter)) <= growth


def test_a_text_that_its_rules_may_make_too_long_is_refused_in_words():
    grows = Tokenizer(with_rules(normalizer=normalizers.Sequence([DOUBLE] * 20)), mask=None, unknown=None, padding=None)
    with pytest.raises(TextProblem, match="shorten it to 9 characters"):
        grows.encode("a cat sat down")


def surrounded(*sizes: int) -> Tokenizer:
    """Return a tokenizer that puts so many special tokens around a text, and around what came of that."""
    around = [
        processors.TemplateProcessing(
            single=["x", "$A", "x"], special_tokens=[{"id": "x", "ids": [0] * size, "tokens": [""] * size}]
        )
        for size in sizes
    ]
    return Tokenizer(with_rules(post_processor=processors.Sequence(around)), mask=None, unknown=None, padding=None)


def test_a_tokenizer_that_puts_a_crowd_of_special_tokens_around_any_text_is_refused():
    assert surrounded(5)
    for sizes in ((501,), (300, 300), (1, 5000)):
        with pytest.raises(CheckpointProblem, match="no memory would do"):
            surrounded(*sizes)
