"""Logit lens: layer-by-layer predictions of the model's own head, applied to every layer (nostalgebraist 2020)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from tx_core.analysis.probabilities import largest, probabilities
from tx_core.engine.engine import Engine
from tx_core.transformer.trace import Trace

LISTED_WORDS = 5


@dataclass(frozen=True)
class LayerPredictions:
    """The top predictions at one token after the embeddings (entry 0) and after each layer.

    answer: the top prediction of the last layer; probability, rank: in each layer, the rank among the whole vocabulary from 1.
    """

    place: int
    words: tuple[tuple[str, ...], ...]
    shares: Float[np.ndarray, "layer_and_embeddings rank"]
    answer: str
    probability: Float[np.ndarray, "layer_and_embeddings"]
    rank: Int[np.ndarray, "layer_and_embeddings"]


def logit_lens(engine: Engine, trace: Trace, place: int) -> LayerPredictions:
    """Apply the model's head to one token's vector in every layer.

    For a model that `predicts_next`, predictions are of the following token.

    trace: a run that kept "hidden". Raises ModelUnavailable as `Engine.early_scores` does.
    """
    scores = engine.early_scores(trace.hidden[:, place])
    shares = probabilities(scores)
    best = largest(shares, LISTED_WORDS)
    answer = int(best[-1, 0])
    rank = (scores > scores[:, answer, None]).sum(axis=-1) + 1
    tokenizer = engine.tokenizer
    words = tuple(tuple(tokenizer.word(entry) for entry in row) for row in best.tolist())
    return LayerPredictions(
        place, words, np.take_along_axis(shares, best, axis=-1), tokenizer.word(answer), shares[:, answer], rank
    )
