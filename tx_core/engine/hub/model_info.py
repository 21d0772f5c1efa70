"""What a model of the transformers library turns out to be, and the proof that through our attention it is the same.

The library itself is not needed here: a model arrives ready (see hub.py).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tx_core.engine.hub.parts import FAMILIES, Parts, find_parts
from tx_core.engine.hub.recorder import Recorder
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import ModelUnavailable
from tx_core.transformer.attention import AttentionKind

ATTENTION = "tx_core"
MAX_RELATIVE_TOKENS = 512  # for relative positions, which set no limit of their own
PROBE = "Time flies like an arrow."


@dataclass(frozen=True)
class Shape:
    """What was found out about a model.

    family: the library's name of its architecture. layers: the number of layers of each kind of attention, in the
    order of `Trace.stacks`. max_tokens: the model's own.
    segments: how many kinds of sentence the embeddings tell apart, 0 for none.
    has_head: whether the checkpoint holds what scores the vocabulary. predicts_next: whether that scores what follows.
    decoder_start: the id that an encoder-decoder's decoder begins with, None for any other model.
    parts: where its word vectors, output projections and last norm are, None where that is not known.
    """

    family: str
    layers: dict[AttentionKind, int]
    num_heads: int
    hidden_size: int
    max_tokens: int
    segments: int
    has_head: bool
    predicts_next: bool
    decoder_start: int | None
    parts: Parts | None

    @property
    def first_layer(self) -> dict[AttentionKind, int]:
        """Where each stack's layers begin when all are numbered through; empty for one stack."""
        starts, total = {}, 0
        for kind, count in self.layers.items():
            starts[kind], total = total, total + count
        return starts if len(starts) > 1 else {}


def prove(model: Any, tokenizer: Tokenizer, has_head: bool) -> Shape:
    """Run a sentence by the library's own attention and by ours; give the sizes seen on the way.

    A picture of something other than the model would be worse than none, so a model whose
    output is not the same both ways raises ModelUnavailable.
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
    family = FAMILIES.get(config.model_type)
    return Shape(
        family=config.model_type,
        layers={kind: len(layers) for kind, layers in weights.items()},
        num_heads=weights["self"][0].shape[1],
        hidden_size=config.hidden_size,
        max_tokens=_most_tokens(model),
        segments=getattr(config, "type_vocab_size", None) or 0,
        has_head=has_head,
        predicts_next=has_head and family is not None and family.predicts_next,
        decoder_start=_decoder_start(config),
        parts=None if family is None else find_parts(model.base_model, family, len(weights["self"])),
    )


def cannot_show(family: str) -> ModelUnavailable:
    """Say of a family that what it computes as attention is not what is shown here."""
    return ModelUnavailable(
        f"Models of the kind {family!r} compute their attention in a way that cannot be shown here: choose another model."
    )


def _decoder_start(config: Any) -> int | None:
    if not config.is_encoder_decoder:
        return None
    starts = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"))
    return next((start for start in starts if start is not None), 0)


def _most_tokens(model: nn.Module) -> int:
    """Give the longest input that has positions."""
    limit = getattr(model.config, "max_position_embeddings", None) or MAX_RELATIVE_TOKENS
    for name, module in model.named_modules():
        # RoBERTa counts positions from behind its padding's id, and loses as many places.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            limit = module.num_embeddings - module.padding_idx - 1
    return limit
