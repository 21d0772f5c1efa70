"""The results of a scan as one JSON file (format: README.md), and the merging of statistics of several parts.

A file may come from a stranger: its size is bounded, every number and text is validated, and nothing in it is executed.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, FailFast, Field, PlainSerializer, PlainValidator, StringConstraints, ValidationError

from tx_core.analysis.patterns import PATTERN_KINDS, TARGETED_KINDS, PatternSums
from tx_core.corpus.sentence_file import (
    MAX_FILE_BYTES,
    STRICT,
    LeftOut,
    Name,
    Notes,
    Sentences,
    SourceFile,
    WholeNumber,
    why_unfit,
)
from tx_core.corpus.statistics import PLACES, RANKED_KINDS, HeadReport, Ranking, empty_ranking
from tx_core.engine.catalogue import revision
from tx_core.errors import TextProblem
from tx_core.settings import app_version
from tx_core.transformer.trace import plain_encoding

SCAN_FORMAT = "attention-explorer heads over sentences 1"
MEANS, SUMS = ("entropy", "spread", "distance"), ("given", "chance", "queries", "votes")
COUNTS = ("device", "total", "read", "tokens", "seconds")
MAX_SHARE = 1.001
"""Sums of attention in single precision may exceed 1 by rounding."""
MAX_NATS = 20.0
"""An upper bound of the entropy of a row: that of e²⁰ tokens."""
MOST_ERRORS = 100
MAX_HEADS = 8192
"""Of all layers together, as 128 layers of 64 heads have: with many more, a small file takes seconds to read."""

NOT_A_SCAN = "This file is no result of a scan. Choose a .json file that “python -m tx_core.corpus.scan” has written."
TOO_LARGE_SCAN = "This file has more than {most:,} bytes, and no more are read here."
NOT_FINISHED = "This scan is not finished: start its command again, and it goes on."
TOO_MANY_HEADS = "This model has {heads:,} heads. Choose one with {limit:,} at most: a scan of more could not be opened again."
ALTERED = "This file was altered or cut off."
WRONG_FIELD = " What is wrong: its field “{field}”."


def _array(numbers: Any) -> np.ndarray:
    """Return nested lists as an array; raise ValueError for anything but finite numbers from 0 on, as many along each axis."""
    found = np.array(numbers)  # of words, truth values, and numbers too large, these are of another kind
    if not found.size or found.dtype.kind not in "iuf" or not ((found >= 0) & np.isfinite(found)).all():
        raise ValueError("numbers must be finite, and 0 or more")
    return found.astype(np.float64)


Numbers = Annotated[np.ndarray, PlainValidator(_array), PlainSerializer(np.ndarray.tolist)]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Entry = TypeVar("Entry")
Listed = Annotated[list[Entry], FailFast()]  # one error is enough: a file of wrong entries would make millions
Matches = Annotated[Listed[tuple[Number, WholeNumber]], Field(max_length=PLACES)]
Reasons = Annotated[tuple[LeftOut, ...], Field(max_length=20)]


class ScanPart(BaseModel):
    """Common configuration of all parts of the file: unknown fields are errors, values are not coerced."""

    model_config = STRICT | ConfigDict(frozen=True, arbitrary_types_allowed=True)


class ScanOrigin(ScanPart):
    """Input, model (as in the catalogue) and version of this app of a scan, which is resumed only if all of these are equal.

    half: whether it was computed in bfloat16. column: the requested one of Parquet files, "" for the default. files: in the order
    in which they were read, `part_sentences` sentences together.
    """

    model: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    revision: Name
    version: Name
    half: bool
    column: Name
    part_sentences: Annotated[int, Field(ge=1, lt=2**53)]
    files: Annotated[list[SourceFile], Field(min_length=1)]


def new_origin(model: str, **options: Any) -> ScanOrigin:
    """Return the origin of a new scan, with the model's current revision and this app's version. options: the other fields."""
    return ScanOrigin(model=model, revision=revision(model), version=app_version(), **options)


class ExampleTokens(ScanPart):
    """The tokens of one sentence, with a mask of the special ones."""

    tokens: Annotated[list[Name], Field(min_length=1, max_length=100_000)]
    special: list[bool]


class MatchedSentence(ScanPart):
    """A sentence with one of the highest scores of some head."""

    line: WholeNumber
    text: str


class ScanFile(ScanPart):
    """The JSON object of the file. Axes: layer, head, kind (of `kinds`, but the last in given, chance and queries, or of
    `ranked`).

    matches: For each layer, head and ranked kind the strongest sentences, best first: a score, and the index in `sentences`.
    """

    format: Literal["attention-explorer heads over sentences 1"]
    finished: bool
    parts: WholeNumber
    origin: ScanOrigin
    device: Name
    total: WholeNumber
    read: WholeNumber
    tokens: WholeNumber
    seconds: Number
    left_out: Reasons
    unread: Reasons
    example: ExampleTokens | None
    kinds: list[Name]
    ranked: list[Name]
    given: Numbers
    chance: Numbers
    queries: Numbers
    votes: Numbers
    entropy: Numbers
    spread: Numbers
    distance: Numbers
    sentences: Listed[MatchedSentence]
    matches: Listed[Listed[Listed[Matches]]]


@dataclass(frozen=True)
class CorpusScan:
    """The statistics of the first `parts` parts of a corpus, or of all of it."""

    origin: ScanOrigin
    parts: int
    finished: bool
    report: HeadReport

    def with_part(self, report: HeadReport) -> "CorpusScan":
        """Return the scan with the next part merged in."""
        return replace(self, parts=self.parts + 1, report=merge_reports(self.report, report))


def merge_reports(first: HeadReport, second: HeadReport) -> HeadReport:
    """Return the statistics of two readings by one model as those of one, keeping only the sentences that a ranking names."""
    one, other, tokens = first.sentences, second.sentences, first.tokens + second.tokens
    left_out = _joined(one.left_out, other.left_out)
    sentences = replace(one, texts=one.texts + other.texts, lines=one.lines + other.lines, left_out=left_out)
    means = {
        name: (getattr(first, name) * first.tokens + getattr(second, name) * second.tokens) / max(tokens, 1) for name in MEANS
    }
    added = {name: getattr(first, name) + getattr(second, name) for name in ("total", "read", "tokens", "seconds", "sums")}
    merged = replace(
        first,
        sentences=sentences,
        strongest=first.strongest.joined(_renumbered_ranking(first, second)),
        left_out=left_out + _joined(first.unread, second.unread),
        example=first.example or second.example,
        **means,
        **added,
    )
    return only_named(merged)


def _renumbered_ranking(first: HeadReport, second: HeadReport) -> Ranking:
    """Return the second ranking, numbered after the first's sentences; a sentence in both keeps its first number and rank."""
    known = {text: number for number, text in enumerate(first.sentences.texts)}
    numbers = [known.get(text, len(first.sentences) + number) for number, text in enumerate(second.sentences.texts)]
    texts = np.array([*numbers, -1])[second.strongest.texts]  # the index −1 (no sentence) selects the appended −1
    repeated = (texts[..., :, None] == first.strongest.texts[..., None, :]).any(axis=-1)
    return Ranking(np.where(repeated, -np.inf, second.strongest.values), np.where(repeated, -1, texts))


def only_named(report: HeadReport) -> HeadReport:
    """Drop the sentences that no ranking names."""
    sentences, numbers = report.sentences, report.strongest.texts
    kept = np.unique(numbers[numbers >= 0])
    texts, lines = (tuple(part[number] for number in kept) for part in (sentences.texts, sentences.lines))
    renumbered = np.where(numbers < 0, -1, np.searchsorted(kept, numbers))
    kept_ranking = Ranking(report.strongest.values, renumbered)
    return replace(report, sentences=replace(sentences, texts=texts, lines=lines), strongest=kept_ranking)


def _joined(first: tuple[LeftOut, ...], second: tuple[LeftOut, ...]) -> tuple[LeftOut, ...]:
    notes = Notes()
    for one in (*first, *second):
        notes.note(one.why, *one.lines, count=one.count)
    return notes.all()


def write_scan(scan: CorpusScan) -> bytes:
    """Serialize a scan; raise TextProblem for one of more heads than `read_scan` takes."""
    report, example, sentences = scan.report, scan.report.example, scan.report.sentences
    if report.entropy.size > MAX_HEADS:
        raise TextProblem(TOO_MANY_HEADS.format(heads=report.entropy.size, limit=MAX_HEADS))
    matches = [
        [[_matches(*kind) for kind in zip(*head, strict=True)] for head in zip(*layer, strict=True)]
        for layer in zip(report.strongest.values.tolist(), report.strongest.texts.tolist(), strict=True)
    ]
    written = ScanFile(
        format=SCAN_FORMAT,
        finished=scan.finished,
        parts=scan.parts,
        origin=scan.origin,
        left_out=sentences.left_out,
        unread=report.unread,
        example=example and ExampleTokens(tokens=list(example.tokens), special=list(example.special)),
        kinds=list(PATTERN_KINDS),
        ranked=list(RANKED_KINDS),
        sentences=[MatchedSentence(line=line, text=text) for line, text in zip(sentences.lines, sentences.texts, strict=True)],
        matches=matches,
        **{name: getattr(report, name) for name in (*COUNTS, *MEANS)} | {"seconds": round(report.seconds, 3)},
        **{name: getattr(report.sums, name) for name in SUMS},
    )
    return f"{written.model_dump_json()}\n".encode()


def _matches(values: list[float], texts: list[int]) -> list[tuple[float, int]]:
    return [(score, number) for score, number in zip(values, texts, strict=True) if number >= 0]


def read_scan(data: bytes) -> CorpusScan:
    """Parse a finished scan from an untrusted file.

    Raises TextProblem if it is too large, no result of a scan, not finished, cut off or altered.
    """
    if len(data) > MAX_FILE_BYTES:
        raise TextProblem(TOO_LARGE_SCAN.format(most=MAX_FILE_BYTES))
    scan = read_progress(data)
    if not scan.finished:
        raise TextProblem(NOT_FINISHED)
    return scan


def read_progress(data: bytes) -> CorpusScan:
    """Parse a scan of any size, finished or not; raise TextProblem as `read_scan` does."""
    if SCAN_FORMAT.encode() not in data[:200]:
        raise TextProblem(NOT_A_SCAN)
    try:
        file = ScanFile.model_validate_json(data)
    except ValidationError as broken:
        few = broken.error_count() < MOST_ERRORS  # each costs time to write
        raise _altered(*(broken.errors()[0]["loc"][:1] if few else ())) from broken
    _check_fit(file)
    return CorpusScan(file.origin, file.parts, file.finished, _report(file))


def _altered(field: str = "") -> TextProblem:
    """Return the error for a file with a wrong field; a name that is not ours stays out of the message."""
    return TextProblem(ALTERED + WRONG_FIELD.format(field=field) * (field in ScanFile.model_fields))


def _check_fit(file: ScanFile) -> None:
    """Raise TextProblem where parts of a file, each valid in itself, do not fit each other."""
    heads, kinds, most = file.entropy.shape, (len(TARGETED_KINDS) + 1,), MAX_SHARE * file.tokens
    limits = {
        "entropy": (heads, MAX_NATS),
        "spread": (heads, MAX_SHARE),
        "distance": (heads, max(file.tokens, 1)),
        "given": ((*heads, *kinds), most),
        "chance": (kinds, most),
        "queries": (kinds, most),
        "votes": ((*heads, len(PATTERN_KINDS)), file.read),
    }
    for name, (shape, largest) in limits.items():
        found = getattr(file, name)
        if found.shape != shape or len(heads) != 2 or file.entropy.size > MAX_HEADS or found.max() > largest:
            raise _altered(name)
    sizes = {len(file.matches)}, {len(layer) for layer in file.matches}, {len(head) for layer in file.matches for head in layer}
    matches = [match for layer in file.matches for head in layer for kind in head for match in kind]
    fits = {
        "kinds": file.kinds == list(PATTERN_KINDS),
        "ranked": file.ranked == list(RANKED_KINDS),
        "read": file.finished <= (file.read > 0) and file.read + sum(one.count for one in file.unread) == file.total,
        "example": file.example is None or len(file.example.tokens) == len(file.example.special),
        "sentences": not any(why_unfit(one.text) for one in file.sentences),
        "matches": sizes == ({heads[0]}, {heads[1]}, {len(RANKED_KINDS)})
        and all(score <= MAX_SHARE and number < len(file.sentences) for score, number in matches),
    }
    for name, fit in fits.items():
        if not fit:
            raise _altered(name)


def _report(file: ScanFile) -> HeadReport:
    (first, *more), example = file.origin.files, file.example
    sentences = Sentences(
        source=f"{first.name} and {len(more)} more" if more else first.name,
        texts=tuple(one.text for one in file.sentences),
        lines=tuple(one.line for one in file.sentences),
        left_out=file.left_out,
        column=file.origin.column,
    )
    return HeadReport(
        model=file.origin.model,
        sentences=sentences,
        sums=PatternSums(*(getattr(file, name) for name in SUMS), file.read),
        strongest=_ranking(file),
        left_out=file.left_out + file.unread,
        example=example and plain_encoding(example.tokens, [0] * len(example.tokens), example.special),
        half=file.origin.half,
        **{name: getattr(file, name) for name in (*COUNTS, *MEANS)},
    )


def _ranking(file: ScanFile) -> Ranking:
    """Return the matches as a ranking."""
    found = empty_ranking(*file.entropy.shape, len(RANKED_KINDS), PLACES)
    for layer, head, kind in np.ndindex(found.values.shape[:3]):
        for place, match in enumerate(file.matches[layer][head][kind]):
            found.values[layer, head, kind, place], found.texts[layer, head, kind, place] = match
    return found
