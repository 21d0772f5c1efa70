"""Words that the reader names, against the chain rule computed by transformers' BERT."""

import numpy as np
import pytest
import torch
import transformers

from tests.support.checkpoints import write_bert
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import load_own_engine
from tx_core.fill_mask import word_scores
from tx_core.fill_mask.predictions import MAX_TOP_K, TOKENS_AT_ONCE, blank_logits_in_batches, predict
from tx_core.fill_mask.word_scores import MAX_SCORED_WORDS, read_words, score_words

TEXT = "She peeled a [MASK] and a [MASK]."


@pytest.fixture(scope="module")
def reference():
    directory = catalogue.MODELS / catalogue.DEFAULT
    return transformers.BertForMaskedLM.from_pretrained(directory, dtype=torch.float32).eval()


def share(reference, ids: list[int], place: int, entry: int) -> float:
    with torch.inference_mode():
        return reference(torch.tensor([ids])).logits[0, place].softmax(-1)[entry].item()


def test_a_word_of_one_piece_has_the_probability_and_the_rank_of_the_list(engine):
    listed = predict(engine, TEXT, top_k=MAX_TOP_K).blanks[1].predictions
    words = [entry.piece for entry in listed if not entry.piece.startswith("##")][:MAX_SCORED_WORDS]
    for score in score_words(engine, TEXT, words, blank=1):
        place = [entry.piece for entry in listed].index(score.word)
        assert score.probability == pytest.approx(listed[place].probability, rel=1e-3)
        assert score.rank == place + 1
        assert (score.pieces, score.note) == ((score.word,), "")


def test_a_word_of_three_pieces_is_the_product_of_the_chain_in_three_blanks(engine, reference):
    pieces = list(engine.tokenizer.pieces("Pancake"))
    assert len(pieces) == 3
    ids = list(engine.encode(TEXT).ids)
    place, mask = ids.index(engine.tokenizer.mask_id), engine.tokenizer.mask_id
    head, tail = ids[:place], ids[place + 1 :]
    expected = [
        share(reference, [*head, mask, mask, mask, *tail], place, pieces[0]),
        share(reference, [*head, pieces[0], mask, mask, *tail], place + 1, pieces[1]),
        share(reference, [*head, pieces[0], pieces[1], mask, *tail], place + 2, pieces[2]),
    ]
    (score,) = score_words(engine, TEXT, ["Pancake"])
    assert score.conditionals == pytest.approx(expected, rel=1e-3)
    assert score.probability == pytest.approx(expected[0] * expected[1] * expected[2], rel=1e-3)
    assert (score.rank, score.note) == (None, word_scores.SCORED_IN_PIECES.format(count=3))


@pytest.mark.parametrize(
    ("word", "note"),
    [
        ("😀", word_scores.NOT_IN_VOCABULARY),
        ("##zzzz", word_scores.NO_SUCH_PIECE),
        ("pneumonoultramicroscopicsilicovolcanoconiosis", word_scores.TOO_MANY_PIECES.partition("{count}")[2].format(maximum=8)),
    ],
)
def test_a_word_that_cannot_be_scored_says_why_and_the_others_are_scored(engine, word, note):
    odd, known = score_words(engine, TEXT, [word, "apple"])
    assert (odd.word, odd.probability, odd.conditionals, odd.rank) == (word, None, (), None)
    assert note in odd.note
    assert known.probability > 0


def test_words_are_read_between_commas_each_once():
    assert read_words(" nurse, doctor ;nurse\n New   York,,##ing、茶 ") == ("nurse", "doctor", "New York", "##ing", "茶")
    assert read_words(" , ") == ()


def test_many_rows_are_asked_in_batches_of_bounded_size(tmp_path, monkeypatch):
    engine = load_own_engine(write_bert(tmp_path), "tiny", "Tiny")
    sizes = []
    ask = type(engine).blank_logits

    def counted(self, rows, **options):
        sizes.append(len(rows) * max(map(len, rows)))
        return ask(self, rows, **options)

    monkeypatch.setattr(type(engine), "blank_logits", counted)
    rows = [engine.encode("the [MASK] " + "dog " * (number % 30)) for number in range(300)]
    answers = [row for batch in blank_logits_in_batches(engine, rows) for row in batch]
    assert len(answers) == 300
    assert max(sizes) <= TOKENS_AT_ONCE
    assert len(sizes) > 1
    np.testing.assert_allclose(answers[299], ask(engine, [rows[299]])[0], atol=1e-4, rtol=0)
