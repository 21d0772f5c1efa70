"""Classification heads: a label for a sentence, or one for each token (Devlin et al. 2019, figure 4)."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class MaxPooled(NamedTuple):
    """The result of max pooling.

    Attributes:
        values: the maximum of each dimension over the tokens.
        winners: the position of the token that has the maximum.
    """

    values: Float[Tensor, "batch hidden"]
    winners: Int[Tensor, "batch hidden"]


def max_pool(hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None) -> MaxPooled:
    """Take the maximum of each dimension over the tokens (Collobert & Weston 2008).

    mask: True = a real token, as from `masks.padding_mask`. Raises ValueError for a sentence without a real token.
    """
    if mask is not None:
        real = mask.reshape(len(mask), -1, 1)
        if not real.any(dim=1).all():
            raise ValueError("every sentence must have at least one real token")
        hidden = hidden.masked_fill(~real, -torch.inf)
    return MaxPooled(*hidden.max(dim=1))


Read = Callable[[Float[Tensor, "batch token hidden"], Bool[Tensor, "..."] | None], Float[Tensor, "..."]]
"""A pooling function: from the tokens' vectors, and the mask of real tokens, to what the head classifies."""


def first_token(hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None) -> Float[Tensor, "batch hidden"]:
    """Return the vector of the first token, [CLS]. It is always a real token, so that the mask is not needed."""
    return hidden[:, 0]


def every_token(
    hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None
) -> Float[Tensor, "batch token hidden"]:
    """Return the vectors of all tokens; those of padding mean nothing."""
    return hidden


def max_pooled(hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None) -> Float[Tensor, "batch hidden"]:
    """Return the maximum of each dimension over the real tokens."""
    return max_pool(hidden, mask).values


class LabelHead(nn.Module):
    """A pooling function, then one linear layer."""

    def __init__(self, read: Read, hidden_size: int, labels: int, dropout: float = 0.0):
        super().__init__()
        self.read = read
        self.dropout = nn.Dropout(dropout)
        self.label = nn.Linear(hidden_size, labels)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch *token label"]:
        """Compute logits over the labels, of a sentence or of each token. mask: True = a real token."""
        return self.label(self.dropout(self.read(hidden, mask)))


HEADS: dict[str, Read] = {"first token": first_token, "every token": every_token, "max-pooled": max_pooled}


def random_head(kind: str, hidden_size: int, labels: int, seed: int) -> LabelHead:
    """Build an untrained head of a kind of `HEADS`: normal weights of standard deviation 0.02, biases 0, as in BERT."""
    head = LabelHead(HEADS[kind], hidden_size, labels)
    nn.init.normal_(head.label.weight, std=0.02, generator=torch.Generator().manual_seed(seed))
    nn.init.zeros_(head.label.bias)
    return head.eval()
