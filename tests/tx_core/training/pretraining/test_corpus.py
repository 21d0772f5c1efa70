"""Texts going in: what is refused before a run, the vocabulary, and texts kept as numbers."""

import numpy as np
import pytest

from tests.support.small_training import sentences, write_corpus
from tx_core.training.pretraining.corpus import CorpusProblem, read_corpus, tokenise
from tx_core.training.pretraining.vocabulary import SPECIAL_TOKENS, from_pieces, learn_vocabulary, pieces_of


def test_a_vocabulary_is_learned_from_the_texts_and_is_the_same_again(tmp_path):
    sources = read_corpus(write_corpus(tmp_path), "cpu")
    learned = learn_vocabulary(sources, 90)
    assert learned.get_vocab_size() == 90
    assert pieces_of(learned)[:5] == list(SPECIAL_TOKENS)
    read = learned.encode("The TEACHER sees").tokens
    assert {"the", "sees"} < set(read) and (read[0], read[-1]) == ("[CLS]", "[SEP]") and "[UNK]" not in read
    assert learn_vocabulary(sources, 90).to_str() == learned.to_str()


def test_a_vocabulary_is_checked_and_reads_pairs_as_bert_does():
    assert from_pieces([*SPECIAL_TOKENS, "un", "##do", "."]).encode("Undo.").ids == [2, 5, 6, 7, 3]
    with pytest.raises(CorpusProblem, match=r"begins with \[PAD\]"):
        from_pieces(["the", "of"])
    with pytest.raises(CorpusProblem, match="each piece once"):
        from_pieces([*SPECIAL_TOKENS, "twice", "twice"])
    read = from_pieces([*SPECIAL_TOKENS, "a", "b"]).encode("a", "b b")
    assert (read.ids, read.type_ids) == ([2, 5, 3, 6, 6, 3], [0, 0, 0, 1, 1, 1])


def test_texts_as_numbers_are_those_of_the_tokenizer_and_kept_until_text_or_vocabulary_changes(tmp_path, capsys):
    def tokenised(sources, backend) -> tuple[list, int]:
        found = tokenise(sources, backend, tmp_path / "cache")
        return found, capsys.readouterr().out.count("tokenising")

    sources = read_corpus(write_corpus(tmp_path / "texts"), "cpu")
    backend = learn_vocabulary(sources, 90)
    (_, short), told = tokenised(sources, backend)
    assert told == 2
    for start, end, sentence in zip(short.starts, short.line_ends, sentences(), strict=False):
        assert short.ids[start:end].tolist() == backend.encode(sentence, add_special_tokens=False).ids
    (_, again), told = tokenised(sources, backend)
    assert told == 0 and np.array_equal(again.ids, short.ids)
    (tmp_path / "texts" / "short.txt").write_text("The cat likes the moon.\n", encoding="utf-8")
    changed = read_corpus(tmp_path / "texts", "cpu")
    (_, other), told = tokenised(changed, backend)
    assert told == 1 and len(other.line_ends) == 1
    assert tokenised(changed, learn_vocabulary(sources, 80))[1] == 2
