"""What the blocks of a BERT do to a sentence's vectors: with and without skip connections, and word by word."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.engine import batch_tensors
from tx_core.lessons.blocks import WordJourney, mean_cosine, without_skips, word_journey
from tx_core.transformer.bert import Bert
from tx_core.transformer.trace import Trace


@dataclass(frozen=True)
class SentenceDepth:
    """How alike a sentence's tokens are after the embeddings (entry 0) and after each block: their mean cosine.

    kept: in the model as it is. lost: in the same model with its skip connections cut.
    """

    kept: tuple[float, ...]
    lost: tuple[float, ...]

    @property
    def nbytes(self) -> int:
        """The memory of the numbers, in bytes."""
        return 8 * (len(self.kept) + len(self.lost))


def sentence_depth(engine: BertEngine, text: str, pair: str | None = None) -> SentenceDepth:
    """Cut the skip connections of a trained model and see its words become the same (Dong et al. 2021).

    Raises TextProblem when the text cannot be read.
    """
    encoding = engine.encode(text, pair)

    def compute(model: Bert, device: str) -> SentenceDepth:
        ids, segments, _ = batch_tensors([encoding], engine.tokenizer.padding_id, device)
        kept = model(ids, segments, keep=("hidden",)).hidden
        lost = [kept[0]]
        for block in model.encoder.blocks:
            lost.append(without_skips(block, lost[-1]))
        return SentenceDepth(*(tuple(mean_cosine(state[0]) for state in states) for states in (kept, lost)))

    return engine.placement.run(compute)[0]


def journeys(trace: Trace, places: Sequence[int]) -> tuple[WordJourney, ...]:
    """Follow the tokens at some places through the layers of a run that kept "hidden"; ValueError without it."""
    if trace.hidden is None:
        raise ValueError('the trace must keep "hidden"')
    tokens = trace.attention.query_tokens.tokens
    return tuple(word_journey(tokens[place], torch.tensor(trace.hidden[:, place])) for place in places)


@dataclass(frozen=True)
class Readings:
    """The word that the masked-word head reads off each token's vector at each depth, and how sure it is (0 to 1)."""

    words: tuple[tuple[str, ...], ...]
    shares: Float[np.ndarray, "layer_and_embeddings token"]

    @property
    def nbytes(self) -> int:
        """The memory of the shares and the words, in bytes."""
        return self.shares.nbytes + 100 * self.shares.size


def readings(engine: BertEngine, trace: Trace) -> Readings:
    """Ask the head for a word at every depth, though it learned to read the last one only (nostalgebraist 2020).

    trace: a run of the same engine that kept "hidden". Raises ValueError without it, or without a head.
    """
    if trace.hidden is None:
        raise ValueError('the trace must keep "hidden"')

    def compute(model: Bert, device: str) -> tuple[Tensor, Tensor]:
        best = [
            model.predict(torch.tensor(states, device=device)).softmax(dim=-1).max(dim=-1) for states in trace.hidden
        ]  # one layer at a time: every token has a score for the whole vocabulary
        return tuple(torch.stack(parts).cpu() for parts in zip(*best, strict=True))

    (shares, ids), _, _ = engine.placement.run(compute)
    words = tuple(tuple(engine.tokenizer.readable(number) for number in row) for row in ids.tolist())
    return Readings(words, shares.numpy())
