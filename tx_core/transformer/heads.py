"""What to do with a sentence's vectors: a label for all of it, or one for each token (Devlin et al. 2019, figure 4)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class MaxPooled(NamedTuple):
    """The greatest value of each dimension over all tokens, and which token it came from."""

    values: Float[Tensor, "batch hidden"]
    winners: Int[Tensor, "batch hidden"]


def max_pool(hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None) -> MaxPooled:
    """Let every dimension be spoken for by the token that has most of it (Collobert & Weston 2008).

    mask: True = a real token, as `masks.padding_mask` gives it; a batch without one real token is a ValueError.
    """
    if mask is not None:
        real = mask.reshape(len(mask), -1, 1)
        if not real.any(dim=1).all():
            raise ValueError("every sentence needs at least one real token")
        hidden = hidden.masked_fill(~real, -torch.inf)
    return MaxPooled(*hidden.max(dim=1))


Read = Callable[[Float[Tensor, "batch token hidden"], Bool[Tensor, "..."] | None], Float[Tensor, "..."]]
"""What a head reads of the tokens' vectors, given which tokens are real."""


def first_token(hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None) -> Float[Tensor, "batch hidden"]:
    """Read the vector of [CLS] alone, which has read all the others; the mask is not needed, it is always real."""
    return hidden[:, 0]


def every_token(
    hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None
) -> Float[Tensor, "batch token hidden"]:
    """Read every token by itself; what stands on padding means nothing."""
    return hidden


def max_pooled(hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None) -> Float[Tensor, "batch hidden"]:
    """Read the greatest value of each dimension over the tokens; padding never speaks."""
    return max_pool(hidden, mask).values


class LabelHead(nn.Module):
    """Score labels by one linear layer on what `read` takes of the tokens' vectors."""

    def __init__(self, read: Read, hidden_size: int, labels: int, dropout: float = 0.0):
        super().__init__()
        self.read = read
        self.dropout = nn.Dropout(dropout)
        self.label = nn.Linear(hidden_size, labels)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch *token label"]:
        """Score each label, of a sentence or of each token. mask: True = a real token."""
        return self.label(self.dropout(self.read(hidden, mask)))


HEADS: dict[str, Read] = {"first token": first_token, "every token": every_token, "max-pooled": max_pooled}


def random_head(kind: str, hidden_size: int, labels: int, seed: int) -> LabelHead:
    """Draw an untrained head of `HEADS`: normal weights of deviation 0.02, biases 0, as BERT's are before training."""
    head = LabelHead(HEADS[kind], hidden_size, labels)
    nn.init.normal_(head.label.weight, std=0.02, generator=torch.Generator().manual_seed(seed))
    nn.init.zeros_(head.label.bias)
    return head.eval()
