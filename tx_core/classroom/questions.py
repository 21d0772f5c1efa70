"""The questions of a lesson: their kinds, how a guess compares with the model's answer, and how a class's guesses are counted.

A kind is one entry of `QUESTION_KINDS`. How it looks: `QUESTION_VIEWS` in pages/ui/panels/question_kinds.py. Imports no torch.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from tx_core.classroom.measures import Answer, LessonPart, Measure, MeasureName, Short, score_word
from tx_core.engine.engine import Engine

MAX_ANSWERS, BINS = 8, 8
"""The most answers, and the most ranges of numbers, into which a class is counted."""
RANGE = "{low} to {high}"


@dataclass(frozen=True)
class Verdict:
    """The result of comparing a guess with the answer. share, rank: the model's, from 1; None where it has none."""

    guess: str
    right: bool
    share: float | None = None
    rank: int | None = None


@dataclass(frozen=True)
class AnswerCount:
    """How many of a class gave an answer, or a number in a range.

    share: the model's value of it. first: how many before a discussion.
    """

    answer: str
    count: int
    share: float | None = None
    right: bool = False
    first: int = 0


def name_of_guess(guess: str) -> str:
    """Return a guess without surplus spaces."""
    return " ".join(guess.split())


def is_same_name(question: "Question", answer: Answer, guess: str) -> bool:
    """Return whether a guess is the right one, whatever its capitals and spaces."""
    return name_of_guess(guess).casefold() == answer.right.casefold()


def is_near(question: "Question", answer: Answer, guess: str) -> bool:
    """Return whether a guess is a number within the tolerance of the question."""
    number = guessed_number(guess)
    return number is not None and abs(number - answer.value) <= question.tolerance


def guessed_number(guess: str) -> float | None:
    """Return a guess as a number of a size that can be drawn; None for any other."""
    try:
        number = float(guess.replace(",", "."))
    except ValueError:
        return None
    return number if abs(number) < 1e9 else None


Guesses = Sequence[str]


def count_in_order(question: "Question", answer: Answer | None, guesses: Guesses, first: Guesses = ()) -> list[AnswerCount]:
    """Count the guesses of each option, in the order in which they were offered. first: those of before a discussion."""
    names, _ = count_names([*guesses, *first], _offered(question, answer))
    kept = [option.casefold() for option in question.options] or list(names)
    return _counts(kept, names, guesses, first, answer)


def count_most_frequent(question: "Question", answer: Answer | None, guesses: Guesses, first: Guesses = ()) -> list[AnswerCount]:
    """Count the most frequent guesses; what the model answers takes the last place where it is not among them."""
    names, counts = count_names([*guesses, *first], _offered(question, answer))
    shares = shares_by_name(answer)
    kept = sorted(counts, key=lambda name: (-counts[name], -shares.get(name, 0.0)))[:MAX_ANSWERS]
    if answer is not None and (right := answer.right.casefold()) not in kept:
        kept = [*kept[: MAX_ANSWERS - 1], right]
    return _counts(kept, names, guesses, first, answer)


def count_in_ranges(question: "Question", answer: Answer | None, guesses: Guesses, first: Guesses = ()) -> list[AnswerCount]:
    """Count the guessed numbers in equal ranges, one of which holds the model's number where there is one."""
    numbers, before = ([one for guess in sent if (one := guessed_number(guess)) is not None] for sent in (guesses, first))
    held = [*numbers, *before, *([answer.value] if answer else [])]
    if not held:
        return []
    edges = round_edges(min(held), max(held))
    counts, firsts = (np.histogram(sent, edges)[0] for sent in (numbers, before))
    place = min(int(np.searchsorted(edges, answer.value, side="right")) - 1, len(counts) - 1) if answer else None
    labels = [RANGE.format(low=f"{low:.3g}", high=f"{high:.3g}") for low, high in pairwise(edges)]
    return [
        AnswerCount(label, int(count), right=at == place, first=int(earlier))
        for at, (label, count, earlier) in enumerate(zip(labels, counts, firsts, strict=True))
    ]


def count_names(guesses: Sequence[str], known: Sequence[str] = ()) -> tuple[dict[str, str], Counter[str]]:
    """Count guesses whatever their capitals and spaces: the spelling of each, known or the first, and how many there are."""
    written = [name_of_guess(guess) for guess in guesses]
    names: dict[str, str] = {}
    for name in [*known, *written]:
        names.setdefault(name.casefold(), name)
    return names, Counter(name.casefold() for name in written)


def count_places(answer: Answer | None, guesses: Sequence[str]) -> list[tuple[int, int]] | None:
    """Count the guesses of each option that somebody guessed, by its place; None for an answer without rows and columns."""
    if answer is None or not answer.options or len(answer.options) != len(answer.rows) * len(answer.columns):
        return None
    places = {name: place for place, name in enumerate(answer.options)}
    return sorted(Counter(places[guess] for guess in guesses if guess in places).items())


def round_edges(low: float, high: float) -> np.ndarray:
    """Cut the numbers from low to high into at most BINS ranges that end at round numbers."""
    span = max(high - low, 1e-6 * max(1.0, abs(high)))
    power = 10.0 ** np.floor(np.log10(span / (BINS - 1)))
    width = next(width for width in power * np.array([1, 2, 5, 10]) if width * (BINS - 1) >= span)
    first, last = np.floor(low / width), max(np.ceil(high / width), np.floor(low / width) + 1)
    return np.round(np.arange(first, last + 1) * width, 12)


def shares_by_name(answer: Answer | None) -> dict[str, float]:
    """Return the model's value of each option, by its name in small letters; of two that are alike, the first one's."""
    pairs = zip(answer.options, answer.shares, strict=True) if answer else ()
    return {name.casefold(): share for name, share in reversed(list(pairs))}


def _offered(question: "Question", answer: Answer | None) -> list[str]:
    return [*question.options, *(answer.options if answer else ())]


def _counts(
    kept: Sequence[str], names: dict[str, str], guesses: Guesses, first: Guesses, answer: Answer | None
) -> list[AnswerCount]:
    shares, right = shares_by_name(answer), answer.right.casefold() if answer else None
    (_, counts), (_, before) = count_names(guesses), count_names(first)
    return [AnswerCount(names.get(name, name), counts[name], shares.get(name), name == right, before[name]) for name in kept]


@dataclass(frozen=True)
class QuestionKind:
    """How a kind of question is answered.

    count: counts the guesses of a class; None for texts, which are to be discussed. needs_answer: whether it must have a right
    answer; without one, it is a vote or to be discussed. any_word: whether the model gives a value to a guess that is none of the
    listed options. fields: the fields of `Question` that are for this kind.
    """

    measures: tuple[MeasureName, ...]
    count: Callable[["Question", Answer | None, Guesses, Guesses], list[AnswerCount]] | None
    is_right: Callable[["Question", Answer, str], bool] = is_same_name
    needs_answer: bool = True
    any_word: bool = False
    fields: tuple[Literal["options", "tolerance"], ...] = ()


QUESTION_KINDS: dict[str, QuestionKind] = {
    "word": QuestionKind(("top_word",), count_most_frequent, any_word=True),
    "token": QuestionKind(("strongest_key",), count_in_order),
    "cell": QuestionKind(("strongest_cell",), count_most_frequent),
    "choice": QuestionKind(
        ("top_word", "strongest_key", "more_than_half"), count_in_order, needs_answer=False, fields=("options",)
    ),
    "head": QuestionKind(("head_with_largest_effect",), count_most_frequent),
    "number": QuestionKind(("rank_of", "attention_weight"), count_in_ranges, is_near, fields=("tolerance",)),
    "open": QuestionKind((), None, needs_answer=False),
}
Kind = Literal[*QUESTION_KINDS]


class Question(LessonPart):
    """A question asked before the view is shown.

    kind: how it is answered: a key of `QUESTION_KINDS`. options: the choices, for a kind that has any. tolerance: how far a
    number may be off. answer: how the right answer is computed; None for an open question or a vote, which are to be discussed.
    """

    ask: Short
    kind: Kind
    options: Annotated[tuple[Short, ...], Field(max_length=8)] = ()
    tolerance: Annotated[float, Field(ge=0, le=1e6)] = 0.1
    answer: Measure | None = None

    @model_validator(mode="after")
    def can_be_answered(self) -> "Question":
        """Require options for a choice, and a measure that fits the kind of question."""
        kind = QUESTION_KINDS[self.kind]
        if ("options" in kind.fields) != (len(self.options) >= 2):
            raise ValueError("a choice needs two to eight options, and no other kind has any")
        if self.answer and self.answer.measure not in kind.measures:
            raise ValueError(f"{self.answer.measure} does not answer a question of the kind {self.kind}")
        if not self.answer and kind.needs_answer:
            raise ValueError(f"a question of the kind {self.kind} needs an answer that is measured")
        return self


def count_right(question: Question, answer: Answer | None, guesses: Guesses) -> int | None:
    """Count the right guesses; None where there is no right one."""
    is_right = QUESTION_KINDS[question.kind].is_right
    return sum(is_right(question, answer, guess) for guess in guesses) if answer else None


def normalised_gain(first: float, last: float) -> float | None:
    """Return which share of what could be gained was (Hake 1998, equation 1); None where all was right before.

    first, last: shares of right guesses, before and after.
    """
    return (last - first) / (1 - first) if first < 1 else None


def grade(engine: Engine, question: Question, answer: Answer, guess: str) -> Verdict:
    """Compare a guess with the answer to the question."""
    kind, typed = QUESTION_KINDS[question.kind], name_of_guess(guess)
    right = kind.is_right(question, answer, guess)
    share = shares_by_name(answer).get(typed.casefold())
    if share is not None:
        return Verdict(typed, right, share, 1 + sum(other > share for other in answer.shares))
    if kind.any_word and typed:
        score = score_word(engine, question.answer, typed)
        return Verdict(typed, right, score.probability, score.rank)
    return Verdict(typed, right)
