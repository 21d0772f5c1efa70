"""Masks by name, their effect on scores and weights, −∞ against a penalty of −10,000, and BERT on padded input."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.engine import check_record, check_token_count
from tx_core.engine.tensors import batch_tensors, stack_layers
from tx_core.errors import TextProblem
from tx_core.transformer.attention import attention_weights, causal_mask, combine, padding_mask, softmax, window_mask
from tx_core.transformer.trace import Encoding

MASK_KINDS: dict[str, Callable[[int, int, int], Bool[Tensor, "query key"]]] = {
    "none": lambda tokens, real, width: torch.ones(tokens, tokens, dtype=torch.bool),
    "padding": lambda tokens, real, width: padding_mask([real], tokens)[0, 0].expand(tokens, -1).clone(),
    "causal": lambda tokens, real, width: causal_mask(tokens),
    "combined": lambda tokens, real, width: combine(causal_mask(tokens), padding_mask([real], tokens)[0, 0]),
    "window": lambda tokens, real, width: window_mask(tokens, width),
}
"""By name, a function that builds the mask, True = may attend, from the number of tokens, padding included, how many of them are
not padding, and the number of neighbours on either side in a window."""


def mask_of_kind(kind: str, tokens: int, real: int, width: int = 1) -> Bool[Tensor, "query key"]:
    """Build a mask of `MASK_KINDS`."""
    return MASK_KINDS[kind](tokens, real, width)


def fit_mask(drawn: Bool[np.ndarray, "query key"], tokens: int) -> Bool[Tensor, "fitted_query fitted_key"]:
    """Fit a drawn mask to another number of tokens; cells that the drawn mask does not have are allowed."""
    fitted = torch.ones(tokens, tokens, dtype=torch.bool)
    both = min(tokens, len(drawn))
    fitted[:both, :both] = torch.from_numpy(drawn[:both, :both])
    return fitted


PENALTY = -10000.0
"""What the original BERT code adds to masked scores."""


PADDING_TOKEN = "[PAD]"


@dataclass(frozen=True)
class PaddedScores:
    """The attention scores of every head over a sentence and the padding after it, without any mask.

    tokens: the tokens, padding included. real: how many of them are the sentence.
    """

    tokens: tuple[str, ...]
    real: int
    scores: Float[np.ndarray, "layer head query key"]

    def under(self, mask: Bool[Tensor, "query key"], layer: int, head: int) -> "MaskedHead":
        """Apply a mask to one head, counted from 0."""
        return MaskedHead(self.tokens, mask, torch.tensor(self.scores[layer, head]))


@dataclass(frozen=True)
class MaskedHead:
    """The scores of one head with a mask, and its weights before the mask and after."""

    tokens: tuple[str, ...]
    mask: Bool[Tensor, "query key"]
    scores: Float[Tensor, "query key"]

    @property
    def masked_scores(self) -> Float[Tensor, "query key"]:
        """The scores, −∞ where the mask is False."""
        return self.scores.masked_fill(~self.mask, -torch.inf)

    @property
    def weights_before(self) -> Float[Tensor, "query key"]:
        return attention_weights(self.scores)

    @property
    def weights(self) -> Float[Tensor, "query key"]:
        return attention_weights(self.scores, self.mask)

    @property
    def difference(self) -> Float[Tensor, "query key"]:
        return self.weights - self.weights_before

    def penalised(self, penalty: float = PENALTY) -> Float[Tensor, "query key"]:
        """Return the weights with a finite penalty added to masked scores, in place of −∞.

        They are nearly those of −∞ while scores are much smaller than the penalty. For a query without allowed keys it shifts
        every score by the same amount, which softmax ignores: the weights are those without a mask.
        """
        return softmax(self.scores + ~self.mask * penalty)


def padded_scores(engine: BertEngine, text: str, padding: int) -> PaddedScores:
    """Run a sentence with padding and without a mask, and keep the scores of all heads.

    Raises TextProblem if there is nothing to read, no space for the padding, or the scores take too much memory.
    """
    encoding = check_token_count(engine.encode(text), engine.info.max_tokens - padding)
    ids = (*encoding.ids, *[engine.tokenizer.padding_id] * padding)
    check_record(engine.info, {"self": (len(ids), len(ids))}, ("scores",))

    def compute(model: nn.Module, device: str) -> Float[np.ndarray, "layer head query key"]:
        run = model(torch.tensor([ids], device=device), keep=("scores",))
        return stack_layers([layer["scores"] for layer in run.layers])

    scores = engine.runner.run(compute).value
    return PaddedScores(encoding.tokens + (PADDING_TOKEN,) * padding, len(encoding), scores)


@dataclass(frozen=True)
class PaddedPair:
    """Two sentences in a batch, and what padding does to the shorter one.

    shorter: which one is shorter, 0 or 1. alone: the last vectors of its tokens when it is read alone. masked: in the batch with
    the padding mask. unmasked: in the batch without the mask.
    """

    encodings: tuple[Encoding, Encoding]
    shorter: int
    alone: Float[Tensor, "token hidden"]
    masked: Float[Tensor, "token hidden"]
    unmasked: Float[Tensor, "token hidden"]

    @property
    def padding(self) -> int:
        """The padding tokens of the shorter sentence."""
        return max(map(len, self.encodings)) - len(self.alone)

    @property
    def moved_masked(self) -> tuple[float, ...]:
        """The largest change of each token's vector with the mask."""
        return tuple((self.masked - self.alone).abs().amax(dim=-1).tolist())

    @property
    def moved_unmasked(self) -> tuple[float, ...]:
        """The largest change of each token's vector without the mask."""
        return tuple((self.unmasked - self.alone).abs().amax(dim=-1).tolist())

    @property
    def rows(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The tokens of the batch, padding included, one row per sentence."""
        longest = max(map(len, self.encodings))
        first, second = (row.tokens + (PADDING_TOKEN,) * (longest - len(row)) for row in self.encodings)
        return first, second


def padded_pair(engine: BertEngine, first: str, second: str) -> PaddedPair:
    """Run two sentences in one batch, with and without the padding mask, and the shorter one alone.

    Raises TextProblem, which names the sentence that cannot be read.
    """
    rows = (_read(engine, first, "first"), _read(engine, second, "second"))
    lengths = [len(row) for row in rows]
    shorter = lengths.index(min(lengths))

    def compute(model: nn.Module, device: str) -> PaddedPair:
        ids, _, padding = batch_tensors(rows, engine.tokenizer.padding_id, device)
        tokens = lengths[shorter]
        alone = model(ids[shorter : shorter + 1, :tokens]).output[0]
        masked, unmasked = (model(ids, mask=mask).output[shorter, :tokens] for mask in (padding, None))
        return PaddedPair(rows, shorter, alone.cpu(), masked.cpu(), unmasked.cpu())

    return engine.runner.run(compute).value


def _read(engine: BertEngine, text: str, which: str) -> Encoding:
    try:
        return engine.encode(text)
    except TextProblem as problem:
        raise TextProblem(f"The {which} sentence: {problem}") from problem
