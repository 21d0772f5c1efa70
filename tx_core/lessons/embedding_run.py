"""The embeddings of a BERT on a reader's sentence: what is looked up, summed and normed, asked of the model's own modules."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.engine import batch_tensors
from tx_core.transformer.bert import Bert
from tx_core.transformer.cpu_tensors import memory


@dataclass(frozen=True)
class EmbeddingRun:
    """Three look-ups for every token, their sum, and the norm of it: what enters the first block."""

    tokens: tuple[str, ...]
    ids: Int[Tensor, "token"]
    words: Float[Tensor, "token hidden"]
    positions: Float[Tensor, "token hidden"]
    segments: Float[Tensor, "token hidden"]
    summed: Float[Tensor, "token hidden"]
    normed: Float[Tensor, "token hidden"]

    @property
    def nbytes(self) -> int:
        """The memory of all tensors, in bytes."""
        return memory(self)


def embedding_run(engine: BertEngine, text: str, pair: str | None = None) -> EmbeddingRun:
    """Look a text up as BERT does (Devlin et al. 2019, figure 2). Raises TextProblem when it cannot be read."""
    encoding = engine.encode(text, pair)

    def compute(model: Bert, device: str) -> EmbeddingRun:
        ids, segments, _ = batch_tensors([encoding], engine.tokenizer.padding_id, device)
        parts = model.embeddings
        looked_up = parts.words(ids), parts.positions(torch.arange(len(encoding), device=device)[None]), parts.segments(segments)
        summed = looked_up[0] + looked_up[2] + looked_up[1]
        rows = (part[0].cpu() for part in (ids, *looked_up, summed, parts.norm(summed)))
        return EmbeddingRun(encoding.tokens, *rows)

    return engine.placement.run(compute)[0]


def same_word_twice(run: EmbeddingRun) -> tuple[int, int, float] | None:
    """Find the first word that stands twice: its two places, and how far its two sums are apart; None for no such word."""
    ids = run.ids.tolist()
    for place, number in enumerate(ids):
        if number in ids[place + 1 :]:
            again = ids.index(number, place + 1)
            return place, again, float((run.summed[place] - run.summed[again]).abs().max())
    return None
