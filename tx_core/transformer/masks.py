"""Boolean masks: True where a query may attend to a key, as in PyTorch.

`attention.attend` turns them into −∞ in one place. Shapes broadcast, so that masks combine with `&`.
"""

from collections.abc import Sequence
from functools import reduce

import torch
from jaxtyping import Bool
from torch import Tensor


def padding_mask(lengths: Sequence[int], tokens: int | None = None) -> Bool[Tensor, "batch 1 1 key"]:
    """Mask the padding after each sentence of a batch.

    lengths: the number of tokens of each sentence. tokens: the padded length, by default that of the longest sentence.
    Raises ValueError for a length below 0 or above `tokens`.
    """
    longest = max(lengths)
    tokens = longest if tokens is None else tokens
    if min(lengths) < 0 or longest > tokens:
        raise ValueError(f"lengths must lie between 0 and {tokens}, got {list(lengths)}")
    key = torch.arange(tokens)
    return (key[None, :] < torch.tensor(list(lengths))[:, None])[:, None, None, :]


def causal_mask(tokens: int) -> Bool[Tensor, "query key"]:
    """Let every token attend to itself and to earlier tokens (Vaswani et al. 2017, section 3.2.3)."""
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def window_mask(tokens: int, width: int) -> Bool[Tensor, "query key"]:
    """Let every token attend to at most `width` neighbours on either side (Beltagy et al. 2020, section 3.1)."""
    if width < 0:
        raise ValueError(f"width must be 0 or more, got {width}")
    position = torch.arange(tokens)
    return (position[:, None] - position[None, :]).abs() <= width


def combine(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """Allow what all masks allow; None allows everything."""
    present = [mask for mask in masks if mask is not None]
    return reduce(torch.logical_and, present) if present else None
