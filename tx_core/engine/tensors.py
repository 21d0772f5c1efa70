"""Conversion of texts to a model's input tensors, and of its outputs to arrays."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.engine.engine import ScoreGradients
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.config import AttentionKind
from tx_core.transformer.interventions import Intervention, unmasked_padding
from tx_core.transformer.trace import AttentionStack, Encoding

LayerWeights = Sequence[Float[Tensor, "batch head query key"]]
"""The attention weights of each layer."""


def batch_tensors(
    rows: Sequence[Encoding], padding_id: int, device: str, interventions: Sequence[Sequence[Intervention]] = ()
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Pad the rows to one length; return ids, segments and the mask, which is None when nothing is masked.

    interventions: those of each row; empty for none. The padding that "no_padding_mask" adds to a row is not masked.
    """
    unmasked = [unmasked_padding(row) for row in interventions] or [0] * len(rows)
    lengths = [len(row) + padding for row, padding in zip(rows, unmasked, strict=True)]
    longest = max(lengths)

    def padded(numbers: tuple[int, ...], filler: int) -> list[int]:
        return [*numbers, *[filler] * (longest - len(numbers))]

    ids = torch.tensor([padded(row.ids, padding_id) for row in rows], device=device)
    segments = torch.tensor([padded(row.segments, 0) for row in rows], device=device)
    return ids, segments, None if min(lengths) == longest else padding_mask(lengths).to(device)


def attention_stack(
    kind: AttentionKind, query: Encoding, key: Encoding, layers: Sequence[dict[str, Tensor]], scales: tuple[float, ...] = ()
) -> AttentionStack:
    """Label the parts that were kept of every layer of one sentence, without padding."""

    def own_tokens(part: str, values: Tensor) -> Tensor:
        side = key if part in ("key", "value") else query
        values = values[:, :, : len(side)]
        return values[..., : len(key)] if part in ("scores", "weights") else values

    parts = {part: stack_layers([own_tokens(part, layer[part]) for layer in layers]) for part in layers[0]}
    return AttentionStack(kind, query, key, **parts, scales=scales)


def stack_layers(layers: Sequence[Float[Tensor, "1 ..."]]) -> Float[np.ndarray, "layer ..."]:
    """Stack the layers of one sentence into one read-only array in CPU memory.

    Call it within `DeviceRunner.run`: concatenation needs as much device memory again, and may run out of it.
    """
    stacked = torch.cat([layer.detach() for layer in layers]).float().cpu().numpy()
    stacked.setflags(write=False)
    return stacked


def stack_tokens(layers: Sequence[Float[Tensor, "row ... token hidden"]], tokens: int) -> Float[np.ndarray, "layer ... hidden"]:
    """Stack the layers of rows of so many tokens, without padding: the tokens of a row behind those of the row before."""
    return stack_layers([layer[..., :tokens, :].movedim(0, -3).flatten(-3, -2)[None] for layer in layers])


def score_gradients(
    score: Callable[[Float[Tensor, "step token embedding"]], Float[Tensor, "step"]],
    inputs_embeds: Float[np.ndarray, "step token embedding"],
    device: str = "cpu",
) -> ScoreGradients:
    """Differentiate each step's score with respect to its own vectors."""
    leaf = torch.tensor(inputs_embeds, device=device, requires_grad=True)
    scores = score(leaf)
    (gradients,) = torch.autograd.grad(scores.sum(), leaf)
    return ScoreGradients(scores.detach().cpu().numpy(), gradients.cpu().numpy())
