"""Masks by name, their effect on scores and weights, −∞ against a penalty of −10,000, and BERT on padded input."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.engine import check_token_count
from tx_core.engine.tensors import stack_layers
from tx_core.errors import TextProblem
from tx_core.transformer.attention import attention_weights, causal_mask, combine, padding_mask, softmax, window_mask
from tx_core.transformer.trace import Encoding


def _combined(tokens: int, real: int, width: int) -> Bool[Tensor, "query key"]:
    return combine(causal_mask(tokens), padding_mask([real], tokens)[0, 0])


def _padding(tokens: int, real: int, width: int) -> Bool[Tensor, "query key"]:
    return padding_mask([real], tokens)[0, 0].expand(tokens, -1).clone()


# To add a mask, add an entry: its name, and a function of (tokens, real, width) as in `mask_of_kind`.
MASK_KINDS: dict[str, Callable[[int, int, int], Bool[Tensor, "query key"]]] = {
    "none": lambda tokens, real, width: torch.ones(tokens, tokens, dtype=torch.bool),
    "padding": _padding,
    "causal": lambda tokens, real, width: causal_mask(tokens),
    "combined": _combined,
    "window": lambda tokens, real, width: window_mask(tokens, width),
}


def mask_of_kind(kind: str, tokens: int, real: int, width: int = 1) -> Bool[Tensor, "query key"]:
    """Build a mask of `MASK_KINDS`; True = may attend.

    Args:
        kind: A key of `MASK_KINDS`.
        tokens: The number of tokens, padding included.
        real: How many of them, from the first, are not padding.
        width: The number of neighbours on either side, for "window".

    Raises:
        ValueError: For an unknown kind.
    """
    if kind not in MASK_KINDS:
        raise ValueError(f"kind must be one of {', '.join(MASK_KINDS)}, got {kind}")
    return MASK_KINDS[kind](tokens, real, width)


def fit_mask(drawn: Bool[np.ndarray, "query key"], tokens: int) -> Bool[Tensor, "fitted_query fitted_key"]:
    """Fit a drawn mask to another number of tokens; cells that the drawn mask does not have are allowed."""
    fitted = torch.ones(tokens, tokens, dtype=torch.bool)
    both = min(tokens, len(drawn))
    fitted[:both, :both] = torch.from_numpy(drawn[:both, :both])
    return fitted


PENALTY = -10000.0


@dataclass(frozen=True)
class MaskEffect:
    """Attention scores and weights before and after a mask."""

    mask: Bool[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    masked_scores: Float[Tensor, "query key"]
    weights_before: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]

    @property
    def difference(self) -> Float[Tensor, "query key"]:
        """The change of each weight, after − before."""
        return self.weights - self.weights_before


def mask_effect(scores: Float[Tensor, "query key"], mask: Bool[Tensor, "query key"]) -> MaskEffect:
    """Apply a mask to scores and compute the weights before and after."""
    return MaskEffect(
        mask=mask,
        scores=scores,
        masked_scores=scores.masked_fill(~mask, -torch.inf),
        weights_before=attention_weights(scores),
        weights=attention_weights(scores, mask),
    )


@dataclass(frozen=True)
class MaskingComparison:
    """The weights of the same scores masked by −∞, by a finite penalty, and not at all."""

    infinite: Float[Tensor, "query key"]
    penalised: Float[Tensor, "query key"]
    unmasked: Float[Tensor, "query key"]


def compare_maskings(
    scores: Float[Tensor, "query key"], mask: Bool[Tensor, "query key"], penalty: float = PENALTY
) -> MaskingComparison:
    """Compare −∞ with the penalty that the original BERT code adds to masked scores, and with no mask.

    The penalty gives nearly the same weights while scores are much smaller than it. For a query without allowed keys it shifts
    every score by the same amount, which softmax ignores: the weights are those without a mask.
    """
    return MaskingComparison(attention_weights(scores, mask), softmax(scores + (~mask) * penalty), softmax(scores))


EncodeBatch = Callable[[Int[Tensor, "batch token"], Bool[Tensor, "..."] | None], Float[Tensor, "batch token hidden"]]


@dataclass(frozen=True)
class PaddingProof:
    """The shorter of two sentences, alone and in a batch with the longer one, with and without the padding mask.

    Attributes:
        lengths: The tokens of both sentences.
        padding: The padding tokens of the shorter one.
        alone: The vectors of its tokens when read alone.
        masked: In the batch with the mask.
        unmasked: In the batch without the mask.
        difference_masked: The largest difference between `masked` and `alone`.
        difference_unmasked: The largest difference between `unmasked` and `alone`.
    """

    lengths: tuple[int, int]
    padding: int
    alone: Float[Tensor, "token hidden"]
    masked: Float[Tensor, "token hidden"]
    unmasked: Float[Tensor, "token hidden"]
    difference_masked: float
    difference_unmasked: float

    @property
    def moved_masked(self) -> tuple[float, ...]:
        """The largest change of each token's vector with the mask."""
        return tuple((self.masked - self.alone).abs().amax(dim=-1).tolist())

    @property
    def moved_unmasked(self) -> tuple[float, ...]:
        """The largest change of each token's vector without the mask."""
        return tuple((self.unmasked - self.alone).abs().amax(dim=-1).tolist())


def pad_batch(sentences: list[tuple[int, ...]], padding_id: int) -> Int[Tensor, "batch token"]:
    """Stack sentences into a batch, padded to the longest."""
    longest = max(map(len, sentences))
    return torch.tensor([[*ids, *[padding_id] * (longest - len(ids))] for ids in sentences])


@torch.no_grad()
def padding_proof(encode: EncodeBatch, first: tuple[int, ...], second: tuple[int, ...], padding_id: int) -> PaddingProof:
    """Compare the shorter sentence alone with itself in a padded batch, with and without the mask.

    encode: maps ids and a mask (None = all may be attended to) to the last hidden states, in evaluation mode.
    """
    lengths = (len(first), len(second))
    shorter = lengths.index(min(lengths))
    tokens = lengths[shorter]
    batch = pad_batch([first, second], padding_id)
    alone = encode(batch[shorter : shorter + 1, :tokens], None)[0]
    masked = encode(batch, padding_mask(lengths))[shorter, :tokens]
    unmasked = encode(batch, None)[shorter, :tokens]
    return PaddingProof(
        lengths=lengths,
        padding=max(lengths) - tokens,
        alone=alone,
        masked=masked,
        unmasked=unmasked,
        difference_masked=float((masked - alone).abs().max()),
        difference_unmasked=float((unmasked - alone).abs().max()),
    )


PADDING_TOKEN = "[PAD]"


@dataclass(frozen=True)
class PaddedScores:
    """The attention scores of every head over a sentence and the padding after it, without any mask.

    Attributes:
        tokens: The tokens, padding included.
        real: How many of them are the sentence.
        scores: The scores.
    """

    tokens: tuple[str, ...]
    real: int
    scores: Float[np.ndarray, "layer head query key"]

    def under(self, mask: Bool[Tensor, "query key"], layer: int, head: int) -> "MaskedHead":
        """Apply a mask to one head, counted from 0."""
        return MaskedHead(self.tokens, mask, torch.tensor(self.scores[layer, head]))


@dataclass(frozen=True)
class MaskedHead:
    """The scores of one head with a mask."""

    tokens: tuple[str, ...]
    mask: Bool[Tensor, "query key"]
    scores: Float[Tensor, "query key"]

    @property
    def effect(self) -> MaskEffect:
        """Scores and weights before and after the mask."""
        return mask_effect(self.scores, self.mask)

    def three_ways(self, penalty: float) -> MaskingComparison:
        """The weights masked by −∞, by the penalty, and not at all."""
        return compare_maskings(self.scores, self.mask, penalty)


def padded_scores(engine: BertEngine, text: str, padding: int) -> PaddedScores:
    """Run a sentence with padding and without a mask, and keep the scores of all heads.

    Raises:
        TextProblem: If there is nothing to read or no space for the padding.
    """
    encoding = check_token_count(engine.encode(text), engine.info.max_tokens - padding)
    ids = (*encoding.ids, *[engine.tokenizer.padding_id] * padding)

    def compute(model: nn.Module, device: str) -> Float[np.ndarray, "layer head query key"]:
        run = model(torch.tensor([ids], device=device), keep=("scores",))
        return stack_layers([layer["scores"] for layer in run.layers])

    scores = engine.runner.run(compute).value
    return PaddedScores(encoding.tokens + (PADDING_TOKEN,) * padding, len(encoding), scores)


@dataclass(frozen=True)
class PaddedPair:
    """Two sentences of a batch, and what padding does to the shorter one.

    Attributes:
        encodings: The sentences.
        shorter: Which one is shorter, 0 or 1.
        proof: What padding does to it.
    """

    encodings: tuple[Encoding, Encoding]
    shorter: int
    proof: PaddingProof

    @property
    def rows(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tokens of the batch, padding included, one row per sentence."""
        longest = max(map(len, self.encodings))
        first, second = (row.tokens + (PADDING_TOKEN,) * (longest - len(row)) for row in self.encodings)
        return first, second


def padded_pair(engine: BertEngine, first: str, second: str) -> PaddedPair:
    """Run two sentences in one batch, with and without the padding mask, and the shorter one alone.

    Raises:
        TextProblem: Names the sentence that cannot be read.
    """
    rows = (_read(engine, first, "first"), _read(engine, second, "second"))

    def compute(model: nn.Module, device: str) -> PaddingProof:
        def encode(ids: Int[Tensor, "batch token"], mask: Bool[Tensor, "..."] | None) -> Float[Tensor, "batch token hidden"]:
            return model(ids.to(device), None, None if mask is None else mask.to(device)).output.cpu()

        return padding_proof(encode, rows[0].ids, rows[1].ids, engine.tokenizer.padding_id)

    proof = engine.runner.run(compute).value
    return PaddedPair(rows, proof.lengths.index(min(proof.lengths)), proof)


def _read(engine: BertEngine, text: str, which: str) -> Encoding:
    try:
        return engine.encode(text)
    except TextProblem as problem:
        raise TextProblem(f"The {which} sentence: {problem}") from problem
