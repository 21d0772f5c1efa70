"""Text as lower-case words, and the vocabulary of the small classifier."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tx_core.errors import TextProblem
from tx_core.transformer.trace import Encoding, plain_encoding

PADDING, UNKNOWN = 0, 1
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def split_words(text: str) -> list[str]:
    """Split a text into words and punctuation, in lower case: “Don't!” becomes don't and !"""
    return _WORD.findall(text.lower())


@dataclass(frozen=True)
class Vocabulary:
    """The known words; a word's id is its index after padding (0) and unknown words (1)."""

    words: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.words) + 2

    def numbers(self) -> dict[str, int]:
        """Return the id of every known word."""
        return {word: place for place, word in enumerate(self.words, start=2)}


def build_vocabulary(texts: Iterable[str], most_words: int) -> Vocabulary:
    """Take the most frequent words, ties in alphabetical order; with the two special ids it has most_words + 2."""
    counts = Counter(word for text in texts for word in split_words(text))
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return Vocabulary(tuple(ordered[:most_words]))


def encode_words(text: str, numbers: dict[str, int], most: int) -> Encoding:
    """Encode a sentence; unknown words keep their spelling and are marked.

    numbers: as `Vocabulary.numbers` returns them. Raises TextProblem for no word at all or more than `most`.
    """
    words = split_words(text)
    if not words:
        raise TextProblem("Write a sentence of one word or more.")
    if len(words) > most:
        raise TextProblem(f"This model reads {most} words at the most, the text has {len(words):,}: shorten it.")
    ids = [numbers.get(word, UNKNOWN) for word in words]
    return plain_encoding(words, ids, unknown=[place for place, number in enumerate(ids) if number == UNKNOWN])


def training_ids(texts: Sequence[str], numbers: dict[str, int], most: int) -> list[tuple[int, ...]]:
    """Encode many texts for training, truncated to `most` words; an empty text becomes one unknown word."""
    rows = (tuple(numbers.get(word, UNKNOWN) for word in split_words(text)[:most]) for text in texts)
    return [row or (UNKNOWN,) for row in rows]
