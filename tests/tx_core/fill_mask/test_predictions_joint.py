"""Several blanks at once, against every possible filling of a tiny vocabulary computed by transformers' BERT."""

import itertools

import pytest
import tokenizers
import torch
import transformers
from tokenizers import models as backends
from tokenizers import pre_tokenizers, processors

from tests.support.checkpoints import BERT_MARKS, SIZES, write
from tx_core.engine.bert_engine import load_own_engine
from tx_core.fill_mask.predictions import fill_jointly

WORDS = (*BERT_MARKS.values(), "the", "cat", "dog", "saw", "##s", "a", ".")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A BERT with a vocabulary of twelve entries, so that all fillings can be counted out."""
    backend = tokenizers.Tokenizer(backends.WordPiece({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    marks = [(mark, WORDS.index(mark)) for mark in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )
    backend.add_special_tokens(list(BERT_MARKS.values()))
    config = transformers.BertConfig(vocab_size=len(WORDS), **SIZES)
    return write(tmp_path_factory.mktemp("tiny"), transformers.BertForMaskedLM(config), backend, BERT_MARKS, seed=5)


@pytest.fixture(scope="module")
def engine(directory):
    return load_own_engine(directory, "tiny", "Twelve words")


def every_filling(directory, ids: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The product of conditional probabilities of every filling, left to right, by transformers' own BERT."""
    reference = transformers.BertForMaskedLM.from_pretrained(directory).eval()
    mask = WORDS.index("[MASK]")
    places = [place for place, number in enumerate(ids) if number == mask]
    products = {(): 1.0}
    for place in places:
        longer = {}
        for begun, product in products.items():
            row = list(ids)
            for at, entry in zip(places, begun, strict=False):
                row[at] = entry
            with torch.inference_mode():
                shares = reference(torch.tensor([row])).logits[0, place].double().softmax(-1)
            longer |= {(*begun, entry): product * share for entry, share in enumerate(shares.tolist())}
        products = longer
    return products


@pytest.mark.parametrize("text", ["the [MASK] saw a [MASK] .", "[MASK] [MASK]"])
def test_with_as_many_beams_as_beginnings_the_best_fillings_of_all_are_found(directory, engine, text):
    products = every_filling(directory, engine.encode(text).ids)
    ranked = sorted(products, key=products.get, reverse=True)
    found = fill_jointly(engine, text, best=12, beams=12)
    assert [filling.ids for filling in found] == ranked[:12]
    assert [filling.probability for filling in found] == pytest.approx([products[ids] for ids in ranked[:12]], rel=1e-4)


def test_the_fillings_of_three_blanks_are_those_that_a_search_through_all_products_follows(directory, engine):
    text, beams = "[MASK] cat [MASK] a [MASK] .", 4
    products = every_filling(directory, engine.encode(text).ids)
    followed = [()]
    for length in (1, 2, 3):
        totals = {
            begun: sum(product for ids, product in products.items() if ids[:length] == begun)
            for begun in itertools.product(range(len(WORDS)), repeat=length)
            if begun[:-1] in followed
        }
        followed = sorted(totals, key=totals.get, reverse=True)[:beams]
    found = fill_jointly(engine, text, best=4, beams=beams)
    assert [filling.ids for filling in found] == followed
    assert [filling.probability for filling in found] == pytest.approx([products[ids] for ids in followed], rel=1e-4)
