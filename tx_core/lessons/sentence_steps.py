"""One head's attention on a reader's own sentence, step by step, with the choices that a reader can make."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.steps import AttentionSteps, Projections, attention_steps, head_projections, random_projections
from tx_core.transformer.masks import causal_mask
from tx_core.transformer.normalise import NORMALISE, support
from tx_core.transformer.trace import Trace

Weights = Literal["trained", "random", "none"]


@dataclass(frozen=True)
class StepChoice:
    """What a reader chose: layer and head count from 0.

    weights: the head's own matrices, matrices drawn from `seed`, or no projections at all.
    normalise: a name in `normalise.NORMALISE`. causal: whether a token may look at later ones (False) or not (True).
    """

    layer: int
    head: int
    weights: Weights = "trained"
    seed: int = 0
    scaled: bool = True
    normalise: str = "softmax"
    causal: bool = False


@dataclass(frozen=True)
class SentenceSteps:
    """The steps, and what went into them beside the vectors."""

    choice: StepChoice
    steps: AttentionSteps
    projections: Projections | None
    mask: Bool[Tensor, "query key"] | None

    @property
    def share_to_itself(self) -> float:
        """How much of its attention a token gives to itself, averaged over all tokens."""
        return float(self.steps.weights.diagonal().mean())

    @property
    def greatest_share(self) -> float:
        """The greatest weight of a token's row, averaged over all tokens: 1 where attention is all on one token."""
        return float(self.steps.weights.amax(-1).mean())

    @property
    def greatest_share_scaled(self) -> float:
        """What `greatest_share` is with the division by √d, whether or not these steps divide."""
        scores = self.steps.masked / (self.steps.scale * math.sqrt(self.steps.query.shape[1]))
        return float(NORMALISE[self.choice.normalise](scores).amax(-1).mean())

    @property
    def tokens_looked_at(self) -> float:
        """How many tokens a token gives any weight at all, averaged over all tokens."""
        return float(support(self.steps.weights).double().mean())


def sentence_steps(engine: BertEngine, trace: Trace, choice: StepChoice) -> SentenceSteps:
    """Take the vectors that enter a layer and compute one head's attention on them.

    trace: a run of the same engine that kept "hidden". Raises ValueError without it.
    """
    if trace.hidden is None:
        raise ValueError('the trace must keep "hidden"')
    tokens = trace.attention.query_tokens.tokens
    vectors = torch.tensor(trace.hidden[choice.layer])
    projections = _projections(engine, vectors, choice)
    mask = causal_mask(len(tokens)) if choice.causal else None
    steps = attention_steps(tokens, vectors, projections, scaled=choice.scaled, mask=mask, normalise=NORMALISE[choice.normalise])
    return SentenceSteps(choice, steps, projections, mask)


def _projections(engine: BertEngine, vectors: Float[Tensor, "token hidden"], choice: StepChoice) -> Projections | None:
    hidden, heads = vectors.shape[1], engine.num_heads
    if choice.weights == "none":
        return None
    if choice.weights == "random":
        return random_projections(hidden, hidden // heads, choice.seed)
    trained = head_projections(engine.model.encoder.blocks[choice.layer].attention, choice.head)
    return Projections(**{name: part.cpu() for name, part in vars(trained).items()})
