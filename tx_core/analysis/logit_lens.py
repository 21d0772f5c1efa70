"""What would the model answer after each layer? Its own head, applied before it is time (nostalgebraist 2020)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from tx_core.engine.engine import Engine
from tx_core.transformer.trace import Trace

MAX_LENS_TOP_K = 10


@dataclass(frozen=True)
class LayerPredictions:
    """The favourites at one token after the embeddings (entry 0) and after each layer, best first.

    answer: what the last layer puts first. probability, rank: how likely that is at each depth, and its place among
    the whole vocabulary, 1 being the first.
    """

    place: int
    words: tuple[tuple[str, ...], ...]
    shares: Float[np.ndarray, "layer_and_embeddings rank"]
    answer: str
    probability: Float[np.ndarray, "layer_and_embeddings"]
    rank: Int[np.ndarray, "layer_and_embeddings"]

    @property
    def nbytes(self) -> int:
        """The memory of the numbers and the words, in bytes."""
        return self.shares.nbytes + self.probability.nbytes + self.rank.nbytes + 100 * self.shares.size


def logit_lens(engine: Engine, trace: Trace, place: int, *, top_k: int = 5) -> LayerPredictions:
    """Read an answer off a token's vector at every depth; at the last it is the model's own.

    For a model that `predicts_next`, the answer is what follows the token. trace: a run of the same engine that kept
    "hidden"; ValueError without it. Raises ModelUnavailable as `Engine.early_scores` does.
    """
    if trace.hidden is None:
        raise ValueError('the trace must keep "hidden"')
    if not 0 <= place < trace.hidden.shape[1]:
        raise ValueError(f"place must be within 0 and {trace.hidden.shape[1] - 1}, got {place}")
    if not 1 <= top_k <= MAX_LENS_TOP_K:
        raise ValueError(f"top_k must be within 1 and {MAX_LENS_TOP_K}, got {top_k}")
    scores = engine.early_scores(trace.hidden[:, place])
    shares = scores.softmax(dim=-1)
    best = shares.topk(top_k)
    answer = int(best.indices[-1, 0])
    rank = (scores > scores[:, answer, None]).sum(dim=-1) + 1
    tokenizer = engine.tokenizer
    words = tuple(tuple(tokenizer.word(entry) for entry in row) for row in best.indices.tolist())
    return LayerPredictions(place, words, best.values.numpy(), tokenizer.word(answer), shares[:, answer].numpy(), rank.numpy())
