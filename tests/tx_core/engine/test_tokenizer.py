"""Text to pieces: ids, words, special tokens and blanks, on the embedded vocabulary and on files written here."""

import json
from pathlib import Path

import pytest
import tokenizers
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

from tx_core.engine import catalogue
from tx_core.engine.tokenizer import MAX_TEXT_CHARACTERS, Tokenizer, load_tokenizer
from tx_core.errors import CheckpointProblem, TextProblem

EMBEDDED = catalogue.MODELS / catalogue.DEFAULT


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return load_tokenizer(EMBEDDED)


def byte_level(text: str) -> Tokenizer:
    backend = tokenizers.Tokenizer(models.BPE(unk_token=None))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<s>", "</s>", "<mask>"], initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator([text] * 20, trainer)
    backend.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), add_prefix_space=False)
    return Tokenizer(backend, mask="<mask>", unknown=None, padding=None)


def test_the_notebooks_ids_come_back_from_a_vocabulary_with_the_words_at_those_lines(tmp_path: Path):
    """Row A1 of the founding documents: bert-base-uncased reads this sentence so."""
    at = {"time": 2051, "flies": 10029, "like": 2066, "an": 2019, "arrow": 8612, "?": 1029}
    at |= {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
    lines = [f"[unused{number}]" for number in range(10_030)]
    for word, number in at.items():
        lines[number] = word
    (tmp_path / "vocab.txt").write_text("\n".join(lines), encoding="utf-8")
    encoding = load_tokenizer(tmp_path).encode("time flies like an arrow?")
    assert encoding.ids == (101, 2051, 10029, 2066, 2019, 8612, 1029, 102)
    assert encoding.special == (True, False, False, False, False, False, False, True)


def test_pieces_of_one_word_share_its_number_and_its_spelling_as_typed(tokenizer: Tokenizer):
    encoding = tokenizer.encode("My PANCAKE")
    pieces = [word for token, word in zip(encoding.tokens, encoding.words, strict=True) if token in ("pan", "##ca", "##ke")]
    assert pieces == [1, 1, 1]
    assert encoding.word_texts == ("My", "PANCAKE")


def test_every_way_to_write_a_blank_becomes_the_models_own_and_is_not_hidden_as_a_special_token(tokenizer: Tokenizer):
    for blank in ("[MASK]", "[mask]", "<mask>", "___", "_______"):
        encoding = tokenizer.encode(f"I have a {blank}.")
        assert [encoding.tokens[place] for place in encoding.blanks] == ["[MASK]"]
        assert not encoding.special[encoding.blanks[0]]
        assert encoding.text == f"I have a {blank}."
    assert tokenizer.encode("I have a __.").blanks == ()


def test_special_tokens_are_known_by_id_even_when_typed(tokenizer: Tokenizer):
    encoding = tokenizer.encode("one [SEP] two")
    marks = [token for token, special in zip(encoding.tokens, encoding.special, strict=True) if special]
    assert marks == ["[CLS]", "[SEP]", "[SEP]"]


def test_a_byte_level_piece_is_shown_as_a_reader_knows_it():
    encoding = byte_level("where does the café look").encode("the café ___")
    assert not any("Ã" in token or "Ġ" in token for token in encoding.tokens)
    assert encoding.word_texts[:2] == ("the", "café")
    assert len(encoding.blanks) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "type a sentence"),
        ("\n\t \u00a0", "type a sentence"),
        ("a \ud800 b", "surrogate"),
        ("a" * (MAX_TEXT_CHARACTERS + 1), f"{MAX_TEXT_CHARACTERS + 1:,} characters; at most {MAX_TEXT_CHARACTERS:,}"),
    ],
    ids=["nothing", "spaces", "half a character", "too much"],
)
def test_what_is_no_text_is_refused_with_what_to_do(tokenizer: Tokenizer, text: str, told: str):
    with pytest.raises(TextProblem, match=told):
        tokenizer.encode(text)


def test_a_word_within_a_sentence_has_its_space_where_a_vocabulary_has_one():
    tokenizer = byte_level("time flies")
    assert tokenizer.pieces("time", first=True) + tokenizer.pieces("flies") == tokenizer.encode("time flies").ids[1:-1]
    assert tokenizer.pieces("flies") != tokenizer.pieces("flies", first=True)


@pytest.mark.parametrize("content", ["{", json.dumps({"version": "1.0"})])
def test_a_damaged_tokenizer_file_is_a_clear_error(tmp_path: Path, content: str):
    (tmp_path / "tokenizer.json").write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointProblem, match="damaged"):
        load_tokenizer(tmp_path)
