"""Blanks in a text: where they stand, how a word becomes one, and how one becomes a word again."""

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
class Part:
    """A word or a blank of a text, with its span in characters."""

    text: str
    start: int
    end: int
    blank: bool


def text_parts(text: str) -> tuple[Part, ...]:
    """List the words and the blanks in reading order; what is between them (spaces, punctuation) is left out."""
    kinds = list(map(_kind, text))
    found = []
    for blank in BLANK.finditer(text):
        found.append(Part(blank.group(), *blank.span(), blank=True))
        kinds[blank.start() : blank.end()] = " " * (blank.end() - blank.start())
    for word in _WORD.finditer("".join(kinds)):
        found.append(Part(text[slice(*word.span())], *word.span(), blank=False))
    return tuple(sorted(found, key=lambda part: part.start))


def _kind(character: str) -> str:
    """Tell a character of a word (w) from what may join two of them (') and from what parts words (a space)."""
    if character in "'’-":
        return "'"
    kind = unicodedata.category(character)
    between = character.isspace() or character in SIGNS or kind == "Cc" or kind[0] in "PZ"
    return " " if between else "w"


def replace_part(text: str, part: Part, written: str) -> str:
    """Write something else where a word or a blank stands."""
    return text[: part.start] + written + text[part.end :]


def carry_words(before: str, words: tuple[str, ...], after: str) -> tuple[str, ...]:
    """Keep the word behind each blank while the text around it changes; "" for a blank that is new.

    words: what stood at each blank of `before`. A blank is the same one while everything on its left,
    or everything on its right, is unchanged.
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
    """Write vocabulary entries into the text as a reader would: {number of the blank: id}; other blanks stay.

    ##ing joins the word before it, and closing punctuation stands at it; everything else keeps its space.
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
    """Put ids where one token stands, as many as there are; the text stays as it was typed."""

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
