"""Relative positional encodings, which act on the scores: Shaw, T5, ALiBi and rotary (RoPE).

The first three return a bias for `attend(bias=…)`; rotary rotates queries and keys before they are multiplied.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tx_core.transformer.positions import frequencies


def relative_distances(query_tokens: int, key_tokens: int) -> Int[Tensor, "query key"]:
    """Return how many tokens each key comes after (positive) or before (negative) each query."""
    return torch.arange(key_tokens)[None, :] - torch.arange(query_tokens)[:, None]


def clipped_distances(query_tokens: int, key_tokens: int, limit: int) -> Int[Tensor, "query key"]:
    """Clip distances to ±limit and number them from 0 to 2 × limit (Shaw et al. 2018, equation 4)."""
    if limit < 1:
        raise ValueError(f"limit must be 1 or more, got {limit}")
    return relative_distances(query_tokens, key_tokens).clamp(-limit, limit) + limit


def shaw_bias(
    query: Float[Tensor, "... query head_dim"], table: Float[Tensor, "distance head_dim"], key_tokens: int
) -> Float[Tensor, "... query key"]:
    """Return the scaled dot product of each query with a learned vector for each distance (Shaw et al. 2018, equation 5).

    table: one vector for each of the 2 × limit + 1 clipped distances.
    """
    distance = clipped_distances(query.shape[-2], key_tokens, len(table) // 2).to(query.device)
    matches = query @ table.T / math.sqrt(query.shape[-1])
    return matches.gather(-1, distance.expand(*matches.shape[:-1], key_tokens))


def t5_buckets(
    query_tokens: int, key_tokens: int, *, buckets: int = 32, max_distance: int = 128, both_sides: bool = True
) -> Int[Tensor, "query key"]:
    """Sort distances into buckets, one for each short distance, logarithmic for long ones (Raffel et al. 2020, section 2.1).

    both_sides: use half of the buckets for keys after the query (an encoder); otherwise those count as
    distance 0 (a decoder, where the mask hides them).
    Raises ValueError for fewer than 4 buckets, or a max_distance within the distances that have a bucket of their own.
    """
    if buckets < 4 or max_distance <= buckets // 2:
        raise ValueError(f"buckets must be 4 or more and max_distance above half of them, got {buckets} and {max_distance}")
    after = relative_distances(query_tokens, key_tokens)
    offset = torch.zeros_like(after)
    if both_sides:
        buckets //= 2
        offset = (after > 0) * buckets
        distance = after.abs()
    else:
        distance = (-after).clamp(min=0)
    exact = buckets // 2
    growth = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = (exact + (growth * (buckets - exact)).long()).clamp(max=buckets - 1)
    return offset + torch.where(distance < exact, distance, far)


def t5_bias(
    table: Float[Tensor, "bucket head"],
    query_tokens: int,
    key_tokens: int,
    *,
    max_distance: int = 128,
    both_sides: bool = True,
) -> Float[Tensor, "head query key"]:
    """Return a learned scalar for each bucket of distances and each head (Raffel et al. 2020, section 2.1).

    T5 does not scale its scores: use it with `attend(scale=1.0)`.
    """
    buckets = t5_buckets(query_tokens, key_tokens, buckets=len(table), max_distance=max_distance, both_sides=both_sides).to(
        table.device
    )
    return table[buckets].permute(2, 0, 1)


def alibi_slopes(heads: int) -> Float[Tensor, "head"]:
    """Return the slope of each head, from 1/2 down to 1/256 for 8 heads (Press et al. 2022, section 3).

    Where the number of heads is not a power of two, the remaining slopes are those of the next power, as in the authors' code.
    """
    if heads < 1:
        raise ValueError(f"heads must be 1 or more, got {heads}")
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2 ** (-4 * (2 * head + 1) / power) for head in range(heads - power)]
    return torch.tensor(slopes + between)


def alibi_bias(heads: int, tokens: int) -> Float[Tensor, "head query key"]:
    """Return minus slope × distance, the same to both sides (Press et al. 2022, figure 3)."""
    return -alibi_slopes(heads)[:, None, None] * relative_distances(tokens, tokens).abs()


def rotary_angles(tokens: int, head_dim: int, base: float = 10000.0) -> Float[Tensor, "token pair"]:
    """Return the angle in radians by which each pair of dimensions is rotated at each position."""
    return (torch.arange(tokens, dtype=torch.float64)[:, None] * frequencies(head_dim, base)).float()


def rotate(x: Float[Tensor, "... token head_dim"], angles: Float[Tensor, "token pair"]) -> Float[Tensor, "... token head_dim"]:
    """Rotate each query or key by its position, so that scores depend on the distance only (Su et al. 2021, equation 34).

    Dimension i is paired with i + head_dim/2, as in Llama and GPT-NeoX; the paper pairs neighbours,
    which is the same up to the order of dimensions.
    """
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
