"""What to do with a sentence's vectors: a label for all of it, or one for each token (Devlin et al. 2019, figure 4)."""

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


class FirstTokenHead(nn.Module):
    """Label a sentence by the vector of its first token, [CLS], which has read all the others."""

    def __init__(self, hidden_size: int, labels: int, dropout: float = 0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.label = nn.Linear(hidden_size, labels)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch label"]:
        """Score each label. The mask is not needed: the first token is always real."""
        return self.label(self.dropout(hidden[:, 0]))


class TokenHead(nn.Module):
    """Label every token by its own vector."""

    def __init__(self, hidden_size: int, labels: int, dropout: float = 0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.label = nn.Linear(hidden_size, labels)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch token label"]:
        """Score each label at each token; what stands on padding means nothing."""
        return self.label(self.dropout(hidden))


class MaxPooledHead(nn.Module):
    """Label a sentence by the greatest value of each dimension over its tokens."""

    def __init__(self, hidden_size: int, labels: int, dropout: float = 0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.label = nn.Linear(hidden_size, labels)

    def forward(
        self, hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch label"]:
        """Score each label; padding never speaks."""
        return self.label(self.dropout(max_pool(hidden, mask).values))


HEADS: dict[str, type[nn.Module]] = {"first token": FirstTokenHead, "every token": TokenHead,
                                     "max-pooled": MaxPooledHead}  # fmt: skip


def random_head(kind: str, hidden_size: int, labels: int, seed: int) -> nn.Module:
    """Draw an untrained head of `HEADS`: normal weights of deviation 0.02, biases 0, as BERT's are before training."""
    head = HEADS[kind](hidden_size, labels)
    nn.init.normal_(head.label.weight, std=0.02, generator=torch.Generator().manual_seed(seed))
    nn.init.zeros_(head.label.bias)
    return head.eval()
