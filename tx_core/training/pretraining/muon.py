"""Muon: momentum whose matrices are made orthogonal before they are added (Jordan et al. 2024).

PyTorch has torch.optim.Muon, which always orthogonalises in bfloat16; on processors that do not compute it a step takes
some forty times as long as here, in the precision of the weights. Where they do, `half` does the same here.
"""

import math
from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn

STEPS = 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrix: Float[Tensor, "row column"], steps: int = STEPS) -> Float[Tensor, "row column"]:
    """Bring singular values near 1 (0.6 to 1.2; those below a hundredth of the greatest stay smaller), and keep the vectors.

    A Newton-Schulz iteration with the quintic of Jordan et al. (2024); a matrix of zeros stays one.
    """
    first, third, fifth = COEFFICIENTS
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(steps):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=third, alpha=fifth), wide, beta=first)
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T


class Muon(torch.optim.Optimizer):
    """Nesterov momentum, orthogonalised, with decoupled weight decay, for matrices inside the blocks.

    An update is scaled to the size that AdamW's has, so that both take the same learning rate (Liu et al. 2025, 2.2).
    """

    def __init__(self, matrices: Iterable[nn.Parameter], *, momentum: float, weight_decay: float, half: bool = False):
        self.half = half
        super().__init__(list(matrices), {"lr": 0.0, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["mean"] = torch.zeros_like(matrix)
                mean = state["mean"]
                mean.lerp_(matrix.grad, 1 - group["momentum"])
                ahead = matrix.grad.lerp(mean, group["momentum"])
                direction = orthogonalise(ahead.bfloat16() if self.half else ahead)
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                matrix.add_(direction, alpha=-group["lr"] * 0.2 * math.sqrt(max(matrix.shape)))
