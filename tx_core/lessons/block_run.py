"""One block of a BERT on a reader's sentence, every tensor on the way kept.

What is shown is what runs: each part is asked of the model's own modules, and what leaves here is what the model computes.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.engine import batch_tensors
from tx_core.lessons.blocks import head_outputs
from tx_core.transformer.attention import merge_heads
from tx_core.transformer.bert import Bert
from tx_core.transformer.cpu_tensors import memory


@dataclass(frozen=True)
class BlockRun:
    """What enters a post-norm block, what each of its parts makes of it, and what leaves.

    joined: the heads' contexts laid end to end. by_head: what each head adds to `attended` through the output
    projection; their sum and the bias are `attended`. The sums are those with the skip connection, before the norm.
    """

    tokens: tuple[str, ...]
    entering: Float[Tensor, "token hidden"]
    context: Float[Tensor, "head token head_dim"]
    joined: Float[Tensor, "token hidden"]
    by_head: Float[Tensor, "head token hidden"]
    attended: Float[Tensor, "token hidden"]
    attention_sum: Float[Tensor, "token hidden"]
    attention_normed: Float[Tensor, "token hidden"]
    fed: Float[Tensor, "token hidden"]
    feed_forward_sum: Float[Tensor, "token hidden"]
    leaving: Float[Tensor, "token hidden"]

    @property
    def nbytes(self) -> int:
        """The memory of all tensors, in bytes."""
        return memory(self)

    def joined_of(self, heads: tuple[int, ...]) -> Float[Tensor, "token hidden"]:
        """Give the contexts laid end to end with zeros for every head but some, counted from 0."""
        kept = torch.zeros_like(self.context)
        kept[list(heads)] = self.context[list(heads)]
        return merge_heads(kept[None])[0]

    def of_heads(self, heads: tuple[int, ...], bias: Float[Tensor, "hidden"]) -> Float[Tensor, "token hidden"]:
        """Give the attention's output as if only some heads, counted from 0, were there."""
        return self.by_head[list(heads)].sum(dim=0) + bias

    @property
    def head_lengths(self) -> Float[Tensor, "head token"]:
        """How long the vector is that each head adds to each token."""
        return self.by_head.norm(dim=-1)


def likeness(one: Float[Tensor, "token hidden"], other: Float[Tensor, "token hidden"]) -> float:
    """Tell how alike two results are: the mean cosine between a token's vector in the one and in the other."""
    return float(torch.cosine_similarity(one, other, dim=-1).mean())


def block_run(engine: BertEngine, text: str, pair: str | None = None, *, layer: int) -> BlockRun:
    """Walk through one block, counted from 0, with a text. Raises TextProblem when it cannot be read."""
    encoding = engine.encode(text, pair)

    def compute(model: Bert, device: str) -> BlockRun:
        ids, segments, _ = batch_tensors([encoding], engine.tokenizer.padding_id, device)
        hidden = model(ids, segments, keep=("hidden",)).hidden[layer]
        block = model.encoder.blocks[layer]
        attention = block.attention(hidden)
        attention_sum = hidden + attention.output
        normed = block.attention_norm(attention_sum)
        fed = block.feed_forward(normed)
        parts = (
            hidden,
            attention.context,
            merge_heads(attention.context),
            head_outputs(block.attention, attention.context),
            attention.output,
            attention_sum,
            normed,
            fed,
            normed + fed,
            block.feed_forward_norm(normed + fed),
        )
        return BlockRun(encoding.tokens, *(part[0].cpu() for part in parts))

    return engine.placement.run(compute)[0]
