"""A run whose last vectors alone are wanted, as in training, by PyTorch's fused attention; held equal to the models' own."""

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from tx_core.transformer.attention import merge_heads, split_heads
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM
from tx_core.transformer.layers import linear
from tx_core.transformer.positions import rotate


def fused_forward(
    model: Bert | CausalLM,
    ids: Int[Tensor, "batch token"],
    segments: Int[Tensor, "batch token"] | None = None,
    mask: Bool[Tensor, "batch 1 1 key"] | None = None,
) -> Float[Tensor, "batch token hidden"]:
    """Return the output of a run without keeping any weights, for training on a graphics card.

    On a processor it helps a run alone: the backward pass of the fused attention is six times as slow there.

    segments: ignored by a causal language model. mask: True = may be attended to, at least one key per row. A causal language
    model needs none: padding that follows the text is not attended to.
    """
    causal = isinstance(model, CausalLM)
    hidden = model.words(ids) if causal else model.embeddings(ids, segments)
    angles = model.angles(ids.shape[1]).to(ids.device) if causal else None
    for block in model.encoder.blocks:
        attention, read = block.attention, block.attention_norm(hidden) if causal else hidden
        query, key, value = (
            split_heads(linear(part, read), attention.num_heads) for part in (attention.query, attention.key, attention.value)
        )
        if causal:
            query, key = rotate(query, angles).to(value.dtype), rotate(key, angles).to(value.dtype)
        context = scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=None if causal else mask,
            dropout_p=attention.dropout if block.training else 0.0,
            is_causal=causal,
        )
        hidden = block.after_attention(hidden, linear(attention.output, merge_heads(context)))
    return model.norm(hidden) if causal else hidden
