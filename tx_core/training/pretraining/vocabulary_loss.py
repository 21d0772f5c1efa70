"""Cross-entropy over a whole vocabulary: the gradient is made on the way, in place of the scores, some rows at a time.

PyTorch's own goes through the scores of all places, as wide as the vocabulary, seven times; they fit into no cache.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

ROWS = {"cpu": 64}
"""Rows taken together: as many as stay in a processor's own cache. A graphics card takes more at a time."""
MANY_ROWS = 4096


class VocabularyLoss(torch.autograd.Function):
    """Sum of −log softmax(hidden · weightᵀ + bias) at the wanted pieces, computed in the precision of hidden.

    What is summed up is single precision. `apply(hidden, weight, bias, wanted)` gives a scalar; wanted has no gradient, and
    vectors beyond its length neither count nor get one.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Float[Tensor, "row hidden"],
        weight: Float[Tensor, "vocab hidden"],
        bias: Float[Tensor, "vocab"],
        wanted: Int[Tensor, "place"],
    ) -> Float[Tensor, ""]:
        """Give the sum in nats, and keep its gradient by the scores."""
        weight = weight.to(hidden.dtype)
        scores = torch.addmm(bias.to(hidden.dtype), hidden, weight.T)
        loss = torch.zeros((), device=hidden.device)
        rows = ROWS.get(hidden.device.type, MANY_ROWS)
        for part, pieces in zip(scores[: len(wanted)].split(rows), wanted[:, None].split(rows), strict=True):
            exact = part.float()
            total = exact.logsumexp(dim=-1, keepdim=True)
            loss += (total - exact.gather(-1, pieces)).sum()
            shares = (exact - total).exp_()
            part.copy_(shares.scatter_add_(-1, pieces, torch.full_like(total, -1.0)))
        scores[len(wanted) :] = 0
        ctx.save_for_backward(hidden, weight, scores)
        return loss

    @staticmethod
    def backward(ctx: Any, outer: Float[Tensor, ""]) -> tuple[Tensor, Tensor, Tensor, None]:
        """Pass the gradient on to the vectors, the weights and the biases."""
        hidden, weight, by_scores = ctx.saved_tensors
        by_weight = (by_scores.T @ hidden).float() * outer
        return (by_scores @ weight) * outer, by_weight, by_scores.sum(0).float() * outer, None
