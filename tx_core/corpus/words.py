"""Words of sentences: as CoNLL-U annotates them or plain text has them, the tokens that they are split into, and the attention
between them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from tx_core.errors import TextProblem
from tx_core.transformer.trace import Encoding

NUM_COLUMNS = 10
WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]+")
"""A word of a plain text, or signs that stand together."""

WRONG_COLUMNS = (
    "Line {line:,} is no CoNLL-U, which has {wanted} columns with a tab between two: ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, "
    "DEPREL, DEPS, MISC. This line has {found:,}."
)
WRONG_NUMBER = "Line {line:,} has the ID {found!r}, where word {wanted} of its sentence should stand."
WRONG_HEAD = "Line {line:,} has the HEAD {found!r}, which is no other word of its sentence, nor 0."


class Word(NamedTuple):
    """A word, with the columns of CoNLL-U that annotate it; "" where there is none.

    head: the position in the sentence of the word that it depends on, from 0; None for the root, and without annotation.
    """

    form: str
    lemma: str = ""
    upos: str = ""
    xpos: str = ""
    feats: str = ""
    deprel: str = ""
    head: int | None = None


COLUMNS = tuple(name for name in Word._fields if name != "head")
"""The columns whose values are compared."""


def split_words(text: str) -> tuple[Word, ...]:
    """Return the words of a plain text, without annotation."""
    return tuple(map(Word, WORD.findall(text)))


def read_conllu(text: str) -> Iterator[tuple[int, tuple[Word, ...]]]:
    """Yield the sentences of a CoNLL-U file: the number of the first line, and the words.

    Lines of joined words ("1-2") and of words that are not written ("1.1") are left out.

    Raises TextProblem for a line that is not CoNLL-U; names it.
    """
    rows: list[tuple[int, list[str]]] = []
    for line, written in enumerate([*text.splitlines(), ""], 1):
        if not written.strip():
            if rows:
                yield rows[0][0], _annotated(rows)
            rows = []
        elif not written.startswith("#"):
            cells = written.split("\t")
            if len(cells) != NUM_COLUMNS:
                raise TextProblem(WRONG_COLUMNS.format(line=line, found=len(cells), wanted=NUM_COLUMNS))
            if not re.fullmatch(r"[0-9]+[-.][0-9]+", cells[0]):
                if cells[0] != str(len(rows) + 1):
                    raise TextProblem(WRONG_NUMBER.format(line=line, found=cells[0][:20], wanted=len(rows) + 1))
                rows.append((line, cells))


def _annotated(rows: Sequence[tuple[int, list[str]]]) -> tuple[Word, ...]:
    heads = {"_", *map(str, range(len(rows) + 1))}
    words = []
    for line, cells in rows:
        if cells[6] not in heads or cells[6] == cells[0]:
            raise TextProblem(WRONG_HEAD.format(line=line, found=cells[6][:20]))
        annotation = ("" if cell == "_" else cell for cell in (*cells[2:6], cells[7]))
        words.append(Word(cells[1], *annotation, None if cells[6] in ("_", "0") else int(cells[6]) - 1))
    return tuple(words)


def word_of_tokens(read: Encoding, words: Sequence[Word]) -> tuple[int | None, ...] | None:
    """Return the number of the word that each token belongs to, None for special tokens.

    None as a whole where words and tokens do not fit: where a word has no token of its own, or a token reaches into two.
    """
    ends = list(accumulate(len("".join(word.form.split())) for word in words))
    owners: list[int | None] = [None] * len(read)
    places_of: dict[int | None, list[int]] = {}
    for place, number in enumerate(read.words):
        places_of.setdefault(number, []).append(place)
    start = 0
    for number, text in enumerate(read.word_texts):
        places = places_of[number]
        length, spelled = len("".join(text.split())), [len(read.tokens[place].strip("␣")) for place in places]
        if start + length <= ends[min(bisect_right(ends, start), len(ends) - 1)]:
            spelled = [length] + [0] * (len(places) - 1)  # within one word: its tokens need not be spelled as it is
        if sum(spelled) != length:
            return None
        for place, letters in zip(places, spelled, strict=True):
            last = start + letters - 1 if letters or place != places[0] else start  # a space alone belongs to what follows
            owner = bisect_right(ends, last)
            if owner == len(ends) or (letters and bisect_right(ends, start) != owner):
                return None
            owners[place], start = owner, start + letters
    return tuple(owners) if start == ends[-1] and set(owners) - {None} == set(range(len(words))) else None


@dataclass(frozen=True)
class AttendedWords:
    """Of each word of some sentences and of each head, the other word that gets most of its attention.

    Attention to a word is the sum over its tokens, and from it the mean (Clark et al. 2019, section 4.1). Special tokens and the
    word itself are left out. Positions are counted through the words of all sentences.

    numbers: of the sentences, among those that were to be read. starts: the position of the first word of each sentence, and at
    the end the number of all words. tokens: the position in its text of each word's first token. attended: the word's own
    position where the others get none. skipped: how many sentences were read that are not among them.
    """

    words: tuple[Word, ...]
    numbers: Int[np.ndarray, "sentence"]
    starts: Int[np.ndarray, "sentence_and_end"]
    tokens: Int[np.ndarray, "word"]
    attended: Int[np.ndarray, "layer head word"]
    weights: Float[np.ndarray, "layer head word"]
    skipped: int


class SentenceWords(NamedTuple):
    """Of one sentence, the parts of `AttendedWords`; attended within the sentence."""

    words: tuple[Word, ...]
    tokens: Sequence[int]
    attended: Int[np.ndarray, "layer head word"]
    weights: Float[np.ndarray, "layer head word"]


def join_sentences(read: Mapping[int, SentenceWords], skipped: int) -> AttendedWords | None:
    """Put sentences by their numbers into one record; None without any."""
    if not read:
        return None
    numbers = sorted(read)
    parts = [read[number] for number in numbers]
    starts = np.cumsum([0, *(len(one.words) for one in parts)])
    return AttendedWords(
        tuple(word for one in parts for word in one.words),
        np.array(numbers),
        starts,
        np.concatenate([one.tokens for one in parts]),
        np.concatenate([one.attended + np.int32(start) for one, start in zip(parts, starts, strict=False)], axis=-1),
        np.concatenate([one.weights for one in parts], axis=-1),
        skipped,
    )
