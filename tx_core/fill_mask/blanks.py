"""Blanks in a text: finding them, choosing one where none is written, turning words into blanks, and filling them."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tx_core.engine.tokenizer import BLANK, MAX_TEXT_CHARACTERS, Tokenizer
from tx_core.errors import TextProblem
from tx_core.transformer.trace import Encoding

NEW_BLANK = "[MASK]"
MAX_BLANKS = 10
CLOSING = re.compile(r"[.,;:!?%)\]}’”…。，！？、]")
SIGNS = "<>|~^`+=$"
_WORD = re.compile(r"w+(?:'+w+)*")
SHORT_BLANK = re.compile(r"(?<!\w)__?(?!\w)|(?<!\S)(?:\.{3,}|…)(?![^\s.,;:!?])")
"""What stands in the place of a word, where no blank is written otherwise: _, __, or dots between spaces."""
CLOSERS = " \t\n\"'’”»)]}"
"""What may stand behind the end of a sentence."""
NO_WORD = "There is no word in this text that the model could guess: write a sentence."
_LISTED = """
a about above after again ago all almost along already also always am among an and another any anybody anyone anything are
around as at away back be because been before behind being below beside between both but by can cannot could did do does
doing done down during each either else enough even ever every everybody everyone everything few for from had has have
having he her here hers herself him himself his how however i if in into is it its itself just least less like many may
maybe me might mine more most much must my myself near neither never no nobody none nor not nothing now of off often on once
one only onto or other others our ours ourselves out over own perhaps quite rather really same shall she should since so
some somebody someone something sometimes soon still such than that the their theirs them themselves then there these they
this those though through till to together too toward towards under until up upon us very was we well were what when where
whether which while who whom whose why will with within without would yes yet you your yours yourself
"""
FUNCTION_WORDS = frozenset(_LISTED.split())
"""English words that say little by themselves: a blank that is chosen for the reader is another word where there is one."""


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


@dataclass(frozen=True)
class ReadSentence:
    """A sentence as a model that fills blanks reads it.

    text: with its blanks. chosen: the word that was made the blank for the reader, by its number among the parts; None where the
    sentence has blanks of its own. closed: whether a full stop was added.
    """

    text: str
    chosen: int | None = None
    closed: bool = False


def read_sentence(typed: str, *, closes: bool = True) -> ReadSentence:
    """Return a sentence with a blank, and with a full stop where it has no end: without one, a last blank is filled with a sign.

    closes: whether a full stop may be added. What is too long stays as it is. Raises TextProblem for a text without a word.
    """
    if len(typed) > MAX_TEXT_CHARACTERS:
        return ReadSentence(typed)
    text, chosen = mark_blanks(typed), None
    parts = text_parts(text)
    words = [number for number, part in enumerate(parts) if any(map(str.isalnum, part.text))]  # signs and emoji are no words
    has_blank = any(part.blank for part in parts)
    if not words and not has_blank:
        raise TextProblem(NO_WORD)
    if not has_blank:
        chosen = _word_to_guess(parts, words)
        text = replace_part(text, parts[chosen], NEW_BLANK)
    closed = closes and (_kind(text.rstrip(CLOSERS)[-1]) == "w" or text_parts(text)[-1].end == len(text.rstrip()))
    return ReadSentence(f"{text.rstrip()}." if closed else text, chosen, closed)


def mark_blanks(typed: str) -> str:
    """Return a text with its short blanks written out, unless it has others."""
    return typed if BLANK.search(typed) else SHORT_BLANK.sub(NEW_BLANK, typed)


def _word_to_guess(parts: Sequence[TextPart], words: Sequence[int]) -> int:
    """Return the word to be blanked: the content word nearest the middle, of two the later one; else the longest word.

    words: which of the parts are words.
    """
    texts = {number: parts[number].text for number in words}
    content = [number for number, text in texts.items() if text.isalpha() and text.casefold() not in FUNCTION_WORDS]
    if content:
        return min(content, key=lambda number: (abs(2 * number - len(parts) + 1), -number))
    return max(words, key=lambda number: len(texts[number]))


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
