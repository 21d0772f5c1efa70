"""The norms of a BERT on a reader's sentence, each written out step by step."""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.block_run import block_run
from tx_core.lessons.blocks import NormSteps, norm_steps
from tx_core.lessons.embedding_run import embedding_run
from tx_core.transformer.cpu_tensors import memory, on_cpu

NormPlace = Literal["embeddings", "attention", "feed_forward"]


@dataclass(frozen=True)
class NormRun:
    """A norm of the model at work on a sentence, with what it learned."""

    tokens: tuple[str, ...]
    steps: NormSteps
    weight: Float[Tensor, "hidden"]
    bias: Float[Tensor, "hidden"]
    eps: float

    @property
    def nbytes(self) -> int:
        """The memory of all tensors, in bytes."""
        return memory(self.steps) + memory(self.steps.result)


def norm_run(engine: BertEngine, text: str, pair: str | None = None, *, place: NormPlace, layer: int) -> NormRun:
    """Write out one of the model's norms. layer, counted from 0, does not matter at the embeddings.

    Raises TextProblem when the text cannot be read.
    """
    if place == "embeddings":
        run = embedding_run(engine, text, pair)
        before, norm = run.summed, engine.model.embeddings.norm
    else:
        run = block_run(engine, text, pair, layer=layer)
        before = run.attention_sum if place == "attention" else run.feed_forward_sum
        norm = getattr(engine.model.encoder.blocks[layer], f"{place}_norm")
    norm = on_cpu(norm)
    return NormRun(run.tokens, norm_steps(norm, before), norm.weight, norm.bias, norm.eps)
