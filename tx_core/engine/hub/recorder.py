"""What the transformers library calls in place of its own attention: `attend`, and one run's list of what it saw.

The library hands every keyword of a model's call down to its attention function. A fresh Recorder
travels that way, so that nothing is stored on modules and many runs can share one model.
"""

from collections.abc import Collection, Mapping, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tx_core.transformer.attention import AttentionKind, attend
from tx_core.transformer.interventions import Intervention, weigh_at


class Recorder:
    """One run: the parts to keep, the changes to make, and what every layer computed.

    first_layer: where an encoder-decoder counts the layers of its stacks from, for interventions:
    encoder, decoder and cross-attention are numbered through. Empty for a model of one stack.
    layers: per kind of attention, the parts kept of each layer, in the order in which the layers ran.
    """

    def __init__(
        self,
        keep: Collection[str] = (),
        interventions: Sequence[Sequence[Intervention]] = (),
        first_layer: Mapping[AttentionKind, int] | None = None,
    ):
        self.keep = keep
        self.interventions = interventions
        self.first_layer = first_layer or {}
        self.layers: dict[AttentionKind, list[dict[str, Tensor]]] = {}

    def attend(
        self,
        kind: AttentionKind,
        query: Float[Tensor, "batch head query head_dim"],
        key: Float[Tensor, "batch head key head_dim"],
        value: Float[Tensor, "batch head key head_dim"],
        mask: Bool[Tensor, "..."] | None,
        scale: float | None,
        bias: Float[Tensor, "..."] | None,
    ) -> tuple[Float[Tensor, "batch head query head_dim"], Float[Tensor, "batch head query key"]]:
        """Run the next layer of its kind; give its context and its weights."""
        # A layer's number is the count of calls: ALBERT's layers are one module, called again and again.
        seen = self.layers.setdefault(kind, [])
        weigh = weigh_at(self.interventions, self.first_layer.get(kind, 0) + len(seen), kind)
        context, weights, scores = attend(query, key, value, mask, scale=scale, bias=bias, weigh=weigh)
        parts = {"query": query, "key": key, "value": value, "scores": scores, "weights": weights, "context": context}
        seen.append({part: tensor for part, tensor in parts.items() if part in self.keep})
        return context, weights


def library_attention(
    module: nn.Module,
    query: Float[Tensor, "batch head query head_dim"],
    key: Float[Tensor, "batch key_head key head_dim"],
    value: Float[Tensor, "batch key_head key head_dim"],
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: Float[Tensor, "..."] | None = None,
    recorder: Recorder | None = None,
    **_: object,
) -> tuple[Float[Tensor, "batch query head head_dim"], Float[Tensor, "batch head query key"]]:
    """Answer a layer of the transformers library as the library's own attention does, through `attend`.

    The model's call must bring `recorder`. Models are run as trained, so that dropout is never asked for.
    """
    recorder = Recorder() if recorder is None else recorder
    mask, bias = mask_and_bias(attention_mask)
    if position_bias is not None:
        bias = position_bias if bias is None else position_bias + bias
    groups = query.shape[1] // key.shape[1]  # several queries' heads may share one head of keys and values
    if groups > 1:
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    kind = _kind(module) if recorder.first_layer else "self"
    context, weights = recorder.attend(kind, query, key, value, mask, scaling, bias)
    return context.transpose(1, 2).contiguous(), weights


def mask_and_bias(mask: Tensor | None) -> tuple[Bool[Tensor, "..."] | None, Float[Tensor, "..."] | None]:
    """Tell what a mask of the library forbids from what it merely weighs.

    A boolean mask already says True = may attend. In an additive one, numbers near the smallest
    float forbid, and any others are a bias (ALiBi).
    """
    if mask is None or mask.dtype == torch.bool:
        return mask, None
    allowed = mask > torch.finfo(mask.dtype).min / 2
    bias = mask.masked_fill(~allowed, 0.0)
    return allowed, bias if bias.any() else None


def _kind(module: nn.Module) -> AttentionKind:
    """Tell the three attentions of an encoder-decoder apart by what the library notes on its layers."""
    if not module.is_decoder:
        return "self"
    return "decoder" if module.is_causal else "cross"
