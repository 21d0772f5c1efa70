"""Sentences from a file: one per line, one per row in a column of a CSV, or those of a CoNLL-U file with their annotation.

Omitted lines are reported with the reason.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from io import BufferedIOBase, RawIOBase
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from tx_core.corpus.words import Word, read_conllu, split_words
from tx_core.engine.device_limits import device_limits
from tx_core.engine.engine import SENTENCES
from tx_core.engine.tokenizer import MAX_TEXT_CHARACTERS
from tx_core.errors import TextProblem

CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
"""Control characters that mark a file as binary: all but tab, form feed and line ends."""

MAX_CONTROL_SHARE = 0.01
"""The share of control characters above which a file is rejected as not text."""

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

NO_TEXT = "not text that can be read. Save it as plain text in UTF-8"

MAX_FILE_BYTES = 5_000_000

NO_DELIMITER = "\x1f"  # the unit separator cannot occur: files with control characters were rejected before


def decode(data: bytes) -> str:
    """Decode UTF-8, UTF-16 with a byte order mark, or Windows-1252, a superset of printable Latin-1.

    Raises TextProblem for anything else: images, archives, office documents.
    """
    for encoding in ("utf-16",) if data[:2] in UTF16_MARKS else ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text and len(CONTROL.findall(text)) <= MAX_CONTROL_SHARE * len(text):
            return text
        break
    raise TextProblem(f"This file is {NO_TEXT}.")


def csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every row, empty ones too, with the number of its last line.

    The delimiter is the comma, semicolon or tab that is most frequent in the first line; without any the table has one column.

    Raises TextProblem if the file is not valid CSV; names the line.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max("\t;,", key=first.count) if any(sign in first for sign in ",;\t") else NO_DELIMITER
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as broken:
        raise TextProblem(f"Line {rows.line_num} of the file is no CSV: {broken}. Is a quotation mark open?") from broken


MAX_TABLE_COLUMNS = 100
MAX_LINES_NAMED = 100
COLUMN_NAMES = ("sentence", "sentences", "text")
ANNOTATED = SENTENCES.with_suffix(".conllu")
EMBEDDED_SOURCE = "written for this app, in everyday English"

LEFT_OUT = "Left out: {reasons}."
LEFT_OUT_LINE = "1 line, {why} (line {lines})"
LEFT_OUT_LINES = "{count:,} lines, {why} (lines {lines})"
LEFT_OUT_MANY_LINES = "{count:,} lines, {why} (lines {lines} and {rest:,} more)"
EMPTY = "empty"
LINE_TOO_LONG = "longer than {most:,} characters"
CONTROL_CHARACTERS = "with control characters in it"
WRONG_COLUMNS = "without the {columns} columns of the first line"


STRICT = ConfigDict(extra="forbid", strict=True)
"""Of a record that is read from a file: unknown fields are errors, values are not coerced."""
WholeNumber = Annotated[int, Field(ge=0, lt=2**53)]
Name = Annotated[str, StringConstraints(max_length=300)]


@dataclass(frozen=True)
class SourceFile:
    """A file at the start of a reading, to detect changes when it is resumed: size in bytes, time of change in nanoseconds."""

    __pydantic_config__ = STRICT

    name: Name
    size: WholeNumber
    changed: int


@dataclass(frozen=True)
class LeftOut:
    """Lines that were left out for one reason: how many, and the numbers of the first MAX_LINES_NAMED."""

    __pydantic_config__ = STRICT

    why: Name
    count: WholeNumber
    lines: Annotated[tuple[WholeNumber, ...], Field(max_length=MAX_LINES_NAMED)]


@dataclass
class Notes:
    """Omitted lines by reason, in bounded memory."""

    _found: dict[str, LeftOut] = field(default_factory=dict)

    def note(self, why: str, *lines: int, count: int = 1) -> None:
        """Record some lines, of `count` in all."""
        before = self._found.get(why, LeftOut(why, 0, ()))
        self._found[why] = LeftOut(why, before.count + count, (before.lines + lines)[:MAX_LINES_NAMED])

    def all(self) -> tuple[LeftOut, ...]:
        """List the reasons in order of appearance, with ascending line numbers."""
        return tuple(replace(one, lines=tuple(sorted(one.lines))) for one in self._found.values())


@dataclass(frozen=True)
class Sentences:
    """Sentences read from a file.

    lines: the line of each in the file, counted from 1. columns: the columns of a CSV; empty for plain text. column: the column
    that was read; "" for plain text. annotated: the words of annotated sentences, by their texts.
    """

    source: str
    texts: tuple[str, ...]
    lines: tuple[int, ...]
    left_out: tuple[LeftOut, ...]
    columns: tuple[str, ...] = ()
    column: str = ""
    annotated: Mapping[str, tuple[Word, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def fingerprint(self) -> str:
        """What tells texts and annotation from those of other files, which may have the same name."""
        return sha256(repr((self.texts, self.annotated)).encode("utf-8", "replace")).hexdigest()

    def words_of(self, number: int) -> tuple[Word, ...]:
        """Return the words of a sentence, as they are annotated or as a plain text has them."""
        return self.annotated.get(self.texts[number]) or split_words(self.texts[number])


def read_sentences(file: BufferedIOBase | RawIOBase, name: str = "", column: str = "", device: str = "cpu") -> Sentences:
    """Read sentences from a text file, from a table if its name ends in .csv or .tsv, or as CoNLL-U if it ends in .conllu.

    name: by default that under which the file was opened. column: of a table; by default the one named sentence or text, else the
    first. device: the device that computes, which limits the number of sentences.

    Raises TextProblem if the file is too large, not text, or has no sentence.
    """
    name, data = name or Path(file.name).name, file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise TextProblem(f"The file has more than {MAX_FILE_BYTES:,} bytes: split it, or use a part of it.")
    if not data.strip():
        raise TextProblem("The file is empty: put one sentence on each line.")
    text, notes = decode(data), Notes()
    columns, found, annotated = (), "", {}
    if Path(name).suffix.casefold() == ".conllu":
        trees = [(number, " ".join(word.form for word in words), words) for number, words in read_conllu(text)]
        annotated = {sentence: words for _, sentence, words in trees}
        rows = ((number, sentence) for number, sentence, _ in trees)
    elif Path(name).suffix.casefold() in (".csv", ".tsv"):
        columns, found, rows = _column(text, column, notes)
    else:
        rows = enumerate((line.rstrip("\n") for line in io.StringIO(text, newline=None)), 1)
    texts, numbers = _fit(rows, notes, device_limits(device).sentences)
    if not texts:
        raise TextProblem(f"There is no sentence in this file that can be read. {describe_left_out(notes.all())}")
    kept = {sentence: annotated[sentence] for sentence in texts if sentence in annotated}
    return Sentences(name, tuple(texts), tuple(numbers), notes.all(), columns, found, kept)


def _fit(rows: Iterable[tuple[int, str]], notes: Notes, limit: int) -> tuple[list[str], list[int]]:
    """Return the readable sentences and their line numbers; record the others with the reason."""
    texts, numbers = [], []
    for number, written in rows:
        sentence = written.strip()
        if why := why_unfit(sentence):
            notes.note(why, number)
            continue
        texts.append(sentence)
        numbers.append(number)
        if len(texts) > limit:
            raise TextProblem(f"The file has more than {limit:,} sentences: split it, or use a part of it.")
    return texts, numbers


@cache
def embedded_sentences() -> Sentences:
    """Return the sentences that ship with the app, of which many are annotated."""
    with SENTENCES.open("rb") as file, ANNOTATED.open("rb") as annotated:
        plain, trees = read_sentences(file, EMBEDDED_SOURCE), read_sentences(annotated, ANNOTATED.name).annotated
    texts = {text.replace(" ", ""): text for text in plain.texts}
    return replace(plain, annotated={texts[spaced.replace(" ", "")]: words for spaced, words in trees.items()})


def describe_left_out(left_out: tuple[LeftOut, ...]) -> str:
    """Describe the omitted lines: count, reason and first numbers; "" for none."""
    reasons = []
    for one in left_out:
        rest, lines = one.count - len(one.lines), ", ".join(f"{line:,}" for line in one.lines)
        template = LEFT_OUT_LINE if one.count == 1 else LEFT_OUT_MANY_LINES if rest else LEFT_OUT_LINES
        reasons.append(template.format(count=one.count, why=one.why, lines=lines, rest=rest))
    return LEFT_OUT.format(reasons="; ".join(reasons)) if reasons else ""


def why_unfit(sentence: str) -> str:
    """Return why a sentence cannot be used, "" if it can."""
    if not sentence:
        return EMPTY
    if len(sentence) > MAX_TEXT_CHARACTERS:
        return LINE_TOO_LONG.format(most=MAX_TEXT_CHARACTERS)
    return CONTROL_CHARACTERS if CONTROL.search(sentence) else ""


def _column(text: str, wanted: str, notes: Notes) -> tuple[tuple[str, ...], str, Iterator[tuple[int, str]]]:
    """Return the names of the columns, the one to read, and its cells."""
    rows = csv_rows(text)
    columns = _names(next((row for _, row in rows if any(cell.strip() for cell in row)), []))
    folded = [name.casefold() for name in columns]
    usual = [name for name in COLUMN_NAMES if name in folded]
    if wanted and wanted not in columns:
        raise TextProblem(f"The file has no column named {wanted[:80]!r}: its first line names {', '.join(columns)[:200]}.")
    place = columns.index(wanted) if wanted else folded.index(usual[0]) if usual else 0

    def cells() -> Iterator[tuple[int, str]]:
        for number, row in rows:
            if len(row) == len(columns):
                yield number, row[place]
            elif any(cell.strip() for cell in row):
                notes.note(WRONG_COLUMNS.format(columns=len(columns)), number)
            else:
                yield number, ""

    return columns, columns[place], cells()


def _names(first: list[str]) -> tuple[str, ...]:
    """Return the names of the columns from the first line; missing or repeated names are replaced by the column's number."""
    if not first:
        raise TextProblem("The file has no line with the names of its columns: put them into the first line.")
    if len(first) > MAX_TABLE_COLUMNS:
        raise TextProblem(
            f"The file has {len(first):,} columns, and at most {MAX_TABLE_COLUMNS} can be chosen from: leave some out."
        )
    names: list[str] = []
    for number, name in enumerate((cell.strip() for cell in first), 1):
        names.append(name if name and name not in names else f"column {number}")
    return tuple(names)
