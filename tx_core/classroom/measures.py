"""The measures of a lesson: how the right answer to a question is computed from the model that the lesson shows.

Imports no torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from tx_core.engine.engine import Engine
from tx_core.errors import LessonProblem
from tx_core.fill_mask.blanks import read_sentence
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.predictions import predict
from tx_core.fill_mask.word_scores import WordScore, score_next_word, score_words
from tx_core.transformer.interventions import Intervention, read_interventions

MAX_SHORT = 300
"""Limit in characters of a one-line text."""
Short = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_SHORT)]
HeadName = Annotated[str, StringConstraints(pattern=r"^\d{1,4}-\d{1,4}$")]
MeasureName = Literal[
    "top_word", "rank_of", "strongest_key", "strongest_cell", "attention_weight", "more_than_half", "head_with_largest_effect"
]
TOP_WORDS = 8
HALVES = ("more than half", "less than half")
"""The answers to `more_than_half`."""
MAX_CELL_TOKENS = 32
"""The most tokens of a text in a question about cells, so that each cell is large enough for a finger."""
NO_SUCH_TOKEN = "The model reads “{text}” without a token “{token}”. It has: {tokens}."
NO_SUCH_HEAD = "This model has no head {head}: it has {layers} layers of {heads} heads."


class LessonPart(BaseModel):
    """Common configuration of all parts of a lesson: unknown fields are errors, instances are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def without_empty(cls, fields: object) -> object:
        """Leave out a field that is null, which is an error where it is required, and an optional one that is empty."""
        if not isinstance(fields, Mapping):
            return fields
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {name: value for name, value in fields.items() if not (value is None or (value == "" and name in optional))}


class Measure(LessonPart):
    """The computation of the right answer by the model.

    head: layer and head, counted from 1, as "5-7". query: the token that attends, as the page shows it. word: the word whose rank
    is the answer. changes: interventions, as in an address: "off~5-7".
    """

    measure: MeasureName
    text: Short
    head: HeadName | None = None
    query: Short | None = None
    key: Short | None = None
    word: Short | None = None
    changes: Annotated[str, StringConstraints(max_length=MAX_SHORT)] = ""

    @model_validator(mode="after")
    def has_what_it_needs(self) -> "Measure":
        """Require the head, tokens or word that the measure needs."""
        if missing := [name for name in MEASURES[self.measure].needs if getattr(self, name) is None]:
            raise ValueError(f"{self.measure} needs {' and '.join(missing)}")
        return self


@dataclass(frozen=True)
class Answer:
    """The answer of the model. value: the share, weight or loss that makes it right. shares: the value of each option.

    rows, columns: where the options are cells of a drawing, its names; the options then go through it row by row.
    """

    right: str
    value: float
    options: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """The memory of its options and shares, in bytes, about."""
        return 200 + 120 * len(self.options)


def read_answer(kept: Mapping[str, object] | None) -> Answer | None:
    """Return the answer that a room keeps as JSON, which has made lists of tuples; None for none."""
    return Answer(**{name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()}) if kept else None


def compute_answer(engine: Engine, measure: Measure) -> Answer:
    """Compute a measure with a model.

    Raises LessonProblem for tokens, heads or changes that do not exist, and what the model raises for the text.
    """
    return MEASURES[measure.measure].compute(engine, measure)


def _top_word(engine: Engine, measure: Measure) -> Answer:
    """Return the top predictions at the first blank, or of a model that writes behind the text, with their probabilities."""
    best = predict(engine, read_text(engine, measure), top_k=TOP_WORDS, interventions=changes_of(measure)).blanks[0].predictions
    words, shares = tuple(each.word for each in best), tuple(each.probability for each in best)
    return Answer(words[0], shares[0], words, shares)


def _strongest_key(engine: Engine, measure: Measure) -> Answer:
    """Return the attention of one query to each key in one head; special tokens cannot be the answer."""
    tokens, row, special = _query_row(engine, measure)
    shown = [position for position in range(len(tokens)) if not special[position]]
    best = max(shown, key=lambda position: row[position])
    names = distinct_names(tokens)
    columns = tuple(names[position] for position in shown)
    shares = tuple(float(row[position]) for position in shown)
    return Answer(names[best], float(row[best]), columns, shares, (measure.query,), columns)


def _strongest_cell(engine: Engine, measure: Measure) -> Answer:
    """Return the cells of one head's map with their weights, without rows and columns of special tokens."""
    tokens, weights, special = _head_map(engine, measure)
    shown = [position for position in range(len(tokens)) if not special[position]]
    if len(shown) > MAX_CELL_TOKENS:
        raise LessonProblem(
            f"The model reads “{measure.text}” as {len(shown)} tokens. A question about a cell takes at most {MAX_CELL_TOKENS}: "
            "shorten the text.",
            "text",
        )
    names = distinct_names(tokens)
    axis = tuple(names[position] for position in shown)
    cells = weights[np.ix_(shown, shown)].ravel()
    options = tuple(f"{query} → {key}" for query in axis for key in axis)
    best = int(cells.argmax())
    return Answer(options[best], float(cells[best]), options, tuple(map(float, cells)), axis, axis)


def distinct_names(tokens: Sequence[str]) -> list[str]:
    """Return a unique name for each token: repeated ones get a number."""
    before = [tokens[:position].count(token) for position, token in enumerate(tokens)]
    return [f"{token} ({count + 1})" if count else token for token, count in zip(tokens, before, strict=True)]


def score_word(engine: Engine, measure: Measure, word: str) -> WordScore:
    """Score a word where `top_word` and `rank_of` predict: at the first blank, or of a model that writes behind the text."""
    changes = changes_of(measure)
    if engine.info.predicts_next:
        return score_next_word(engine, measure.text, word, interventions=changes)
    return score_words(engine, read_text(engine, measure), [word], interventions=changes)[0]


def read_text(engine: Engine, measure: Measure) -> str:
    """Return the text of a question about a blank as pages read it, with a blank and an end; as it is if the model writes on."""
    return measure.text if engine.info.predicts_next else read_sentence(measure.text).text


def _rank_of(engine: Engine, measure: Measure) -> Answer:
    """Return the rank of a word among the whole vocabulary, from 1."""
    score = score_word(engine, measure, measure.word)
    if score.rank is None:
        raise LessonProblem(
            f"The model has no rank for the word “{measure.word}” in “{measure.text}”: it is not one token of its vocabulary.",
            "word",
        )
    return Answer(str(score.rank), float(score.rank))


def _attention_weight(engine: Engine, measure: Measure) -> Answer:
    """Return the attention weight of one query and key in one head."""
    tokens, row, _special = _query_row(engine, measure)
    weight = float(row[_position(tokens, measure, "key")])
    return Answer(f"{weight:.2f}", weight)


def _more_than_half(engine: Engine, measure: Measure) -> Answer:
    """Return which of `HALVES` one query gives to one key in one head, of its attention in all."""
    weight = _attention_weight(engine, measure).value
    return Answer(HALVES[0] if weight > 0.5 else HALVES[1], weight)


def _head_with_largest_effect(engine: Engine, measure: Measure) -> Answer:
    """Return the total variation of the prediction that switching off each head causes."""
    scan = Scan(engine, read_text(engine, measure), interventions=changes_of(measure)).run()
    names = tuple(f"{layer + 1}-{head + 1}" for layer, head in np.ndindex(scan.variation.shape))
    shares = tuple(map(float, scan.variation.ravel()))
    best = int(scan.variation.argmax())
    layers, heads = scan.variation.shape
    return Answer(names[best], shares[best], names, shares, _numbers(layers), _numbers(heads))


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, count + 1))


@dataclass(frozen=True)
class MeasureRule:
    """How a measure is computed.

    compute: computes the answer with a model. needs: the fields of `Measure` that it requires, besides its text. of_attention:
    whether its numbers are attention weights, 0 to 1, which the map of the same view shows.
    """

    compute: Callable[[Engine, Measure], Answer]
    needs: tuple[str, ...] = ()
    of_attention: bool = False


MEASURES: dict[MeasureName, MeasureRule] = {
    "top_word": MeasureRule(_top_word),
    "rank_of": MeasureRule(_rank_of, ("word",)),
    "strongest_key": MeasureRule(_strongest_key, ("head", "query"), of_attention=True),
    "strongest_cell": MeasureRule(_strongest_cell, ("head",), of_attention=True),
    "attention_weight": MeasureRule(_attention_weight, ("head", "query", "key"), of_attention=True),
    "more_than_half": MeasureRule(_more_than_half, ("head", "query", "key"), of_attention=True),
    "head_with_largest_effect": MeasureRule(_head_with_largest_effect),
}
"""The measures of a lesson. What a page says of each: `MEASURE_TEXTS` in pages/ui/panels/question_kinds.py."""


def _query_row(engine: Engine, measure: Measure) -> tuple[tuple[str, ...], np.ndarray, tuple[bool, ...]]:
    """Return the tokens, the weights of the measure's query, and which tokens are special."""
    tokens, weights, special = _head_map(engine, measure)
    return tokens, weights[_position(tokens, measure, "query")], special


def _head_map(engine: Engine, measure: Measure) -> tuple[tuple[str, ...], np.ndarray, tuple[bool, ...]]:
    """Return the tokens, the weights of the measure's head, and which tokens are special; at least one is not."""
    layer, head = (int(number) - 1 for number in measure.head.split("-"))
    stack = engine.trace(measure.text, interventions=changes_of(measure)).attention
    layers, heads = stack.weights.shape[:2]
    if not (0 <= layer < layers and 0 <= head < heads):
        raise LessonProblem(NO_SUCH_HEAD.format(head=measure.head, layers=layers, heads=heads), "head")
    if all(stack.key_tokens.special):
        raise LessonProblem(f"The model reads “{measure.text}” as special tokens only. Give it a word.", "text")
    return stack.key_tokens.tokens, stack.weights[layer, head], stack.key_tokens.special


def _position(tokens: tuple[str, ...], measure: Measure, field: str) -> int:
    """Return the position of the token named in a field of a measure: “the” is the first such token, “the (2)” the second."""
    names, token = distinct_names(tokens), getattr(measure, field)
    if token not in names:
        raise LessonProblem(NO_SUCH_TOKEN.format(text=measure.text, token=token, tokens=", ".join(names)), field)
    return names.index(token)


def changes_of(measure: Measure) -> tuple[Intervention, ...]:
    """Return the interventions of a measure; raise LessonProblem where they cannot be read."""
    try:
        return read_interventions(measure.changes)
    except ValueError:
        raise LessonProblem(
            f"The changes “{measure.changes}” cannot be read: copy them from the address of a page.", "changes"
        ) from None
