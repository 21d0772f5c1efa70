"""What a caller may change in a run: arguments of the call, never a state of the model."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.attention import Normalise


@dataclass(frozen=True)
class Interventions:
    """The changes of one run.

    heads_off: pairs (layer, head), counted from 0, whose weights become zero, so that
    they add nothing (Michel et al. 2019, section 2.3). The layers of an encoder-decoder are
    numbered through its stacks: encoder, decoder, cross-attention.
    """

    heads_off: frozenset[tuple[int, int]] = frozenset()

    def on_weights(self, layer: int) -> Normalise | None:
        """Give the change of one layer's weights, or None where nothing changes."""
        heads = sorted(head for at, head in self.heads_off if at == layer)
        if not heads:
            return None

        def switch_off(weights: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
            return weights.index_fill(1, torch.tensor(heads, device=weights.device), 0.0)

        return switch_off


UNCHANGED = Interventions()
