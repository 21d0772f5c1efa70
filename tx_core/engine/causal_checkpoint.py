"""Checkpoints of our causal language model in the layout of transformers' Starcoder2: a table of names, both ways, strictly."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tx_core.engine.checkpoint import build_strictly, read_tensors, translate
from tx_core.engine.checkpoint_files import check_manifest, read_config
from tx_core.errors import CheckpointProblem
from tx_core.transformer.causal_lm import CausalLM
from tx_core.transformer.config import CAUSAL_FAMILY, CausalConfig, is_our_causal_lm

CAUSAL_NAMES: tuple[tuple[str, str], ...] = (
    ("model.embed_tokens.weight", "words.weight"),
    ("model.layers.{layer}.input_layernorm.{part}", "encoder.blocks.{layer}.attention_norm.{part}"),
    ("model.layers.{layer}.self_attn.q_proj.{part}", "encoder.blocks.{layer}.attention.query.{part}"),
    ("model.layers.{layer}.self_attn.k_proj.{part}", "encoder.blocks.{layer}.attention.key.{part}"),
    ("model.layers.{layer}.self_attn.v_proj.{part}", "encoder.blocks.{layer}.attention.value.{part}"),
    ("model.layers.{layer}.self_attn.o_proj.{part}", "encoder.blocks.{layer}.attention.output.{part}"),
    ("model.layers.{layer}.post_attention_layernorm.{part}", "encoder.blocks.{layer}.feed_forward_norm.{part}"),
    ("model.layers.{layer}.mlp.c_fc.{part}", "encoder.blocks.{layer}.feed_forward.up.{part}"),
    ("model.layers.{layer}.mlp.c_proj.{part}", "encoder.blocks.{layer}.feed_forward.down.{part}"),
    ("model.norm.{part}", "norm.{part}"),
)
"""Pairs of (their name, our name)."""

_SIZES = {
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads",
    "intermediate_size": "intermediate_size",
    "max_positions": "max_position_embeddings",
    "layer_norm_eps": "norm_epsilon",
}


def causal_config_to_hub(config: CausalConfig) -> dict[str, Any]:
    """Return the configuration as transformers names it."""
    return {
        "architectures": ["Starcoder2ForCausalLM"],
        "model_type": CAUSAL_FAMILY,
        "dtype": "float16",
        **{theirs: getattr(config, ours) for ours, theirs in _SIZES.items()},
        "num_key_value_heads": config.num_heads,
        "hidden_act": {"gelu_new": "gelu_pytorch_tanh"}.get(config.activation, config.activation),
        "rope_parameters": {"rope_type": "default", "rope_theta": config.rotary_base},
        "attention_dropout": config.dropout,
        "residual_dropout": config.dropout,
        "embedding_dropout": 0.0,
        "use_bias": True,
        "sliding_window": None,
        "initializer_range": 0.02,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "pad_token_id": 0,
        "tie_word_embeddings": True,
    }


def causal_config_from_hub(settings: Mapping[str, Any]) -> CausalConfig:
    """Read the sizes from a config.json; dropout is 0, as a checkpoint is loaded for inference.

    Raises CheckpointProblem for another family, or for what this model does not have.
    """
    if settings.get("model_type") != CAUSAL_FAMILY:
        raise CheckpointProblem(f"This checkpoint is a {settings.get('model_type')!r} model, not a {CAUSAL_FAMILY!r}.")
    if not is_our_causal_lm(settings):
        raise CheckpointProblem(
            "Only a Starcoder2 with biases, tied words, plain rotary positions and no shared keys loads here."
        )
    try:
        sizes = {ours: settings[theirs] for ours, theirs in _SIZES.items()}
        activation = settings["hidden_act"]
        return CausalConfig(
            **sizes,
            rotary_base=float(settings["rope_parameters"]["rope_theta"]),
            activation={"gelu_pytorch_tanh": "gelu_new"}.get(activation, activation),
            dropout=0.0,
        )
    except (KeyError, TypeError, ValueError) as rule:
        raise CheckpointProblem(f"The checkpoint's config.json cannot be used: {rule}.") from rule


def causal_names_to_hub(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Translate our names of weights to theirs; raises ValueError for one that has none."""
    pairs = tuple((ours, theirs) for theirs, ours in CAUSAL_NAMES)
    named = {translate(ours, pairs): tensor for ours, tensor in weights.items()}
    if None in named:
        raise ValueError(
            f"the layout of {CAUSAL_FAMILY} has no name for {next(n for n in weights if translate(n, pairs) is None)}"
        )
    return named


def load_causal_lm(directory: Path) -> CausalLM:
    """Load a causal language model in float32 and evaluation mode, without gradients.

    Raises:
        CheckpointProblem: If a file is missing, truncated, altered or unsafe, or a tensor is unknown or has another shape.
    """
    settings = read_config(directory)
    check_manifest(directory)
    config = causal_config_from_hub(settings)
    tensors = {}
    for theirs, tensor in read_tensors(directory).items():
        ours = translate(theirs, CAUSAL_NAMES)
        if ours is None:
            raise CheckpointProblem(f"This checkpoint is not a plain {CAUSAL_FAMILY}: it also contains {theirs}.")
        tensors[ours] = tensor.to(torch.float32, copy=True)
    return build_strictly(lambda: CausalLM(config), tensors)
