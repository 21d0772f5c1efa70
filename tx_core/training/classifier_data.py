"""Labelled sentences: generated film reviews, or a visitor's CSV; IMDB is in `imdb`."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tx_core.analysis.table_file import csv_table
from tx_core.corpus.sentence_file import csv_rows, decode
from tx_core.errors import TextProblem

MIN_EXAMPLES, MAX_EXAMPLES, MAX_FILE_BYTES = 20, 20_000, 1_000_000
MAX_LABELS = 10
MAX_CHARACTERS = {"text": 5_000, "label": 40}

MADE_HERE, YOUR_FILE = "made from templates of this app", "your file"
TOO_FEW_EXAMPLES = "At least {least} examples are needed to train, there are {examples}."
WRONG_NUMBER_OF_LABELS = "Between 2 and {most} different labels are needed, there are {labels:,}."
LONELY_LABEL = "Every label needs 2 examples or more; “{label}” has one."
EXAMPLES_TOO_LARGE = "The file may have {most:,} bytes, this one has {bytes:,}: use fewer examples."
TOO_MANY_EXAMPLES = "The file may have {most:,} examples; this one has more."
WRONG_HEADER = "The file must be a CSV with a first line that names the columns text and label; this one begins with: {header}."
EMPTY_HEADER = "nothing"
WRONG_NUMBER_OF_COLUMNS = (
    "Line {line} of the file has {columns} columns, the first line has {expected}. Put quotation marks around texts that hold a "
    "separator."
)
WRONG_LENGTH = "The {column} in line {line} must have 1 to {most:,} characters, it has {characters:,}."


@dataclass(frozen=True)
class LabelledTexts:
    """Texts with labels (indices of `names`), split into training and test."""

    source: str
    names: tuple[str, ...]
    train_texts: tuple[str, ...]
    train_labels: tuple[int, ...]
    test_texts: tuple[str, ...]
    test_labels: tuple[int, ...]
    kind: Literal["opinions", "own", "imdb"] = "own"


# The templates were written for this project; the data set has no other source.


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split(", "))


_THINGS = _listed(
    "film, story, plot, acting, music, ending, script, camera work, dialogue, first half, second half, lead actor, leading "
    "lady, villain, costume design, pace, humour, whole thing, opening scene, final scene, cast, direction, picture, "
    "sequel, remake"
)
_GOOD = _listed(
    "good, wonderful, great, brilliant, moving, funny, clever, beautiful, superb, charming, fresh, gripping, delightful, "
    "touching, excellent, warm, witty, stunning, convincing, lively, memorable"
)
_BAD = _listed(
    "bad, dull, terrible, boring, awful, clumsy, predictable, flat, silly, tedious, weak, lifeless, messy, shallow, "
    "forgettable, slow, annoying, pointless, stale, wooden, dreadful"
)
_VERY = _listed("really, truly, quite, simply, surprisingly, at times, without doubt, honestly")
_LOVED = _listed(
    "I loved it, I would watch it again, I left with a smile, go and see it, it made my evening, I was never bored, do not "
    "miss it, it deserves every prize"
)
_HATED = _listed(
    "I hated it, I would not watch it again, I left before the end, stay at home, it ruined my evening, I was never moved, "
    "do not waste your time, it deserves no prize"
)

# For positive reviews; for negative ones {good} and {bad} are exchanged, and {loved} becomes what one says who hated
# it. The last frames need more than counting words: a turn, a negation, an error.
_FRAMES = (
    "the {thing} was {very} {good}",
    "a {good} {thing} and a {good2} {thing2}",
    "what a {good} {thing}, {loved}",
    "{loved}, the {thing} is {good}",
    "the {thing} is {good}, the {thing2} is {good2}",
    "{very} {good} from start to end, {loved}",
    "I expected a {bad} {thing} but it was {good}",
    "the {thing} was not {bad} at all",
    "the {thing} may be {bad}, but the {thing2} is so {good} that {loved}",
    "they told me that the {thing} was {bad}, they were wrong",
    "there was nothing {bad} in the {thing}",
    "the {thing} is never {bad} and always {good}",
    "{loved}",
    "a {thing} that is not {bad} but {good}",
    "the {good} {thing} made up for the {bad} {thing2}, {loved}",
)

_HELD_OUT_FRAMES = (
    "the {thing} is {very} {good} and {loved}",
    "nothing about the {thing} was {bad}",
    "never {bad}, always {good}: the {thing}",
)


@cache
def opinions(examples: int = 2400) -> LabelledTexts:
    """Generate short film reviews from templates, half positive and half negative, without duplicates.

    Four fifths are for training. A quarter of the test sentences have templates that no training sentence has, so that
    memorising fails there.
    """
    draw = random.Random(0)
    held_out = examples // 5
    usual = _distinct(draw, _FRAMES, examples - held_out // 4)
    new = _distinct(draw, _HELD_OUT_FRAMES, held_out // 4)
    train, test = usual[: examples - held_out], [*usual[examples - held_out :], *new]
    draw.shuffle(test)
    return LabelledTexts(MADE_HERE, ("negative", "positive"), *zip(*train, strict=True), *zip(*test, strict=True), "opinions")


def _distinct(draw: random.Random, frames: Sequence[str], count: int) -> list[tuple[str, int]]:
    """Make so many sentences, each with its label."""
    made: dict[str, int] = {}
    while len(made) < count:
        label = len(made) % 2
        made.setdefault(_sentence(draw, draw.choice(frames), label), label)
    return list(made.items())


def _sentence(draw: random.Random, frame: str, label: int) -> str:
    good, bad = (_GOOD, _BAD) if label else (_BAD, _GOOD)
    (thing, thing2), (good1, good2) = draw.sample(_THINGS, 2), draw.sample(good, 2)
    return frame.format(
        thing=thing,
        thing2=thing2,
        good=good1,
        good2=good2,
        bad=draw.choice(bad),
        very=draw.choice(_VERY),
        loved=draw.choice(_LOVED if label else _HATED),
    )


def split(source: str, texts: Sequence[str], labels: Sequence[str]) -> LabelledTexts:
    """Set a fifth of each label's examples aside for testing.

    Raises TextProblem for too few examples, one label only, too many labels, or a label with fewer than 2 examples.
    """
    counts = Counter(labels)
    names = tuple(sorted(counts))
    if counts.total() < MIN_EXAMPLES:
        raise TextProblem(TOO_FEW_EXAMPLES.format(least=MIN_EXAMPLES, examples=counts.total()))
    if not 2 <= len(names) <= MAX_LABELS:
        raise TextProblem(WRONG_NUMBER_OF_LABELS.format(most=MAX_LABELS, labels=len(names)))
    if rare := [name for name in names if counts[name] < 2]:
        raise TextProblem(LONELY_LABEL.format(label=rare[0]))
    places = list(range(len(texts)))
    random.Random(0).shuffle(places)
    held = {name: max(1, counts[name] // 5) for name in names}
    train, test = [], []
    for place in places:
        held[labels[place]] -= 1
        (test if held[labels[place]] >= 0 else train).append(place)
    number = {name: at for at, name in enumerate(names)}
    return LabelledTexts(
        source,
        names,
        tuple(texts[place] for place in train),
        tuple(number[labels[place]] for place in train),
        tuple(texts[place] for place in test),
        tuple(number[labels[place]] for place in test),
    )


def examples_csv(data: LabelledTexts) -> bytes:
    """Write texts, labels and their split as CSV."""
    parts = (("train", data.train_texts, data.train_labels), ("test", data.test_texts, data.test_labels))
    rows = [(text, data.names[label], part) for part, texts, labels in parts for text, label in zip(texts, labels, strict=True)]
    return csv_table({}, ("text", "label", "split"), rows)


def read_csv(data: bytes, name: str = YOUR_FILE) -> LabelledTexts:
    """Read texts and labels from a CSV and set a fifth aside for testing.

    The delimiter is a comma, semicolon or tab; the encoding UTF-8, UTF-16 with a byte order mark, or Windows-1252.

    Raises TextProblem, which names the line and the rule.
    """
    if len(data) > MAX_FILE_BYTES:
        raise TextProblem(EXAMPLES_TOO_LARGE.format(most=MAX_FILE_BYTES, bytes=len(data)))
    texts, labels = examples = [], []
    rows = csv_rows(decode(data))
    header = [column.strip().casefold() for column in next(rows, (0, []))[1]]
    if header.count("text") != 1 or header.count("label") != 1:
        raise TextProblem(WRONG_HEADER.format(header=", ".join(header)[:80] or EMPTY_HEADER))
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            raise TextProblem(WRONG_NUMBER_OF_COLUMNS.format(line=line, columns=len(row), expected=len(header)))
        for column, (kind, most) in zip(examples, MAX_CHARACTERS.items(), strict=True):
            cell = row[header.index(kind)].strip()
            if not 0 < len(cell) <= most:
                raise TextProblem(WRONG_LENGTH.format(column=kind, line=line, most=most, characters=len(cell)))
            column.append(cell)
        if len(texts) > MAX_EXAMPLES:
            raise TextProblem(TOO_MANY_EXAMPLES.format(most=MAX_EXAMPLES))
    return split(name, texts, labels)
