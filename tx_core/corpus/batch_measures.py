"""What the heads do in each text of a padded batch: entropy, distance, and what they give to each pattern's targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.analysis.patterns import AIMED, KINDS, PatternSums, over_chance, padded_targets, winning_kinds
from tx_core.engine.engine import LayerWeights
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class BatchMeasures:
    """Sums over the own tokens of each text, special tokens not being asked; as in `PatternSums`, a text an entry.

    entropy: in nats. spread: entropy on the scale of `measures.relative_entropy`. distance: in tokens.
    asked: how many tokens each text has of its own.
    """

    given: Float[np.ndarray, "text layer head kind"]
    chance: Float[np.ndarray, "text kind"]
    queries: Float[np.ndarray, "text kind"]
    entropy: Float[np.ndarray, "text layer head"]
    spread: Float[np.ndarray, "text layer head"]
    distance: Float[np.ndarray, "text layer head"]
    asked: Float[np.ndarray, "text"]

    @cached_property
    def scores(self) -> Float[np.ndarray, "text layer head kind"]:
        """How far above chance each head gives to each kind's targets in each text, 0 to 1."""
        return over_chance(self.given, self.chance[:, None, None], self.queries[:, None, None])

    @property
    def sums(self) -> PatternSums:
        """All texts together."""
        votes = np.eye(len(KINDS))[winning_kinds(self.scores)].sum(axis=0)
        return PatternSums(self.given.sum(0), self.chance.sum(0), self.queries.sum(0), votes, len(self.asked))


@dataclass(frozen=True)
class BatchLabels:
    """What is known of a batch before it is run.

    lengths: in tokens. asked: the texts' own tokens. targets: as of `head_patterns.kind_targets`, from those asked.
    """

    lengths: Int[np.ndarray, "text"]
    asked: Bool[np.ndarray, "text query"]
    targets: Bool[np.ndarray, "text kind query key"]


def label(rows: Sequence[Encoding]) -> BatchLabels:
    """Mark each text's own tokens, and from each of them the targets of each kind; padding is neither."""
    lengths = np.array([len(row) for row in rows])
    asked = np.zeros((len(rows), lengths.max()), dtype=bool)
    for number, row in enumerate(rows):
        asked[number, : len(row)] = ~np.array(row.special)
    return BatchLabels(lengths, asked, padded_targets(rows) & asked[:, None, :, None])


def measure_batch(layers: LayerWeights, labels: BatchLabels) -> BatchMeasures:
    """Measure every head in every text at once, in single precision at least.

    layers: the weights of a batch in which shorter texts are padded.
    """
    layers = [weights.float() if weights.dtype == torch.bfloat16 else weights for weights in layers]
    device, longest = layers[0].device, layers[0].shape[-1]
    real, asked, targets = (torch.from_numpy(part).to(device) for part in (labels.lengths, labels.asked, labels.targets))
    place = torch.arange(longest, device=device)
    aims = _aims(targets, asked, real, place)
    aimed = torch.stack([weights.flatten(2) @ aims for weights in layers], dim=1)
    # In a model that writes no head can look ahead, and chance then counts the past alone, as in `pattern_sums`.
    both_ways = (aimed[..., -1] > 0).flatten(1).any(dim=1)[:, None, None]
    reachable = asked[:, :, None] & (place < real[:, None, None]) & (both_ways | (place <= place[:, None]))
    widths = reachable.sum(dim=-1)
    entropies = torch.stack([_entropy(weights) for weights in layers], dim=1)
    entropies = entropies * asked[:, None, None]
    evenly = ((entropies.exp() - 1) / (widths - 1).clamp(min=1)[:, None, None]).sum(dim=-1)
    reached = targets & reachable[:, None]
    chance = (reached.sum(dim=-1) / widths.clamp(min=1)[:, None]).sum(dim=-1)
    queries = reached.any(dim=-1).sum(dim=-1)
    total = asked.sum(dim=-1)
    logs = real.log()
    entropy = entropies.sum(dim=-1)
    return BatchMeasures(
        given=_array(torch.cat([aimed[..., : len(AIMED)], evenly[..., None]], dim=-1)),
        chance=_array(torch.cat([chance, torch.zeros_like(chance[:, :1])], dim=-1)),  # an even look is what "broad" means
        queries=_array(torch.cat([queries, total[:, None]], dim=-1)),
        entropy=_array(entropy),
        spread=_array(entropy / torch.where(logs > 0, logs, 1.0)[:, None, None]),
        distance=_array(aimed[..., len(AIMED)]),
        asked=_array(total),
    )


def _aims(
    targets: Bool[Tensor, "text kind query key"],
    asked: Bool[Tensor, "text query"],
    real: Int[Tensor, "text"],
    place: Int[Tensor, "key"],
) -> Float[Tensor, "text query_and_key aim"]:
    """Lay side by side what weights are summed by: the targets of each kind, how far away a key is, and whether it is ahead."""
    apart = (place[:, None] - place).abs().float() * asked[:, :, None]
    ahead = (place > place[:, None]) & (place < real[:, None, None]) & (place[:, None] < real[:, None, None])
    return torch.cat([targets.float(), apart[:, None], ahead[:, None].float()], dim=1).flatten(2).transpose(1, 2)


def _entropy(weights: Float[Tensor, "... query key"]) -> Float[Tensor, "... query"]:
    """Compute `measures.entropy`: a weight of 0 adds 0 times the log of the least number there is."""
    return -weights.clamp(min=torch.finfo(weights.dtype).tiny).log_().mul_(weights).sum(dim=-1)


def _array(measured: Tensor) -> np.ndarray:
    return measured.double().cpu().numpy()
