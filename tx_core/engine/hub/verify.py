"""Check that a model of the transformers library gives the same output through our attention, and describe it.

The library itself is not needed here: a model arrives ready (see load.py).
"""

from typing import Any

import torch
from torch import nn

from tx_core.engine.hub.parts import FAMILIES
from tx_core.engine.hub.recorder import Recorder
from tx_core.engine.model_info import ModelInfo
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import ModelUnavailable
from tx_core.settings import host_settings
from tx_core.transformer.attention import AttentionKind

ATTENTION = "tx_core"
MAX_RELATIVE_TOKENS = 512  # for relative positions, which set no limit of their own
PROBE = "Time flies like an arrow."


def verify_parity(model: Any, tokenizer: Tokenizer, has_head: bool) -> ModelInfo:
    """Run a sentence through the library's own attention and through ours, and describe the model.

    Raises ModelUnavailable where the outputs differ: what would be shown is then not what the model computes.
    """
    config = model.config
    kinds: tuple[AttentionKind, ...] = ("self", "decoder", "cross") if config.is_encoder_decoder else ("self",)
    recorder = Recorder(("weights",), first_layer=dict.fromkeys(kinds, 0) if len(kinds) > 1 else None)
    ids = torch.tensor([tokenizer.encode(PROBE).ids])
    inputs = {"input_ids": ids} | ({"decoder_input_ids": ids} if config.is_encoder_decoder else {})
    try:
        with torch.inference_mode():
            expected = model(**inputs, use_cache=False)[0]
            model.set_attn_implementation(ATTENTION)
            output = model(**inputs, use_cache=False, recorder=recorder)[0]
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError) as unfit:
        raise cannot_show(config.model_type) from unfit
    weights = {kind: [layer["weights"] for layer in recorder.layers.get(kind, [])] for kind in kinds}
    if any(len({layer.shape for layer in layers}) != 1 for layers in weights.values()):
        raise cannot_show(config.model_type)
    if not torch.allclose(output, expected, rtol=1e-4, atol=1e-4 * float(expected.abs().max())):
        raise cannot_show(config.model_type)
    predicts_next = has_head and config.model_type in FAMILIES and FAMILIES[config.model_type].predicts_next
    return ModelInfo(
        family=config.model_type,
        layers={kind: len(layers) for kind, layers in weights.items()},
        num_heads=weights["self"][0].shape[1],
        hidden_size=config.hidden_size,
        max_tokens=min(_max_tokens(model), host_settings().max_model_tokens),
        has_head=has_head,
        fills_blanks=has_head and not predicts_next and tokenizer.mask_id is not None,
        predicts_next=predicts_next,
        num_segments=getattr(config, "type_vocab_size", None) or 0,
        decoder_start=_decoder_start(config),
    )


def cannot_show(family: str) -> ModelUnavailable:
    """Return the error for a family whose attention cannot be shown."""
    return ModelUnavailable(
        f"Models of the kind {family!r} compute their attention in a way that cannot be shown here: choose another model."
    )


def _decoder_start(config: Any) -> int | None:
    if not config.is_encoder_decoder:
        return None
    starts = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"))
    return next((start for start in starts if start is not None), 0)


def _max_tokens(model: nn.Module) -> int:
    """Give the longest input that has positions."""
    limit = getattr(model.config, "max_position_embeddings", None) or MAX_RELATIVE_TOKENS
    for name, module in model.named_modules():
        # RoBERTa counts positions from behind its padding's id, and loses as many places.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = module.num_embeddings - module.padding_idx - 1
    return limit
