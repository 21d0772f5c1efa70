"""Several blanks at once, against every possible filling of a tiny vocabulary computed by transformers' BERT."""

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


def test_with_as_many_beams_as_beginnings_the_best_fillings_of_all_are_found(directory, engine):
    text = "the [MASK] saw a [MASK] ."
    products = every_filling(directory, engine.encode(text).ids)
    ranked = sorted(products, key=products.get, reverse=True)
    found = fill_jointly(engine, text, best=12, beams=12)
    assert [filling.ids for filling in found] == ranked[:12]
    assert [filling.probability for filling in found] == pytest.approx([products[ids] for ids in ranked[:12]], rel=1e-4)
