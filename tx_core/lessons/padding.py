"""BERT on padded input: the scores of all heads before any mask, and the proof that padding does not count."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.engine import check_length, stack_layers
from tx_core.errors import TextProblem
from tx_core.lessons.masking import MaskEffect, MaskingComparison, compare_maskings, mask_effect
from tx_core.transformer.masks import padding_mask
from tx_core.transformer.trace import Encoding

Encode = Callable[[Int[Tensor, "batch token"], Bool[Tensor, "..."] | None], Float[Tensor, "batch token hidden"]]


@dataclass(frozen=True)
class PaddingProof:
    """The shorter of two sentences, read alone and in a batch beside the longer one, with and without the mask.

    Vectors are those of its real tokens. Differences are the greatest of any number, against reading it alone.
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
        """The greatest change of any number of each token's vector, the padding being masked."""
        return tuple((self.masked - self.alone).abs().amax(dim=-1).tolist())

    @property
    def moved_unmasked(self) -> tuple[float, ...]:
        """The greatest change of any number of each token's vector, the padding being read like words."""
        return tuple((self.unmasked - self.alone).abs().amax(dim=-1).tolist())


def pad_batch(sentences: list[tuple[int, ...]], padding_id: int) -> Int[Tensor, "batch token"]:
    """Write sentences below one another, filled up to the longest with padding."""
    longest = max(map(len, sentences))
    return torch.tensor([[*ids, *[padding_id] * (longest - len(ids))] for ids in sentences])


@torch.no_grad()
def padding_proof(encode: Encode, first: tuple[int, ...], second: tuple[int, ...], padding_id: int) -> PaddingProof:
    """Prove that padding changes nothing for the shorter sentence where it is masked, and does where it is not.

    encode: ids and a mask (None: all may be attended to) to the last vectors, in evaluation mode.
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


PADDING = "[PAD]"


@dataclass(frozen=True)
class PaddedScores:
    """The scores of every head over a sentence and the padding behind it, nothing being masked anywhere.

    real: how many of the tokens are the sentence.
    """

    tokens: tuple[str, ...]
    real: int
    scores: Float[np.ndarray, "layer head query key"]

    @property
    def nbytes(self) -> int:
        """The memory of the scores, in bytes."""
        return self.scores.nbytes

    def under(self, mask: Bool[Tensor, "query key"], layer: int, head: int) -> "MaskedHead":
        """Lay a mask on one head, counted from 0."""
        return MaskedHead(self.tokens, mask, torch.tensor(self.scores[layer, head]))


@dataclass(frozen=True)
class MaskedHead:
    """The real scores of one head, and a mask laid on them."""

    tokens: tuple[str, ...]
    mask: Bool[Tensor, "query key"]
    scores: Float[Tensor, "query key"]

    @property
    def effect(self) -> MaskEffect:
        """Scores and weights before and after."""
        return mask_effect(self.scores, self.mask)

    @property
    def nowhere(self) -> tuple[int, ...]:
        """The tokens that may look nowhere."""
        return tuple((~self.mask.any(dim=-1)).nonzero().flatten().tolist())

    def three_ways(self, penalty: float) -> MaskingComparison:
        """The weights masked by −∞, by the penalty, and not at all."""
        return compare_maskings(self.scores, self.mask, penalty)


def padded_scores(engine: BertEngine, text: str, padding: int) -> PaddedScores:
    """Read a sentence and some padding behind it without a mask, and keep the real scores of all heads.

    Raises TextProblem when there is nothing to read or no room for the padding.
    """
    encoding = check_length(engine.encode(text), engine.max_tokens - padding)
    ids = (*encoding.ids, *[engine.tokenizer.padding_id] * padding)

    def compute(model: nn.Module, device: str) -> list[Tensor]:
        run = model(torch.tensor([ids], device=device), keep=("scores",))
        return [layer["scores"] for layer in run.layers]

    scores = stack_layers(engine.runner.run(compute).value)
    return PaddedScores(encoding.tokens + (PADDING,) * padding, len(encoding), scores)


@dataclass(frozen=True)
class PaddedPair:
    """Two sentences of a batch, as tokens with the padding written out, and what the padding did to the shorter one."""

    encodings: tuple[Encoding, Encoding]
    shorter: int
    proof: PaddingProof

    @property
    def rows(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The batch as the model reads it: a row of tokens for each sentence, of the same length."""
        longest = max(map(len, self.encodings))
        first, second = (row.tokens + (PADDING,) * (longest - len(row)) for row in self.encodings)
        return first, second

    @property
    def nbytes(self) -> int:
        """The memory of the vectors, in bytes."""
        return sum(part.nbytes for part in (self.proof.alone, self.proof.masked, self.proof.unmasked))


def padded_pair(engine: BertEngine, first: str, second: str) -> PaddedPair:
    """Read two sentences in one batch, with and without the padding mask, and the shorter one alone.

    Raises TextProblem that says which of the two cannot be read.
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
