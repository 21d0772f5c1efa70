"""Replace the attention of the transformers library with our own `attend`, and record each layer of a run.

The library passes every keyword of a model's call on to its attention function. Each run passes a new
Recorder in this way, so that nothing is stored on modules and several runs can share one model.
"""

from collections.abc import Collection, Mapping, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tx_core.transformer.attention import attend
from tx_core.transformer.changed_run import VECTOR_PARTS, VectorChanges, weigh_at
from tx_core.transformer.config import AttentionKind
from tx_core.transformer.interventions import Intervention, Vectors

WITHOUT_EFFECT = frozenset(
    {
        *("is_causal", "sliding_window"),  # contained in the mask
        *("position_ids", "cache_position", "past_key_values", "use_cache"),  # contained in query and key
        *("cu_seq_lens_q", "cu_seq_lens_k", "max_length_q", "max_length_k", "seq_idx"),  # of packed batches, not made here
        *("output_attentions", "output_hidden_states", "output_router_logits", "return_dict", "deterministic"),
    }
)
"""Arguments of the library's attention functions that its eager attention ignores."""


class Recorder:
    """The parts to keep of one run, the interventions to make, and the recorded parts of every layer.

    first_layer: number of the first layer of each stack of an encoder-decoder, whose layers are numbered consecutively. layers:
    for each kind of attention, the kept parts of each layer, in the order in which the layers ran. scales: the factor of the
    products of queries and keys in the scores of each layer. numbers: what the library gives each layer of the first stack, from
    0, or None.
    """

    def __init__(
        self,
        keep: Collection[str] = (),
        interventions: Sequence[Sequence[Intervention]] = (),
        first_layer: Mapping[AttentionKind, int] | None = None,
        vectors: Mapping[str, Vectors] = {},
    ):
        self.keep = keep
        self.interventions = interventions
        self.first_layer = first_layer or {}
        self.changes = VectorChanges(interventions, vectors, VECTOR_PARTS & set(keep))
        self.layers: dict[AttentionKind, list[dict[str, Tensor]]] = {}
        self.scales: dict[AttentionKind, list[float]] = {}
        self.numbers: list[int | None] = []

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
        """Compute the attention of the next layer of its kind, and return its context and weights."""
        # Layers are numbered by counting calls, since all layers of ALBERT are the same module.
        recorded = self.layers.setdefault(kind, [])
        number = self.first_layer.get(kind, 0) + len(recorded)
        weigh = weigh_at(self.interventions, number, kind)
        self.scales.setdefault(kind, []).append(query.shape[-1] ** -0.5 if scale is None else float(scale))
        context, weights, scores = attend(query, key, value, mask, scale=scale, bias=bias, weigh=weigh)
        context = self.changes.change("context", number, context)
        parts = {"query": query, "key": key, "value": value, "scores": scores, "weights": weights, "context": context}
        recorded.append({part: tensor for part, tensor in parts.items() if part in self.keep})
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
    **options: object,
) -> tuple[Float[Tensor, "batch query head head_dim"], Float[Tensor, "batch head query key"]]:
    """Compute attention with `attend`, with the signature of an attention function of the transformers library.

    Dropout is ignored, since models are only run in evaluation mode. Without a `recorder` nothing is recorded.
    Raises TypeError for an argument that `attend` does not know, such as a cap of the scores.
    """
    unknown = [name for name, value in options.items() if value is not None and name not in WITHOUT_EFFECT]
    if unknown:
        raise TypeError(f"this attention does not know the arguments {', '.join(sorted(unknown))}")
    recorder = Recorder() if recorder is None else recorder
    mask, bias = mask_and_bias(attention_mask)
    if position_bias is not None:
        bias = position_bias if bias is None else position_bias + bias
    groups = query.shape[1] // key.shape[1]  # grouped-query attention: several query heads share one key-value head
    if groups > 1:
        key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    kind = _kind(module) if recorder.first_layer else "self"
    if kind == "self":
        recorder.numbers.append(getattr(module, "layer_idx", None))
    context, weights = recorder.attend(kind, query, key, value, mask, scaling, bias)
    return context.transpose(1, 2).contiguous(), weights


def mask_and_bias(mask: Tensor | None) -> tuple[Bool[Tensor, "..."] | None, Float[Tensor, "..."] | None]:
    """Split an attention mask of the library into a boolean mask (True = may attend) and an additive bias.

    A boolean mask is returned as it is. In an additive mask, values near the smallest float block attention, and all
    other values are a bias (ALiBi). A bias of zeros becomes None on a CPU; on a graphics card it is kept, because testing it
    would synchronise every layer.
    """
    if mask is None or mask.dtype == torch.bool:
        return mask, None
    allowed = mask > torch.finfo(mask.dtype).min / 2
    bias = mask.masked_fill(~allowed, 0.0)
    return allowed, bias if bias.device.type != "cpu" or bias.any() else None


def _kind(module: nn.Module) -> AttentionKind:
    """Return the kind of attention of an encoder-decoder's module, from the flags that the library sets on it."""
    if not module.is_decoder:
        return "self"
    return "decoder" if module.is_causal else "cross"
