"""The results of a scan as one JSON file (format: README.md), and the merging of statistics of several parts.

A file may come from a stranger: its size is bounded, every number and text is validated, and nothing in it is executed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tx_core.analysis.patterns import PATTERN_KINDS, TARGETED_KINDS, PatternSums
from tx_core.analysis.table_file import FORMULA_SIGNS
from tx_core.corpus.sentence_file import (
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_LINES_NAMED,
    STRICT,
    LeftOut,
    Name,
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
MAX_LAYERS, MAX_HEADS = 200, 400
MAX_MATCHES = MAX_LAYERS * MAX_HEADS
MAX_SHARE = 1.001
"""Sums of attention in single precision may exceed 1 by rounding."""
MAX_NATS = 20.0
"""An upper bound of the entropy of a row: that of e²⁰ tokens."""

NOT_A_SCAN = "This file is no result of a scan. Choose a .json file that “python -m tx_core.corpus.scan” has written."
TOO_LARGE_SCAN = "This file has more than {most:,} bytes, and no more are read here."
NOT_FINISHED = "This scan is not finished: start its command again, and it goes on."
ALTERED = "This file was altered or cut off: {problem}."
WRONG_AXES = "{name} must have {expected} numbers along its axes, got {found}"
TOO_LARGE_NUMBER = "{name} must be at most {most:g}, got {found:g}"
WRONG_MATCH = "a match names sentence {number} of {count}, with a score of {score:g} of 1"
WRONG_COUNTS = "read and left out do not add up to the number of sentences"
WRONG_TEXT = "a sentence is {why}"
FORMULA = "a special token begins with a sign of formulas"
"""The first special token names a column of exported tables, which a spreadsheet may open."""
ONE_FILE, FILES = "{first}", "{first} and {more} more"

Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Kinds = Annotated[list[Number], Field(max_length=len(PATTERN_KINDS))]
Matches = Annotated[list[tuple[Number, WholeNumber]], Field(max_length=PLACES)]
Item = TypeVar("Item")
Heads = Annotated[list[Item], Field(min_length=1, max_length=MAX_HEADS)]
Layers = Annotated[list[Item], Field(min_length=1, max_length=MAX_LAYERS)]


class ScanPart(BaseModel):
    """Common configuration of all parts of the file: unknown fields are errors, values are not coerced."""

    model_config = STRICT | ConfigDict(frozen=True)


class ScanOrigin(ScanPart):
    """Input, model and version of a scan, which is resumed only if all of these are equal.

    Attributes:
        model, revision: As in the catalogue.
        version: Of this app.
        half: Whether it was computed in bfloat16.
        column: The requested column of Parquet files, "" for the default one.
        part_sentences: How many sentences were read together.
        files: In the order in which they were read.
    """

    model: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    revision: Name
    version: Name
    half: bool
    column: Name
    part_sentences: Annotated[int, Field(ge=1, lt=2**53)]
    files: Annotated[list[SourceFile], Field(min_length=1, max_length=MAX_FILES)]


class ExampleTokens(ScanPart):
    """The tokens of one sentence, with a mask of the special ones."""

    tokens: Annotated[list[Name], Field(min_length=1, max_length=100_000)]
    special: Annotated[list[bool], Field(min_length=1, max_length=100_000)]


class MatchedSentence(ScanPart):
    """A sentence with one of the highest scores of some head."""

    line: WholeNumber
    text: str


class ScanFile(ScanPart):
    """The JSON object of the file.

    Axes: layer, head, kind (of `kinds`, of all but the last one in given, chance and queries, or of `ranked`).

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
    left_out: Annotated[tuple[LeftOut, ...], Field(max_length=20)]
    unread: Annotated[tuple[LeftOut, ...], Field(max_length=20)]
    example: ExampleTokens | None
    kinds: list[Name]
    ranked: list[Name]
    given: Layers[Heads[Kinds]]
    chance: Kinds
    queries: Kinds
    votes: Layers[Heads[Kinds]]
    entropy: Layers[Heads[Number]]
    spread: Layers[Heads[Number]]
    distance: Layers[Heads[Number]]
    sentences: Annotated[list[MatchedSentence], Field(max_length=MAX_MATCHES)]
    matches: Layers[Heads[list[Matches]]]


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
        name: (getattr(first, name) * first.tokens + getattr(second, name) * second.tokens) / max(tokens, 1)
        for name in ("entropy", "spread", "distance")
    }
    return only_named(
        replace(
            first,
            sentences=sentences,
            total=first.total + second.total,
            read=first.read + second.read,
            tokens=tokens,
            seconds=first.seconds + second.seconds,
            sums=first.sums + second.sums,
            **means,
            strongest=first.strongest.joined(_renumbered_ranking(first, second)),
            left_out=sentences.left_out + _joined(first.unread, second.unread),
            example=first.example or second.example,
        )
    )


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
    renumbered = np.where(numbers < 0, -1, np.searchsorted(kept, numbers))
    texts, lines = (tuple(part[number] for number in kept) for part in (sentences.texts, sentences.lines))
    return replace(
        report,
        sentences=replace(sentences, texts=texts, lines=lines),
        strongest=Ranking(report.strongest.values, renumbered),
    )


def _joined(first: tuple[LeftOut, ...], second: tuple[LeftOut, ...]) -> tuple[LeftOut, ...]:
    found: dict[str, LeftOut] = {}
    for one in (*first, *second):
        before = found.get(one.why, LeftOut(one.why, 0, ()))
        found[one.why] = LeftOut(one.why, before.count + one.count, (before.lines + one.lines)[:MAX_LINES_NAMED])
    return tuple(found.values())


def write_scan(scan: CorpusScan) -> bytes:
    """Serialize a scan."""
    report, example = scan.report, scan.report.example
    arrays = {name: getattr(report.sums, name) for name in ("given", "chance", "queries", "votes")}
    arrays |= {name: getattr(report, name) for name in ("entropy", "spread", "distance")}
    sentences = zip(report.sentences.lines, report.sentences.texts, strict=True)
    written = ScanFile(
        format=SCAN_FORMAT,
        finished=scan.finished,
        parts=scan.parts,
        origin=scan.origin,
        **{name: getattr(report, name) for name in ("device", "total", "read", "tokens")},
        seconds=round(report.seconds, 3),
        left_out=report.sentences.left_out,
        unread=report.unread,
        example=example and ExampleTokens(tokens=list(example.tokens), special=list(example.special)),
        kinds=list(PATTERN_KINDS),
        ranked=list(RANKED_KINDS),
        **{name: array.tolist() for name, array in arrays.items()},
        sentences=[MatchedSentence(line=line, text=text) for line, text in sentences],
        matches=_matches(report.strongest),
    )
    return f"{written.model_dump_json()}\n".encode()


def _matches(strongest: Ranking) -> list[list[list[list[tuple[float, int]]]]]:
    """List the matches of each layer, head and kind, best first."""
    values, texts = strongest.values.tolist(), strongest.texts.tolist()
    return [
        [
            [[(score, number) for score, number in zip(*kind, strict=True) if number >= 0] for kind in zip(*head, strict=True)]
            for head in zip(*layer, strict=True)
        ]
        for layer in zip(values, texts, strict=True)
    ]


def read_scan(data: bytes) -> CorpusScan:
    """Parse a finished scan from an untrusted file.

    Raises:
        TextProblem: If it is too large, no result of a scan, not finished, cut off or altered.
    """
    if len(data) > MAX_FILE_BYTES:
        raise TextProblem(TOO_LARGE_SCAN.format(most=MAX_FILE_BYTES))
    scan = read_progress(data)
    if not scan.finished:
        raise TextProblem(NOT_FINISHED)
    return scan


def read_progress(data: bytes) -> CorpusScan:
    """Parse a scan of any size, finished or not.

    Raises:
        TextProblem: As `read_scan`.
    """
    if SCAN_FORMAT.encode() not in data[:200]:
        raise TextProblem(NOT_A_SCAN)
    try:
        file = ScanFile.model_validate_json(data)
        return CorpusScan(file.origin, file.parts, file.finished, _report(file))
    except ValidationError as broken:
        wrong = broken.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, wrong["loc"]))[:100]
        raise TextProblem(ALTERED.format(problem=f"{place}: {wrong['msg'][:200]}".removeprefix(": "))) from broken
    except ValueError as broken:
        raise TextProblem(ALTERED.format(problem=str(broken)[:300])) from broken


def _report(file: ScanFile) -> HeadReport:
    """Return the report, after the checks that types cannot express."""
    if (file.kinds, file.ranked) != (list(PATTERN_KINDS), list(RANKED_KINDS)):
        raise ValueError(f"kinds must be {', '.join(PATTERN_KINDS)}")
    if not file.finished <= (file.read > 0) or file.read + sum(one.count for one in file.unread) != file.total:
        raise ValueError(WRONG_COUNTS)
    if file.example and file.example.special[0] and file.example.tokens[0].startswith(FORMULA_SIGNS):
        raise ValueError(FORMULA)
    shape, example, sentences = (len(file.entropy), len(file.entropy[0])), file.example, _sentences(file)
    most = {"entropy": MAX_NATS, "spread": MAX_SHARE, "distance": float(max(file.tokens, 1))}
    means = {name: _numbers(name, getattr(file, name), shape, bound) for name, bound in most.items()}
    return HeadReport(
        model=file.origin.model,
        device=file.device,
        sentences=sentences,
        total=file.total,
        read=file.read,
        tokens=file.tokens,
        seconds=file.seconds,
        sums=_sums(file, shape),
        **means,
        strongest=_ranking(file, shape),
        left_out=sentences.left_out + file.unread,
        example=example and plain_encoding(example.tokens, [0] * len(example.tokens), example.special),
        half=file.origin.half,
    )


def _sentences(file: ScanFile) -> Sentences:
    for one in file.sentences:
        if why := why_unfit(one.text):
            raise ValueError(WRONG_TEXT.format(why=why))
    first, more = file.origin.files[0].name, len(file.origin.files) - 1
    return Sentences(
        source=(FILES if more else ONE_FILE).format(first=first, more=more),
        texts=tuple(one.text for one in file.sentences),
        lines=tuple(one.line for one in file.sentences),
        left_out=file.left_out,
        column=file.origin.column,
    )


def _sums(file: ScanFile, shape: tuple[int, int]) -> PatternSums:
    kinds, most = len(TARGETED_KINDS) + 1, MAX_SHARE * file.tokens
    return PatternSums(
        _numbers("given", file.given, (*shape, kinds), most),
        _numbers("chance", file.chance, (kinds,), most),
        _numbers("queries", file.queries, (kinds,), most),
        _numbers("votes", file.votes, (*shape, len(PATTERN_KINDS)), float(file.read)),
        file.read,
    )


def _ranking(file: ScanFile, shape: tuple[int, int]) -> Ranking:
    found, count = empty_ranking(*shape, len(RANKED_KINDS), PLACES), len(file.sentences)
    sizes = {len(layer) for layer in file.matches}, {len(head) for layer in file.matches for head in layer}
    if (len(file.matches), *sizes) != (shape[0], {shape[1]}, {len(RANKED_KINDS)}):
        raise ValueError(WRONG_AXES.format(name="matches", expected=(*shape, len(RANKED_KINDS)), found=sizes))
    for place in np.ndindex(*shape, len(RANKED_KINDS)):
        for number, (score, text) in enumerate(file.matches[place[0]][place[1]][place[2]]):
            if text >= count or score > MAX_SHARE:
                raise ValueError(WRONG_MATCH.format(number=text, score=score, count=count))
            found.values[(*place, number)], found.texts[(*place, number)] = score, text
    return found


def _numbers(name: str, given: list, shape: tuple[int, ...], most: float) -> np.ndarray:
    """Return an array of this shape of numbers up to `most`; raise ValueError for any other."""
    found = np.array(given, dtype=np.float64)
    if found.shape != shape:
        raise ValueError(WRONG_AXES.format(name=name, expected=shape, found=found.shape))
    if found.max() > most:
        raise ValueError(TOO_LARGE_NUMBER.format(name=name, most=most, found=found.max()))
    return found


def new_origin(model: str, *, half: bool, column: str, part_sentences: int, files: Sequence[SourceFile]) -> ScanOrigin:
    """Return the origin of a new scan, with the model's current revision and this app's version."""
    return ScanOrigin(
        model=model,
        revision=revision(model),
        version=app_version(),
        half=half,
        column=column,
        part_sentences=part_sentences,
        files=list(files),
    )
