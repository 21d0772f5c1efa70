"""Tokenize text, and spell tokens for readers. Special tokens are recognised by id, not by spelling."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers.implementations import BertWordPieceTokenizer

from tx_core.engine.checkpoint_files import DAMAGED_WEIGHTS, read_json
from tx_core.engine.text_growth import GROWS_TOO_MUCH, MAX_READ_CHARACTERS, check_tokenizer, text_growth
from tx_core.errors import CheckpointProblem, ExplorerError, TextProblem
from tx_core.transformer.trace import Encoding

MAX_TEXT_CHARACTERS = 20_000
CANNOT_READ = "The tokenizer of this checkpoint cannot read text: {error}."
NO_TOKEN_OF_NUMBER = (
    "This model has no token number {number:,}: what was written belongs to another model. Start again from your own words."
)
NOTHING_READABLE = "There is nothing here that the model can read: type at least one word."
_BERT_TOKENS = {"mask": "[MASK]", "unk": "[UNK]", "pad": "[PAD]"}
BLANK = re.compile(r"\[mask\]|<mask>|_{3,}", re.IGNORECASE)


class Tokenizer:
    """A model's own tokenizer, with its special tokens.

    mask, padding_id: None, and 0, for a model that has none. num_embeddings: the number of word vectors of the model, None for as
    many as the vocabulary has entries; a special token beyond them counts as missing. special_tokens: whether `encode` puts the
    model's special tokens around a text, as the model was trained with them.
    """

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        *,
        mask: str | None,
        unknown: str | None,
        padding: str | None,
        num_embeddings: int | None = None,
        special_tokens: bool = True,
    ):
        self.backend = backend
        self._given = {"mask": mask, "unknown": unknown, "padding": padding, "num_embeddings": num_embeddings}
        self.num_embeddings = num_embeddings
        self.special_tokens = special_tokens
        with tokenizer_checked(CANNOT_READ):
            self._most_characters = MAX_READ_CHARACTERS // text_growth(backend)
        if not self._most_characters:
            raise CheckpointProblem(GROWS_TOO_MUCH)
        self.mask, self.mask_id = mask, self._id(mask)
        self.unknown_id = self._id(unknown)
        self.padding_id = self._id(padding) or 0
        special_ids = {token_id for token_id, token in backend.get_added_tokens_decoder().items() if token.special}
        self._special_ids = special_ids - {self.mask_id, self.unknown_id}
        self._byte_level = isinstance(backend.decoder, tokenizers.decoders.ByteLevel)
        self._marks_word_starts = any("␣" in _show_space(token) for token in self._run(" a").tokens)

    def to_json(self) -> dict[str, str | int | None]:
        """Return what `from_json` makes the same tokenizer of, the backend as tokenizer.json has it."""
        return {"backend": self.backend.to_str(), "special_tokens": self.special_tokens, **self._given}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> "Tokenizer":
        """Make a tokenizer of what `to_json` returned."""
        return cls(**{**state, "backend": tokenizers.Tokenizer.from_str(state["backend"])})

    @cached_property
    def added_tokens(self) -> tuple[str, ...]:
        """The special tokens that the model's tokenizer puts around a text: [CLS] and [SEP] for BERT, none for GPT-2."""
        read = self._run("a")
        return tuple(token for token, sequence in zip(read.tokens, read.sequence_ids, strict=True) if sequence is None)

    @cached_property
    def without_special_tokens(self) -> "Tokenizer":
        """The same tokenizer, which adds no special tokens to a text; itself where it never adds any."""
        if not self.special_tokens or not self.added_tokens:
            return self
        return Tokenizer(self.backend, special_tokens=False, **self._given)

    def _id(self, token: str | None) -> int | None:
        token_id = None if token is None else self.backend.token_to_id(token)
        return None if token_id is None or self._lacks_vector(token_id) else token_id

    def _lacks_vector(self, token_id: int) -> bool:
        return self.num_embeddings is not None and token_id >= self.num_embeddings

    def _run(self, *texts: str, **options: bool) -> tokenizers.Encoding:
        """Tokenize with the tokenizers library.

        Raises CheckpointProblem if its own settings make it fail, such as an unknown token that its vocabulary lacks; TextProblem
        if its rules may make more of the texts than memory holds.
        """
        if sum(map(len, texts)) > self._most_characters:
            raise TextProblem(
                f"This text is too long for the tokenizer of this model: shorten it to {self._most_characters:,} characters."
            )
        with tokenizer_checked(CANNOT_READ):
            return self.backend.encode(*texts, **options)

    @property
    def vocab_size(self) -> int:
        """Size of the vocabulary, added tokens included."""
        return self.backend.get_vocab_size()

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """Tokenize a text, or a pair of texts. [MASK], <mask> and ___ become the model's mask token.

        Without special tokens, nothing separates the texts of a pair; they differ in `segments` only.

        Raises TextProblem if a text is empty, too long, or contains nothing that the model can read, or something for which it
        has no vector.
        """
        pair = pair if pair and pair.strip() else None
        sentences = [text] if pair is None else [text, pair]
        for sentence in sentences:
            check_text(sentence)
        inputs = sentences if self.mask is None else [BLANK.sub(self.mask, sentence) for sentence in sentences]
        result = self._run(*inputs, add_special_tokens=self.special_tokens)
        words, word_texts = _split_words(result, inputs)
        if not any(sequence is not None for sequence in result.sequence_ids):
            raise TextProblem(NOTHING_READABLE)
        for token, token_id in zip(result.tokens, result.ids, strict=True):
            if self._lacks_vector(token_id):
                raise TextProblem(f"The model has no vector for {_show_space(token)!r}: leave it out.")
        return Encoding(
            text=text,
            pair=pair,
            ids=tuple(result.ids),
            tokens=self._spell_tokens(result, inputs),
            segments=tuple(result.type_ids),
            special=tuple(
                sequence is None or self.is_special(one) for one, sequence in zip(result.ids, result.sequence_ids, strict=True)
            ),
            words=words,
            word_texts=word_texts,
            blanks=_positions(result.ids, self.mask_id),
            unknown=_positions(result.ids, self.unknown_id),
            special_tokens=self.special_tokens,
        )

    def append(self, encoding: Encoding, written: Sequence[int]) -> Encoding:
        """Append tokens that a model wrote to an encoding: exactly these, which the words that they spell need not give.

        Raises TextProblem if the model has no such token.
        """
        words, word_texts = list(encoding.words), list(encoding.word_texts)
        for place, piece in enumerate(written, start=len(encoding)):
            if not 0 <= piece < self.vocab_size or self._lacks_vector(piece) or not self.word(piece):
                raise TextProblem(NO_TOKEN_OF_NUMBER.format(number=piece))
            if self.is_special(piece):
                words.append(None)
            elif words and words[-1] is not None and self.joins(piece, first=place == 0):
                words.append(words[-1])
                word_texts[words[-1]] += self.readable(piece)
            else:
                words.append(len(word_texts))
                word_texts.append(self.readable(piece) or self.spelling(piece))
        ids = (*encoding.ids, *written)
        return replace(
            encoding,
            ids=ids,
            tokens=(*encoding.tokens, *map(self.spelling, written)),
            segments=(*encoding.segments, *(encoding.segments[-1],) * len(written)),
            special=(*encoding.special, *map(self.is_special, written)),
            words=tuple(words),
            word_texts=tuple(word_texts),
            unknown=_positions(ids, self.unknown_id),
            written=(*encoding.written, *written),
        )

    def is_special(self, piece: int) -> bool:
        """Return whether a token is a mark such as [SEP], which is no part of any word."""
        return piece in self._special_ids

    def spelling(self, piece: int) -> str:
        """Return a token as `word` does, but what its vocabulary spells in bytes as it reads, where it is whole characters."""
        token = self.word(piece)
        if not self._byte_level or token.removeprefix("␣").isascii():
            return token
        text = self.backend.decode([piece], skip_special_tokens=False)
        return token if "\ufffd" in text else text.replace(" ", "␣")

    def pieces(self, word: str, *, first: bool = False) -> tuple[int, ...]:
        """Return the token ids of a word within a sentence, without special tokens.

        first: whether the word begins the text. Byte-level vocabularies then spell it without a space. Raises TextProblem if the
        word is empty or too long.
        """
        check_text(word)
        prefix = "" if first else " "
        return tuple(self._run(prefix + word.strip(), add_special_tokens=False).ids)

    def word(self, piece: int) -> str:
        """Return the token with this id, its leading space written as ␣, or an empty string for an unknown id."""
        token = self.backend.id_to_token(piece)
        return "" if token is None else _show_space(token)

    def entry(self, token: str) -> int | None:
        """Return the id of a token spelled exactly as in the vocabulary, such as ##ing, or None."""
        return self.backend.token_to_id(token)

    def joins(self, piece: int, *, first: bool = False) -> bool:
        """Return whether a token continues the word before it: ##ing, or a token without ␣ if words begin with one.

        first: whether the token begins the text. Byte-level vocabularies then spell every word without a space.
        """
        if first and self._byte_level:
            return False
        token = self.word(piece)
        return token[:1].isalnum() if self._marks_word_starts else token.startswith("##") and len(token) > 2

    def readable(self, piece: int) -> str:
        """Return the text of a token without the markers of its vocabulary: ing for ##ing, plan for ␣plan."""
        if self._byte_level:
            return self.backend.decode([piece], skip_special_tokens=False).strip()
        return self.word(piece).removeprefix("##" if self.joins(piece) else "").replace("␣", " ").strip()

    def _spell_tokens(self, result: tokenizers.Encoding, sentences: list[str]) -> tuple[str, ...]:
        """Spell tokens as in the vocabulary, but as typed where it spells them in bytes (Ã© for é)."""
        # RoBERTa's mask token includes the space before it, which is not shown.
        tokens = [
            self.mask if token_id == self.mask_id else _show_space(token)
            for token_id, token in zip(result.ids, result.tokens, strict=True)
        ]
        if self._byte_level:
            for position, (sequence, (start, end)) in enumerate(zip(result.sequence_ids, result.offsets, strict=True)):
                if sequence is not None and not tokens[position].removeprefix("␣").isascii():
                    tokens[position] = sentences[sequence][start:end] or tokens[position]
        return tuple(tokens)


@contextmanager
def tokenizer_checked(message: str) -> Iterator[None]:
    """Convert failures of the tokenizers library within the block to CheckpointProblem.

    The library raises bare Exceptions, and for Rust panics a PanicException, which is not a subclass of Exception.
    """
    try:
        yield
    except (ExplorerError, MemoryError):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise CheckpointProblem(message.format(error=error)) from error


def check_text(sentence: str) -> None:
    """Check that a text can be tokenized.

    Raises TextProblem if it is empty, longer than MAX_TEXT_CHARACTERS, or not valid Unicode.
    """
    if not sentence.strip():
        raise TextProblem("There is no text yet: type a sentence.")
    if len(sentence) > MAX_TEXT_CHARACTERS:
        raise TextProblem(
            f"This text has {len(sentence):,} characters; at most {MAX_TEXT_CHARACTERS:,} are read. Shorten it to a few "
            "sentences."
        )
    try:
        sentence.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextProblem("The text contains half of a character (a lone surrogate): type that character again.") from error


def load_tokenizer(directory: Path, num_embeddings: int | None = None) -> Tokenizer:
    """Load the tokenizer of a BERT checkpoint, from tokenizer.json or from vocab.txt; CheckpointProblem if both are missing or
    damaged.
    """
    settings = read_json(directory / "tokenizer_config.json") if (directory / "tokenizer_config.json").exists() else {}
    mask, unknown, padding = (_token_text(settings.get(f"{role}_token"), default) for role, default in _BERT_TOKENS.items())
    backend = _load_backend(directory, settings)
    return Tokenizer(backend, mask=mask, unknown=unknown, padding=padding, num_embeddings=num_embeddings)


def _load_backend(directory: Path, settings: dict) -> tokenizers.Tokenizer:
    if (directory / "tokenizer.json").exists():
        backend = read_backend(directory / "tokenizer.json")
        backend.no_truncation()
        backend.no_padding()
        return backend
    vocabulary = directory / "vocab.txt"
    if not vocabulary.exists():
        raise CheckpointProblem("tokenizer.json and vocab.txt are missing from the checkpoint: copy or download it again.")
    with tokenizer_checked(DAMAGED_WEIGHTS.format(name=vocabulary.name)):
        return BertWordPieceTokenizer(str(vocabulary), lowercase=settings.get("do_lower_case") is not False)._tokenizer


def read_backend(file: Path) -> tokenizers.Tokenizer:
    """Read a tokenizer.json. Raises CheckpointProblem if the file is damaged, or makes texts too long."""
    settings = read_json(file)
    with tokenizer_checked(DAMAGED_WEIGHTS.format(name=file.name)):
        check_tokenizer(settings)
        return tokenizers.Tokenizer.from_file(str(file))


def _token_text(setting: object, default: str) -> str:
    """Return the text of a special token, which some files store in an object, or the default if there is none."""
    text = setting.get("content") if isinstance(setting, dict) else setting
    return text if isinstance(text, str) and text else default


def _positions(ids: list[int], wanted: int | None) -> tuple[int, ...]:
    return tuple(position for position, token_id in enumerate(ids) if token_id == wanted)


def _split_words(result: tokenizers.Encoding, sentences: list[str]) -> tuple[tuple[int | None, ...], tuple[str, ...]]:
    """Return the number of the word that each token belongs to, counted through all sentences, and the words as typed."""
    numbers: dict[tuple[int, int, int], int] = {}
    spans: list[tuple[int, int, int]] = []
    words: list[int | None] = []
    # Some SentencePiece tokenizers (Llama's) report a whole sentence as one word, so that ▁ must begin a new one.
    spaces = 0
    for token, sequence, word, (start, end) in zip(
        result.tokens, result.sequence_ids, result.word_ids, result.offsets, strict=True
    ):
        if sequence is None or word is None:
            words.append(None)
            continue
        spaces += token.startswith("▁")
        number = numbers.setdefault((sequence, word, spaces), len(spans))
        if number == len(spans):
            spans.append((sequence, start, end))
        else:
            spans[number] = (sequence, min(spans[number][1], start), max(spans[number][2], end))
        words.append(number)
    return tuple(words), tuple(sentences[sequence][start:end].strip() or "␣" for sequence, start, end in spans)


def _show_space(token: str) -> str:
    """Write the leading space of byte-level (Ġ) and SentencePiece (▁) tokens as ␣."""
    return token.replace("Ġ", "␣").replace("▁", "␣")
