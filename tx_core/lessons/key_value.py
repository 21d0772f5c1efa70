"""Attention as a soft dictionary lookup: a query is compared with every key, and the result is a mix of the values."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.lessons.key_value_store import Store, VectorRow, check_row
from tx_core.transformer.attention import attend

DIVISOR = 8.0
"""√64, as for keys of 64 dimensions; it suits the size of the numbers in the example's keys."""


@dataclass(frozen=True)
class LookupResult:
    """The result of a lookup: dot products, scores, weights, and the mix of the values."""

    matches: Float[Tensor, "1 key"]
    scores: Float[Tensor, "1 key"]
    weights: Float[Tensor, "1 key"]
    result: Float[Tensor, "1 value_dim"]


def look_up(store: Store, query: VectorRow, divisor: float = DIVISOR) -> LookupResult:
    """Look up a query: `attend` with scores divided by the divisor (Vaswani et al. 2017, section 3.2.1).

    Raises TextProblem if the query is not three usable numbers.
    """
    check_row("query", query)
    queries, keys, values = (torch.tensor(rows, dtype=torch.float32) for rows in ([query], store.keys, store.values))
    result, weights, scores = attend(queries, keys, values, scale=1 / divisor)
    return LookupResult(queries @ keys.T, scores, weights, result)
