"""Measures of every head over a batch of sentences, computed on the device of its weights."""

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.analysis.patterns import TARGETED_KINDS
from tx_core.engine.tensors import LayerWeights


def measure_batch(
    layers: LayerWeights,
    lengths: Int[np.ndarray, "text"],
    asked: Bool[np.ndarray, "text query"],
    targets: Bool[np.ndarray, "text kind query key"],
) -> dict[str, np.ndarray]:
    """Measure every head in every text of a padded batch: return the fields of `batches.BatchMeasures`.

    For the labels of the batch see `batches.BatchTargets`. Weights in bfloat16 are converted to float32 first.
    """
    layers = [weights.float() if weights.dtype == torch.bfloat16 else weights for weights in layers]
    device, longest = layers[0].device, layers[0].shape[-1]
    real, asked, targets = (torch.from_numpy(part).to(device) for part in (lengths, asked, targets))
    place = torch.arange(longest, device=device)
    factors = _measuring_factors(targets, asked, real, place)
    aimed = torch.stack([weights.flatten(2) @ factors for weights in layers], dim=1)
    # In a causal model no head can attend to later tokens, so chance counts earlier keys only, as in `pattern_sums`.
    both_ways = (aimed[..., -1] > 0).flatten(1).any(dim=1)[:, None, None]
    reachable = asked[:, :, None] & (place < real[:, None, None]) & (both_ways | (place <= place[:, None]))
    widths = reachable.sum(dim=-1)
    # As `patterns.entropy`: weights of 0 are clamped to the smallest positive number, which adds 0.
    tiny = torch.finfo(torch.float32).tiny
    entropies = torch.stack([-weights.clamp(min=tiny).log_().mul_(weights).sum(dim=-1) for weights in layers], dim=1)
    entropies = entropies * asked[:, None, None]
    evenly = ((entropies.exp() - 1) / (widths - 1).clamp(min=1)[:, None, None]).sum(dim=-1)
    reached = targets & reachable[:, None]
    chance = (reached.sum(dim=-1) / widths.clamp(min=1)[:, None]).sum(dim=-1)
    queries = reached.any(dim=-1).sum(dim=-1)
    total = asked.sum(dim=-1)
    logs = real.log()
    entropy = entropies.sum(dim=-1)
    return dict(
        given=_array(torch.cat([aimed[..., : len(TARGETED_KINDS)], evenly[..., None]], dim=-1)),
        chance=_array(torch.cat([chance, torch.zeros_like(chance[:, :1])], dim=-1)),  # "broad" is uniform attention itself
        queries=_array(torch.cat([queries, total[:, None]], dim=-1)),
        entropy=_array(entropy),
        spread=_array(entropy / torch.where(logs > 0, logs, 1.0)[:, None, None]),
        distance=_array(aimed[..., len(TARGETED_KINDS)]),
        asked=_array(total),
    )


def _measuring_factors(
    targets: Bool[Tensor, "text kind query key"],
    asked: Bool[Tensor, "text query"],
    real: Int[Tensor, "text"],
    place: Int[Tensor, "key"],
) -> Float[Tensor, "text query_and_key factor"]:
    """Stack the factors of the weights: targets of each kind, distance of each key, and whether it is a later token."""
    apart = (place[:, None] - place).abs().float() * asked[:, :, None]
    ahead = (place > place[:, None]) & (place < real[:, None, None]) & (place[:, None] < real[:, None, None])
    return torch.cat([targets.float(), apart[:, None], ahead[:, None].float()], dim=1).flatten(2).transpose(1, 2)


def _array(measured: Tensor) -> np.ndarray:
    return measured.cpu().double().numpy()  # first to the CPU: MPS has no float64


def attend_words(layers: LayerWeights, words: Int[np.ndarray, "text token"]) -> dict[str, np.ndarray]:
    """Find the other word that gets most attention from each word, and how much: return the last fields of `BatchMeasures`.

    words: the number of the word that each token belongs to, -1 for none.
    """
    owners = torch.from_numpy(words).to(layers[0].device)
    numbers = torch.arange(max(1, int(owners.max()) + 1), device=owners.device)
    joined = (owners[:, :, None] == numbers).float()
    means = (joined / joined.sum(dim=-2, keepdim=True).clamp(min=1)).mT
    attended, attention = [], []
    for weights in layers:
        heads, tokens = weights.shape[1:3]
        onto = (weights.float().flatten(1, 2) @ joined).unflatten(1, (heads, tokens))
        # As two products of matrices: one with a matrix for each head would be several times slower.
        between = (means @ onto.transpose(1, 2).flatten(2)).unflatten(2, (heads, -1)).transpose(1, 2)
        between.diagonal(dim1=-2, dim2=-1).fill_(0.0)
        most, place = between.max(dim=-1)
        attended.append(torch.where(most > 0, place, numbers))
        attention.append(most)
    return dict(
        attended=torch.stack(attended, dim=1).cpu().numpy().astype(np.int32),
        attention=torch.stack(attention, dim=1).cpu().numpy(),
    )
