"""Several blanks filled one after another: surest first, left to right, or in any order; each word is seen by those that follow.

So a masked-language model writes: Mask-Predict (Ghazvininejad et al. 2019), which fills several at a time, and LLaDA (Nie et al.
2025).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tx_core.analysis.probabilities import largest, log_probabilities
from tx_core.engine.engine import Engine
from tx_core.fill_mask.blanks import fill_blanks, widen_blank
from tx_core.fill_mask.predictions import blank_logits_in_batches, encode_with_blanks
from tx_core.transformer.trace import Encoding

MAX_ORDERED_BLANKS = 4
"""Blanks of a text whose every order is tried: 24 of them."""
Order = Literal["surest", "left"] | Sequence[int]
"""Surest first: the blank whose best word has the largest probability. Left to right. Or the blanks, counted from 0."""


@dataclass(frozen=True)
class FilledBlank:
    """One step: a blank, counted from 0, and the word that was most likely there, given those already in place."""

    number: int
    id: int
    word: str
    joins: bool
    probability: float


@dataclass(frozen=True)
class StepwiseFilling:
    """A text whose blanks were filled one after another.

    steps: in the order in which the blanks were filled. log_probability: the sum of the natural logarithms of the probabilities
    at the steps. pseudo_log_likelihood: of the finished text, see `sentence_likelihoods`.
    """

    steps: tuple[FilledBlank, ...]
    log_probability: float
    pseudo_log_likelihood: float
    sentence: str

    @property
    def order(self) -> tuple[int, ...]:
        """The blanks in the order in which they were filled."""
        return tuple(step.number for step in self.steps)


@dataclass(frozen=True)
class _State:
    row: Encoding
    places: tuple[int, ...]
    steps: tuple[FilledBlank, ...] = ()

    @property
    def left(self) -> list[int]:
        done = {step.number for step in self.steps}
        return [number for number in range(len(self.places)) if number not in done]


def fill_stepwise(engine: Engine, text: str, order: Order = "surest") -> StepwiseFilling:
    """Fill all blanks, one a step, each with the most likely word given those in place.

    Raises what `fill_mask.predict` raises, and ValueError for an order that does not name every blank once.
    """
    start = _start(engine, text)
    if not isinstance(order, str) and sorted(order) != start.left:
        raise ValueError(f"order must name each of the {len(start.places)} blanks once, got {tuple(order)}")
    state = start
    while left := state.left:
        (options,) = _next_steps(engine, [state])
        if order == "surest":
            step = max(options, key=lambda one: one.probability)
        else:
            number = left[0] if order == "left" else order[len(state.steps)]
            step = next(one for one in options if one.number == number)
        state = _taken(engine, state, step)
    return _finished(engine, text, [state])[0]


def fill_in_every_order(engine: Engine, text: str) -> tuple[StepwiseFilling, ...]:
    """Fill all blanks in every order, the orders sorted; texts in which the same words stand are run once.

    Raises what `fill_mask.predict` raises, and ValueError with more than MAX_ORDERED_BLANKS blanks.
    """
    start = _start(engine, text)
    if len(start.places) > MAX_ORDERED_BLANKS:
        raise ValueError(f"a text must have at most {MAX_ORDERED_BLANKS} blanks for every order, got {len(start.places)}")
    states = [start]
    for _ in start.places:
        found = zip(states, _next_steps(engine, states), strict=True)
        states = [_taken(engine, state, step) for state, options in found for step in options]
    return tuple(_finished(engine, text, states))


def named_orders(fillings: Sequence[StepwiseFilling]) -> dict[str, tuple[int, ...]]:
    """Return of all orders those that have a name: surest first, and left to right."""
    by_order = {one.order: one for one in fillings}
    surest: tuple[int, ...] = ()
    for at in range(len(fillings[0].steps)):
        begun = [one for one in fillings if one.order[:at] == surest]
        surest = max(begun, key=lambda one: one.steps[at].probability).order[: at + 1]
    return {"surest": surest, "left": min(by_order)}


def sentence_likelihoods(engine: Engine, rows: Sequence[Encoding]) -> list[float]:
    """Return for each text the sum of log p(token | all others), each token hidden in turn (Salazar et al. 2020, section 2).

    Special tokens are not counted. It compares texts of the same length; it is no probability of a text, and it favours words
    that repeat or predict one another.
    """
    hidden = [(number, place) for number, row in enumerate(rows) for place in range(len(row)) if not row.special[place]]
    masked = [
        replace(widen_blank(rows[number], engine.tokenizer, place, (engine.tokenizer.mask_id,)), blanks=(place,))
        for number, place in hidden
    ]
    sums = [0.0] * len(rows)
    answers = (logits[0] for batch in blank_logits_in_batches(engine, masked) for logits in batch)
    for (number, place), logits in zip(hidden, answers, strict=True):
        sums[number] += log_probabilities(logits)[rows[number].ids[place]].item()
    return sums


def _start(engine: Engine, text: str) -> _State:
    row = encode_with_blanks(engine, text)
    return _State(row, row.blanks)


def _next_steps(engine: Engine, states: Sequence[_State]) -> list[list[FilledBlank]]:
    """Return for each state the most likely word at each blank that is still empty."""
    different = {state.row.ids: state.row for state in states}
    answered = (rows for batch in blank_logits_in_batches(engine, list(different.values())) for rows in batch)
    found = dict(zip(different, answered, strict=True))
    return [[_best(engine, state, number, found[state.row.ids][at]) for at, number in enumerate(state.left)] for state in states]


def _best(engine: Engine, state: _State, number: int, logits: np.ndarray) -> FilledBlank:
    entry = int(largest(logits, 1)[0])
    tokenizer = engine.tokenizer
    joins = tokenizer.joins(entry, first=state.row.starts_sentence(state.places[number]))
    return FilledBlank(number, entry, tokenizer.readable(entry), joins, math.exp(log_probabilities(logits)[entry].item()))


def _taken(engine: Engine, state: _State, step: FilledBlank) -> _State:
    row = widen_blank(state.row, engine.tokenizer, state.places[step.number], (step.id,))
    return replace(state, row=row, steps=(*state.steps, step))


def _finished(engine: Engine, text: str, states: Sequence[_State]) -> list[StepwiseFilling]:
    different = {state.row.ids: state.row for state in states}
    likelihoods = dict(zip(different, sentence_likelihoods(engine, list(different.values())), strict=True))
    return [
        StepwiseFilling(
            state.steps,
            sum(math.log(step.probability) for step in state.steps),
            likelihoods[state.row.ids],
            fill_blanks(text, engine.tokenizer, {step.number: step.id for step in state.steps}),
        )
        for state in states
    ]
