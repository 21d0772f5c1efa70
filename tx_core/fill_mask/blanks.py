"""Blanks in a text: finding them, turning words into blanks, and filling them."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tx_core.engine.tokenizer import BLANK, Tokenizer
from tx_core.transformer.trace import Encoding

NEW_BLANK = "[MASK]"
MAX_BLANKS = 10
CLOSING = re.compile(r"[.,;:!?%)\]}’”…。，！？、]")
SIGNS = "<>|~^`+=$"
_WORD = re.compile(r"w+(?:'+w+)*")


@dataclass(frozen=True)
class TextPart:
    """A word or a blank of a text. end: the character after the last."""

    text: str
    start: int
    end: int
    blank: bool


def text_parts(text: str) -> tuple[TextPart, ...]:
    """List the words and blanks of a text in reading order; spaces and punctuation are left out."""
    kinds = list(map(_kind, text))
    found = []
    for blank in BLANK.finditer(text):
        found.append(TextPart(blank.group(), *blank.span(), blank=True))
        kinds[blank.start() : blank.end()] = " " * (blank.end() - blank.start())
    for word in _WORD.finditer("".join(kinds)):
        found.append(TextPart(text[slice(*word.span())], *word.span(), blank=False))
    return tuple(sorted(found, key=lambda part: part.start))


def before_blank(text: str) -> str:
    """Return what stands before the first blank of a text, all of it where there is none: a model that writes has no blanks."""
    return BLANK.split(text)[0].rstrip() if BLANK.search(text) else text


def _kind(character: str) -> str:
    """Classify a character: w = of a word, ' = may join two words, space = separates words."""
    if character in "'’-":
        return "'"
    kind = unicodedata.category(character)
    between = character.isspace() or character in SIGNS or kind == "Cc" or kind[0] in "PZ"
    return " " if between else "w"


def replace_part(text: str, part: TextPart, written: str) -> str:
    """Replace a word or blank of a text."""
    return text[: part.start] + written + text[part.end :]


def carry_words(before: str, words: tuple[str, ...], after: str) -> tuple[str, ...]:
    """Carry the word behind each blank over to an edited text; "" for a new blank.

    A blank is the same one if everything on its left, or everything on its right, is unchanged.

    words: the words that stood at its blanks.
    """
    old, new = _spans(before), _spans(after)
    same_start = _common(before, after)
    same_end = min(_common(before[::-1], after[::-1]), min(len(before), len(after)) - same_start)
    kept = [""] * len(new)
    for number in range(min(len(old), len(new))):
        if old[number] == new[number] and new[number][1] <= same_start:
            kept[number] = words[number]
        start, was = new[-1 - number][0], old[-1 - number][0]
        if len(after) - start == len(before) - was <= same_end:
            kept[-1 - number] = words[-1 - number]
    return tuple(kept)


def _spans(text: str) -> list[tuple[int, int]]:
    return [blank.span() for blank in BLANK.finditer(text)]


def _common(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def fill_blanks(text: str, tokenizer: Tokenizer, fillers: Mapping[int, int]) -> str:
    """Fill blanks with vocabulary entries, {number of the blank: id}, spaced as a writer would; other blanks stay.

    ##ing is joined to the word before it, and so is closing punctuation.
    """
    written, done = "", 0
    for number, blank in enumerate(BLANK.finditer(text)):
        written += text[done : blank.start()]
        done = blank.end()
        if number not in fillers:
            written += blank.group()
            continue
        word = tokenizer.readable(fillers[number])
        if tokenizer.joins(fillers[number]) or CLOSING.fullmatch(word):
            written = written.rstrip()
        elif written and _kind(written[-1]) == "w":
            written += " "
        written += word
    return written + text[done:]


def widen_blank(encoding: Encoding, tokenizer: Tokenizer, place: int, ids: tuple[int, ...]) -> Encoding:
    """Replace one token of an encoding by any number of tokens; the typed text stays the same."""

    def spread(field: tuple, new: tuple) -> tuple:
        return (*field[:place], *new, *field[place + 1 :])

    put_in = spread(encoding.ids, ids)
    return replace(
        encoding,
        ids=put_in,
        tokens=spread(encoding.tokens, tuple(tokenizer.word(number) for number in ids)),
        segments=spread(encoding.segments, (encoding.segments[place],) * len(ids)),
        special=spread(encoding.special, (False,) * len(ids)),
        words=spread(encoding.words, (encoding.words[place],) * len(ids)),
        blanks=tuple(at for at, number in enumerate(put_in) if number == tokenizer.mask_id),
        unknown=tuple(at for at, number in enumerate(put_in) if number == tokenizer.unknown_id),
    )
