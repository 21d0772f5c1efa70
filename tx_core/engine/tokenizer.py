"""From text to pieces and back: special tokens known by id, every piece by the word it belongs to."""

import re
from pathlib import Path
from threading import Lock

import tokenizers
from cachetools import LRUCache, cachedmethod
from tokenizers.implementations import BertWordPieceTokenizer

from tx_core.engine.checkpoint import read_json
from tx_core.errors import CheckpointProblem, TextProblem
from tx_core.settings import host_settings
from tx_core.transformer.trace import Encoding

MAX_RECENT_TEXTS = 32
"""Texts whose encoding is remembered: within one run of a page, several parts ask for the same one."""
BLANK = re.compile(r"\[mask\]|<mask>|_{3,}", re.IGNORECASE)


class Tokenizer:
    """A model's own tokenizer, and the names of its special tokens.

    mask, unknown and padding may be None for a model that has none.
    """

    def __init__(self, backend: tokenizers.Tokenizer, *, mask: str | None, unknown: str | None, padding: str | None):
        self.backend = backend
        self._recent: LRUCache[tuple, Encoding] = LRUCache(MAX_RECENT_TEXTS)
        self._lock = Lock()
        self.mask, self.mask_id = mask, self._id(mask)
        self.unknown_id = self._id(unknown)
        self.padding_id = self._id(padding) or 0
        marks = {number for number, token in backend.get_added_tokens_decoder().items() if token.special}
        self._special_ids = marks - {self.mask_id, self.unknown_id}
        self._byte_level = isinstance(backend.decoder, tokenizers.decoders.ByteLevel)
        self._marks_beginnings = any("␣" in _spaced(token) for token in backend.encode(" a").tokens)

    def _id(self, token: str | None) -> int | None:
        return None if token is None else self.backend.token_to_id(token)

    @property
    def vocab_size(self) -> int:
        """The number of pieces, added ones included."""
        return self.backend.get_vocab_size()

    @cachedmethod(lambda self: self._recent, lock=lambda self: self._lock)
    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """Read a sentence, or two, as the model does; [MASK], <mask> and ___ become the model's own blank.

        Raises TextProblem when there is nothing to read, or far more than any model reads.
        """
        pair = pair if pair and pair.strip() else None
        sentences = [text] if pair is None else [text, pair]
        for sentence in sentences:
            check_text(sentence)
        read = [self._own_blanks(sentence) for sentence in sentences]
        result = self.backend.encode(*read)
        words, word_texts = _words(result, read)
        if not any(sequence is not None for sequence in result.sequence_ids):
            raise TextProblem("There is nothing here that the model can read: type at least one word.")
        return Encoding(
            text=text,
            pair=pair,
            ids=tuple(result.ids),
            tokens=self._readable(result, read),
            segments=tuple(result.type_ids),
            special=tuple(
                sequence is None or number in self._special_ids
                for number, sequence in zip(result.ids, result.sequence_ids, strict=True)
            ),
            words=words,
            word_texts=word_texts,
            blanks=_places(result.ids, self.mask_id),
            unknown=_places(result.ids, self.unknown_id),
        )

    def pieces(self, word: str, *, first: bool = False) -> tuple[int, ...]:
        """Give the ids of a word as it stands within a sentence, without special tokens.

        first: the word opens the text; byte-level vocabularies write it without a space then.
        """
        check_text(word)
        lead = "" if first else " "
        return tuple(self.backend.encode(lead + word.strip(), add_special_tokens=False).ids)

    def word(self, piece: int) -> str:
        """Give a vocabulary entry as a reader should see it."""
        token = self.backend.id_to_token(piece)
        return "" if token is None else _spaced(token)

    def entry(self, token: str) -> int | None:
        """Find what the vocabulary spells exactly so, such as ##ing; None where it has no such entry."""
        return self.backend.token_to_id(token)

    def joins(self, piece: int, *, first: bool = False) -> bool:
        """Tell whether an entry continues the word before it: ##ing, or no ␣ where words begin with one.

        first: it opens the text; byte-level vocabularies write every word without a space then.
        """
        if first and self._byte_level:
            return False
        token = self.word(piece)
        return token[:1].isalnum() if self._marks_beginnings else token.startswith("##") and len(token) > 2

    def readable(self, piece: int) -> str:
        """Give a vocabulary entry without the marks of its vocabulary: ing for ##ing, plan for ␣plan."""
        if self._byte_level:
            return self.backend.decode([piece], skip_special_tokens=False).strip()
        return self.word(piece).removeprefix("##" if self.joins(piece) else "").replace("␣", " ").strip()

    def _readable(self, result: tokenizers.Encoding, sentences: list[str]) -> tuple[str, ...]:
        """Show pieces as the vocabulary spells them, but for those it spells by bytes (Ã© for é): as typed."""
        # RoBERTa's blank swallows the space before it, and would be shown with it.
        tokens = [
            self.mask if number == self.mask_id else _spaced(token)
            for number, token in zip(result.ids, result.tokens, strict=True)
        ]
        if self._byte_level:
            for place, (sequence, (start, end)) in enumerate(zip(result.sequence_ids, result.offsets, strict=True)):
                if sequence is not None and not tokens[place].removeprefix("␣").isascii():
                    tokens[place] = sentences[sequence][start:end] or tokens[place]
        return tuple(tokens)

    def _own_blanks(self, sentence: str) -> str:
        return sentence if self.mask is None else BLANK.sub(self.mask, sentence)


def check_text(sentence: str) -> None:
    """Raise TextProblem for a text that no model here can read."""
    if not sentence.strip():
        raise TextProblem("There is no text yet: type a sentence.")
    if len(sentence) > (limit := host_settings().max_text_characters):
        raise TextProblem(
            f"This text has {len(sentence):,} characters; at most {limit:,} are read. Shorten it to a few sentences."
        )
    try:
        sentence.encode("utf-8")
    except UnicodeEncodeError as broken:
        raise TextProblem("The text holds half of a character (a lone surrogate): type that character again.") from broken


def load_tokenizer(directory: Path) -> Tokenizer:
    """Load the tokenizer of a BERT checkpoint, from tokenizer.json or from vocab.txt.

    Raises CheckpointProblem when neither can be read.
    """
    settings = read_json(directory / "tokenizer_config.json") if (directory / "tokenizer_config.json").exists() else {}
    names = {role: _name(settings.get(f"{role}_token"), default) for role, default in _BERT_MARKS.items()}
    return Tokenizer(_load_backend(directory, settings), mask=names["mask"], unknown=names["unk"], padding=names["pad"])


_BERT_MARKS = {"mask": "[MASK]", "unk": "[UNK]", "pad": "[PAD]"}


def _load_backend(directory: Path, settings: dict) -> tokenizers.Tokenizer:
    if (directory / "tokenizer.json").exists():
        backend = read_backend(directory / "tokenizer.json")
        backend.no_truncation()
        backend.no_padding()
        return backend
    if not (directory / "vocab.txt").exists():
        raise CheckpointProblem("tokenizer.json and vocab.txt are missing from the checkpoint: download it again.")
    lowercase = settings.get("do_lower_case", True)
    return BertWordPieceTokenizer(str(directory / "vocab.txt"), lowercase=lowercase)._tokenizer


def read_backend(file: Path) -> tokenizers.Tokenizer:
    """Read a tokenizer.json; raise CheckpointProblem when it is damaged."""
    try:
        return tokenizers.Tokenizer.from_file(str(file))
    except Exception as damaged:  # tokenizers raises bare Exception and nothing narrower
        raise CheckpointProblem(f"{file.name} is damaged: download it again.") from damaged


def _name(setting: str | dict | None, default: str) -> str:
    """Read a token's name, which older files wrap in an object."""
    return setting["content"] if isinstance(setting, dict) else setting or default


def _places(ids: list[int], wanted: int | None) -> tuple[int, ...]:
    return tuple(place for place, number in enumerate(ids) if number == wanted) if wanted in ids else ()


def _words(result: tokenizers.Encoding, sentences: list[str]) -> tuple[tuple[int | None, ...], tuple[str, ...]]:
    """Number the words through all sentences, and cut each out of the text that it was typed in."""
    numbers: dict[tuple[int, int, int], int] = {}
    spans: list[tuple[int, int, int]] = []
    words: list[int | None] = []
    spaces = 0  # some sentence-piece vocabularies (Llama's) take a whole sentence for one word: a ▁ begins another
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


def _spaced(token: str) -> str:
    """Write the space that byte-level and sentence-piece vocabularies put before a word as ␣."""
    return token.replace("Ġ", "␣").replace("▁", "␣")
