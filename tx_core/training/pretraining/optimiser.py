"""Muon for the matrices of the blocks and AdamW for everything else; and a running mean of the weights."""

import math
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM

NEWTON_SCHULZ_STEPS = 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
MOMENTUM, WEIGHT_DECAY = 0.95, 0.01


def orthogonalise(matrix: Float[Tensor, "row column"]) -> Float[Tensor, "row column"]:
    """Bring the singular values near 1 (0.6 to 1.2; those below a hundredth of the largest stay smaller).

    A Newton-Schulz iteration with the quintic polynomial of Jordan et al. (2024); a zero matrix stays zero.
    """
    first, third, fifth = COEFFICIENTS
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=third, alpha=fifth), wide, beta=first)
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T


class Muon(torch.optim.Optimizer):
    """Muon: orthogonalised Nesterov momentum with decoupled weight decay, for matrices (Jordan et al. 2024).

    Updates are scaled to the size of AdamW's, so that both take the same learning rate (Liu et al. 2025, section 2.2).
    torch.optim.Muon always orthogonalises in bfloat16, forty times as slow on CPUs without hardware support for it; here that is
    optional (`half`).
    """

    def __init__(self, matrices: Iterable[nn.Parameter], half: bool):
        self.half = half
        super().__init__(list(matrices), {"lr": 0.0})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                mean = state.setdefault("mean", torch.zeros_like(matrix))
                mean.lerp_(matrix.grad, 1 - MOMENTUM)
                ahead = matrix.grad.lerp(mean, MOMENTUM)
                direction = orthogonalise(ahead.bfloat16() if self.half else ahead)
                matrix.mul_(1 - group["lr"] * WEIGHT_DECAY)
                matrix.add_(direction, alpha=-group["lr"] * 0.2 * math.sqrt(max(matrix.shape)))


def make_optimisers(model: Bert | CausalLM, half: bool) -> tuple[torch.optim.Optimizer, torch.optim.Optimizer]:
    """Return AdamW and Muon for a model; norms and biases have no weight decay. half: Muon orthogonalises in bfloat16."""
    matrices = [parameter for parameter in model.encoder.parameters() if parameter.ndim > 1]
    inside = set(matrices)
    decayed = [parameter for parameter in model.parameters() if parameter.ndim > 1 and parameter not in inside]
    free = [parameter for parameter in model.parameters() if parameter.ndim == 1]
    groups = [{"params": decayed, "weight_decay": WEIGHT_DECAY}, {"params": free, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), eps=1e-6, fused=True), Muon(matrices, half)


def running_mean(model: nn.Module, decay: float) -> AveragedModel:
    """Return an exponential moving average of the weights (Polyak & Juditsky 1992).

    The decay starts low, so that the random initial weights are soon forgotten.
    """

    def follow(mean: Sequence[Tensor], now: Sequence[Tensor], updates: Tensor) -> None:
        torch._foreach_lerp_(mean, now, 1 - min(decay, (int(updates) + 1) / (int(updates) + 11)))

    return AveragedModel(model, multi_avg_fn=torch.no_grad()(follow))
