"""Which words does a prediction depend on? Gradients of its log-probability with respect to the word vectors.

Both methods attribute one predicted word at one blank to the words of the text. Special tokens, positions and segments
are the same in the text and in the baseline.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tx_core.engine.engine import Engine, ScoreGradients
from tx_core.engine.progress import AT_ONCE_SECONDS, begin_runs, count_runs, run_seconds
from tx_core.errors import TextProblem
from tx_core.transformer.trace import Encoding

GradientsAt = Callable[[Float[np.ndarray, "step token embedding"]], ScoreGradients]
INTEGRATION_STEPS = 32
STEPS_AT_ONCE = 8


@dataclass(frozen=True)
class Attribution:
    """The contribution of each token to the log-probability (natural logarithm) of a word at a blank, or to what it has more than
    another word's.

    gradient_input: Gradient × input (Denil et al. 2014; Shrikumar et al. 2016). integrated: integrated gradients from the text
    with all words masked (Sundararajan et al. 2017), which sum to score − baseline but for the error of INTEGRATION_STEPS points.
    """

    encoding: Encoding
    place: int
    word: str
    gradient_input: Float[np.ndarray, "token"]
    integrated: Float[np.ndarray, "token"]
    score: float
    baseline: float


def attribute(engine: Engine, encoding: Encoding, place: int, word: int, against: int | None = None) -> Attribution:
    """Attribute a vocabulary entry at a blank to the words of the text. against: an entry whose log-probability is subtracted.

    Raises ModelUnavailable as `Engine.gradients` does.
    """
    if place not in encoding.blanks:
        raise ValueError(f"place must be one of the blanks {encoding.blanks}, got {place}")

    def gradients_at(inputs_embeds: Float[np.ndarray, "step token embedding"]) -> ScoreGradients:
        return engine.gradients(encoding, inputs_embeds, place, word, against)

    vectors, baseline = engine.embed(encoding.ids), engine.embed(masked_words(engine, encoding))
    ends = gradients_at(np.stack([vectors, baseline]))
    score, baseline_score = ends.scores.tolist()
    gradient_input = (ends.gradients[0] * vectors).sum(axis=-1)
    begin_runs(INTEGRATION_STEPS, attribution_seconds(engine, len(encoding)))
    integrated = integrated_gradients(gradients_at, vectors, baseline)
    return Attribution(encoding, place, engine.tokenizer.word(word), gradient_input, integrated, score, baseline_score)


def gradient_times_input(
    engine: Engine, encoding: Encoding, place: int, word: int, against: int | None = None
) -> Float[np.ndarray, "token"]:
    """Return `Attribution.gradient_input` alone, by one run in place of more than thirty."""
    vectors = engine.embed(encoding.ids)
    return (engine.gradients(encoding, vectors[None], place, word, against).gradients[0] * vectors).sum(axis=-1)


def attribution_seconds(engine: Engine, tokens: int) -> float:
    """Estimate how long integrated gradients of a text take: a run there and back takes as long as three."""
    return run_seconds(engine, tokens, 3 * INTEGRATION_STEPS)


def check_attribution_length(engine: Engine, encoding: Encoding) -> None:
    """Raise TextProblem if integrated gradients of a text would take longer than a page computes at once."""
    most = int(len(encoding) * AT_ONCE_SECONDS / attribution_seconds(engine, len(encoding)))
    if len(encoding) > most:
        excess = len(encoding) - most
        raise TextProblem(
            f"Integrated gradients run the model {INTEGRATION_STEPS} times forward and backward. For a model of this size "
            f"they are computed for at most {most:,} tokens, and this text has {len(encoding):,}: shorten it by {excess:,} "
            "tokens."
        )


def masked_words(engine: Engine, encoding: Encoding) -> list[int]:
    """Return the ids of a text with all its words masked: the baseline of integrated gradients."""
    mask = engine.tokenizer.mask_id
    return [entry if special else mask for entry, special in zip(encoding.ids, encoding.special, strict=True)]


def integrated_gradients(
    gradients_at: GradientsAt,
    vectors: Float[np.ndarray, "token embedding"],
    baseline: Float[np.ndarray, "token embedding"],
) -> Float[np.ndarray, "token"]:
    """Integrate the gradients along the straight line from the baseline to the vectors (Sundararajan et al. 2017, equation 1).

    The Gauss–Legendre rule integrates a smooth curve better than even steps do.
    """
    points, shares = np.polynomial.legendre.leggauss(INTEGRATION_STEPS)
    way = (vectors - baseline)[None]
    total = np.zeros_like(vectors)
    for start in range(0, INTEGRATION_STEPS, STEPS_AT_ONCE):
        along = ((points[start : start + STEPS_AT_ONCE] + 1) / 2).astype(vectors.dtype)
        weights = (shares[start : start + STEPS_AT_ONCE] / 2).astype(vectors.dtype)
        gradients = gradients_at(baseline + along[:, None, None] * way).gradients
        total += (weights[:, None, None] * gradients).sum(axis=0)
        count_runs(len(along))
    return (total * way[0]).sum(axis=-1)


def rank_agreement(one: Float[np.ndarray, "token"], other: Float[np.ndarray, "token"]) -> float:
    """Return the rank correlation of two orders of tokens: Kendall's τ-b, as in Jain & Wallace 2019, section 4.1.

    1 = the same order, 0 = no relation, −1 = the reverse; 0 where one side has no order.
    """
    first, second = (np.sign(side[:, None] - side[None]) for side in (one, other))
    ordered = np.sqrt((first**2).sum() * (second**2).sum())
    return float((first * second).sum() / ordered) if ordered else 0.0
