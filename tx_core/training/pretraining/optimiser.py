"""Optimisers: AdamW, alone or with Muon for the matrices of the blocks; and a running mean of the weights."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.training.pretraining.settings import OptimiserSettings
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM

NEWTON_SCHULZ_STEPS = 5

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrix: Float[Tensor, "row column"], steps: int = NEWTON_SCHULZ_STEPS) -> Float[Tensor, "row column"]:
    """Bring the singular values near 1 (0.6 to 1.2; those below a hundredth of the largest stay smaller).

    A Newton-Schulz iteration with the quintic polynomial of Jordan et al. (2024); a zero matrix stays zero.
    """
    first, third, fifth = COEFFICIENTS
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / wide.norm().clamp(min=1e-7)
    for _ in range(steps):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=third, alpha=fifth), wide, beta=first)
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T


class Muon(torch.optim.Optimizer):
    """Muon: orthogonalised Nesterov momentum with decoupled weight decay, for matrices (Jordan et al. 2024).

    Updates are scaled to the size of AdamW's, so that both take the same learning rate (Liu et al. 2025, section 2.2).
    torch.optim.Muon always orthogonalises in bfloat16, forty times as slow on CPUs without hardware support for it; here that is
    optional (`half`).
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


def make_optimiser(model: Bert | CausalLM, settings: OptimiserSettings, half: bool = False) -> "Optimisers":
    """Build the optimiser; norms and biases have no weight decay. half: Muon orthogonalises in bfloat16."""
    matrices = [parameter for parameter in model.encoder.parameters() if parameter.ndim > 1] if settings.muon else []
    inside = set(matrices)
    decayed, free = [], []
    for parameter in model.parameters():
        if parameter not in inside:
            (decayed if parameter.ndim > 1 else free).append(parameter)
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": free, "weight_decay": 0.0}]
    betas = (settings.beta1, settings.beta2)
    made: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, lr=0.0, betas=betas, eps=settings.epsilon, fused=True)]
    if matrices:
        made.append(Muon(matrices, momentum=settings.momentum, weight_decay=settings.weight_decay, half=half))
    return Optimisers(made)


class Optimisers:
    """Several optimisers, each with its own parameters, that step together at one learning rate."""

    def __init__(self, parts: Sequence[torch.optim.Optimizer]):
        self.parts = parts

    def step(self, rate: float) -> None:
        """Update every weight at this learning rate and clear the gradients."""
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = rate
            part.step()
            part.zero_grad(set_to_none=True)

    def state_dict(self) -> list[dict[str, Any]]:
        """Return the state of each optimiser."""
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, states: Sequence[dict[str, Any]]) -> None:
        """Restore the states of optimisers built with the same settings."""
        for part, state in zip(self.parts, states, strict=True):
            part.load_state_dict(state)


class RunningMean:
    """Exponential moving average of the weights (Polyak & Juditsky 1992).

    The decay starts low, so that the random initial weights are soon forgotten.
    """

    def __init__(self, model: nn.Module, decay: float):
        self.decay, self.updates = decay, 0
        self.weights = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Move the mean towards the current weights."""
        self.updates += 1
        decay = min(self.decay, self.updates / (self.updates + 10)) if self.decay else 0.0
        now = [parameter.detach() for _, parameter in model.named_parameters()]
        torch._foreach_lerp_(list(self.weights.values()), now, 1 - decay)

    def full_state(self, model: nn.Module) -> dict[str, Tensor]:
        """Return the mean as a state dict of the model, tied weights included."""
        by_identity = {id(parameter): name for name, parameter in model.named_parameters()}
        live = model.state_dict(keep_vars=True)
        return {name: self.weights[by_identity[id(tensor)]].detach().clone() for name, tensor in live.items()}
