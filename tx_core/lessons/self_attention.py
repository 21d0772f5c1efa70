"""Self-attention step by step, with every intermediate tensor, on given vectors and on a sentence."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.device import sole_use
from tx_core.transformer.attention import NORMALISE, Normalise, attention_scores, attention_weights, causal_mask, softmax, support
from tx_core.transformer.trace import Trace


@dataclass(frozen=True)
class Projections:
    """The query, key and value matrices of one head with their biases, for x W + b."""

    query: Float[Tensor, "hidden head_dim"]
    key: Float[Tensor, "hidden head_dim"]
    value: Float[Tensor, "hidden head_dim"]
    query_bias: Float[Tensor, "head_dim"] | None = None
    key_bias: Float[Tensor, "head_dim"] | None = None
    value_bias: Float[Tensor, "head_dim"] | None = None


def random_projections(hidden: int, head_dim: int, seed: int) -> Projections:
    """Initialise a head uniformly within ±√(6 / (hidden + head_dim)) (Glorot & Bengio 2010)."""
    generator = torch.Generator().manual_seed(seed)
    limit = math.sqrt(6 / (hidden + head_dim))
    drawn = [(torch.rand(hidden, head_dim, generator=generator) * 2 - 1) * limit for _ in range(3)]
    return Projections(*drawn)


def head_projections(attention: torch.nn.Module, head: int) -> Projections:
    """Return the matrices of one head of a trained `layers.MultiHeadAttention`."""
    head_dim = attention.query.out_features // attention.num_heads
    rows = slice(head * head_dim, (head + 1) * head_dim)
    linears = (attention.query, attention.key, attention.value)
    return Projections(
        *(linear.weight[rows].T.detach() for linear in linears), *(linear.bias[rows].detach() for linear in linears)
    )


@dataclass(frozen=True)
class AttentionTensors:
    """The attention of one head over one sentence, in the order of computation: matches are QKᵀ, masked scores have −∞."""

    tokens: tuple[str, ...]
    scale: float
    vectors: Float[Tensor, "token hidden"]
    query: Float[Tensor, "query head_dim"]
    key: Float[Tensor, "key head_dim"]
    value: Float[Tensor, "key head_dim"]
    matches: Float[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    masked: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]
    context: Float[Tensor, "query head_dim"]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every tensor, in order."""
        return {name: tuple(part.shape) for name, part in vars(self).items() if isinstance(part, Tensor)}


@torch.no_grad()
def attention_tensors(
    tokens: tuple[str, ...],
    vectors: Float[Tensor, "token hidden"],
    projections: Projections | None = None,
    *,
    scaled: bool = True,
    mask: Bool[Tensor, "query key"] | None = None,
    normalise: Normalise = softmax,
) -> AttentionTensors:
    """Compute what `attend` computes, one step at a time (Vaswani et al. 2017, section 3.2.1).

    projections: None to use the vectors themselves as queries, keys and values. scaled: whether to divide the scores by
    √head_dim. mask: True = may attend.
    """
    query = key = value = vectors
    if projections:
        matrices = (projections.query, projections.key, projections.value)
        biases = (projections.query_bias, projections.key_bias, projections.value_bias)
        query, key, value = (vectors @ one + (0 if bias is None else bias) for one, bias in zip(matrices, biases, strict=True))
    scale = 1 / math.sqrt(query.shape[-1]) if scaled else 1.0
    scores = attention_scores(query, key, scale)
    weights = attention_weights(scores, mask, normalise)
    return AttentionTensors(
        tokens=tuple(tokens),
        scale=scale,
        vectors=vectors,
        query=query,
        key=key,
        value=value,
        matches=attention_scores(query, key, 1.0),
        scores=scores,
        masked=scores if mask is None else scores.masked_fill(~mask, -torch.inf),
        weights=weights,
        context=weights @ value,
    )


@dataclass(frozen=True)
class Saturation:
    """Softmax of random scores for vectors of several sizes, with and without dividing by √size; means over many queries.

    largest: the largest weight w of a row. slope: its derivative by its score, w (1 − w); near 0, gradients vanish.
    """

    sizes: tuple[int, ...]
    keys: int
    largest_scaled: tuple[float, ...]
    largest_unscaled: tuple[float, ...]
    slope_scaled: tuple[float, ...]
    slope_unscaled: tuple[float, ...]


def saturation(sizes: tuple[int, ...]) -> Saturation:
    """Measure the saturation of softmax that scaling by 1/√d avoids, on random vectors (Vaswani et al. 2017, section 3.2.1)."""
    generator, keys, queries, rows = torch.Generator().manual_seed(0), 10, 200, []
    for size in sizes:
        query, key = (torch.randn(queries, n, size, generator=generator) for n in (1, keys))
        largest = [attention_weights(attention_scores(query, key, scale)).amax(-1) for scale in (None, 1.0)]
        rows.append([float(w.mean()) for w in largest] + [float((w * (1 - w)).mean()) for w in largest])
    columns = [tuple(column) for column in zip(*rows, strict=True)]
    return Saturation(tuple(sizes), keys, *columns)


Weights = Literal["trained", "random", "none"]


@dataclass(frozen=True)
class HeadChoice:
    """The choices of a step-by-step computation.

    weights: the head's own matrices, random ones, or none. causal: mask later tokens.
    """

    layer: int
    head: int
    weights: Weights = "trained"
    seed: int = 0
    scaled: bool = True
    normalise: str = "softmax"
    causal: bool = False


@dataclass(frozen=True)
class HeadRun:
    """One head on a sentence, with the choice, projections and mask behind them."""

    choice: HeadChoice
    tensors: AttentionTensors
    projections: Projections | None
    mask: Bool[Tensor, "query key"] | None

    @property
    def share_to_itself(self) -> float:
        """The weight that a token gives to itself, averaged over tokens."""
        return float(self.tensors.weights.diagonal().mean())

    @property
    def match_themselves_best(self) -> int:
        """The number of tokens whose query has its largest dot product with their own key."""
        matches = self.tensors.matches
        return int((matches.argmax(-1) == torch.arange(len(matches))).sum())

    @property
    def greatest_share(self) -> float:
        """The largest weight of each row, averaged over rows."""
        return float(self.tensors.weights.amax(-1).mean())

    @property
    def greatest_share_scaled(self) -> float:
        """`greatest_share` with the division by √d, whether or not this run divides."""
        scores = self.tensors.masked / (self.tensors.scale * math.sqrt(self.tensors.query.shape[1]))
        return float(NORMALISE[self.choice.normalise](scores).amax(-1).mean())

    @property
    def tokens_looked_at(self) -> float:
        """The number of keys with a weight above 0, averaged over queries."""
        return float(support(self.tensors.weights).double().mean())


def head_run(engine: BertEngine, trace: Trace, choice: HeadChoice) -> HeadRun:
    """Compute one head's attention on the vectors that enter its layer.

    trace: a run of the same engine that kept "hidden".
    """
    tokens = trace.attention.query_tokens.tokens
    vectors = torch.tensor(trace.hidden[choice.layer])
    projections = _projections(engine, vectors, choice)
    mask = causal_mask(len(tokens)) if choice.causal else None
    tensors = attention_tensors(
        tokens, vectors, projections, scaled=choice.scaled, mask=mask, normalise=NORMALISE[choice.normalise]
    )
    return HeadRun(choice, tensors, projections, mask)


def _projections(engine: BertEngine, vectors: Float[Tensor, "token hidden"], choice: HeadChoice) -> Projections | None:
    hidden, heads = vectors.shape[1], engine.info.num_heads
    if choice.weights == "none":
        return None
    if choice.weights == "random":
        return random_projections(hidden, hidden // heads, choice.seed)
    with sole_use(engine.device):
        trained = head_projections(engine.model.encoder.blocks[choice.layer].attention, choice.head)
        return Projections(**{name: part.cpu() for name, part in vars(trained).items()})
