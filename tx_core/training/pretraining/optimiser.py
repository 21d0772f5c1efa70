"""AdamW with weight decay where it belongs, and a running mean of the weights."""

import torch
from torch import Tensor, nn

from tx_core.training.pretraining.settings import OptimiserSettings


def make_optimiser(model: nn.Module, settings: OptimiserSettings) -> torch.optim.AdamW:
    """Decay matrices and embeddings, but neither norms nor biases."""
    decayed, free = [], []
    for parameter in model.parameters():
        (decayed if parameter.ndim > 1 else free).append(parameter)
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": free, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.0, betas=(settings.beta1, settings.beta2), eps=settings.epsilon, fused=True)


class RunningMean:
    """A mean of the weights over the last updates, better than the last weights themselves (Polyak & Juditsky 1992).

    Young means remember less, so that the random weights of the start are soon forgotten.
    """

    def __init__(self, model: nn.Module, decay: float):
        self.decay, self.updates = decay, 0
        self.weights = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Move the mean a little towards the weights of now."""
        self.updates += 1
        decay = min(self.decay, self.updates / (self.updates + 10)) if self.decay else 0.0
        now = [parameter.detach() for _, parameter in model.named_parameters()]
        torch._foreach_lerp_(list(self.weights.values()), now, 1 - decay)

    def full_state(self, model: nn.Module) -> dict[str, Tensor]:
        """Give the mean under every name that the model's state has, tied weights included."""
        by_identity = {id(parameter): name for name, parameter in model.named_parameters()}
        live = model.state_dict(keep_vars=True)
        return {name: self.weights[by_identity[id(tensor)]].detach().clone() for name, tensor in live.items()}
