"""Masks answer one question for every query and key: may this query attend to this key?

All are boolean, True = may attend, as in PyTorch; `attention.attend` turns them into −∞
in one place. Shapes broadcast, so that masks combine with `&`.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool
from torch import Tensor


def padding_mask(lengths: Sequence[int], tokens: int | None = None) -> Bool[Tensor, "batch 1 1 key"]:
    """Hide the padding behind each sentence of a batch, given how many tokens each really has.

    `tokens` is the padded length; the longest sentence decides it when it is left out.
    Raises ValueError for a length that does not fit.
    """
    longest = max(lengths)
    tokens = longest if tokens is None else tokens
    if min(lengths) < 0 or longest > tokens:
        raise ValueError(f"lengths must lie between 0 and {tokens}, got {list(lengths)}")
    key = torch.arange(tokens)
    return (key[None, :] < torch.tensor(list(lengths))[:, None])[:, None, None, :]


def causal_mask(tokens: int) -> Bool[Tensor, "query key"]:
    """Let every token attend to itself and what came before (Vaswani et al. 2017, section 3.2.3)."""
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def window_mask(tokens: int, width: int) -> Bool[Tensor, "query key"]:
    """Let every token attend to at most `width` neighbours on either side (Beltagy et al. 2020, section 3.1)."""
    if width < 0:
        raise ValueError(f"width must be 0 or more, got {width}")
    position = torch.arange(tokens)
    return (position[:, None] - position[None, :]).abs() <= width


def combine(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """Allow only what every mask allows; None allows everything."""
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    allowed = given[0]
    for mask in given[1:]:
        allowed = allowed & mask
    return allowed
