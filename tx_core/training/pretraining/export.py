"""A finished model in the hub's own layout, readable by transformers and by our own loader, with its card."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from tx_core.engine.checkpoint import NAMES, WEIGHTS, translate, write_manifest
from tx_core.training.pretraining.card import model_card
from tx_core.training.pretraining.vocabulary import MARKS
from tx_core.transformer.config import BertConfig

_HUB_NAMES = tuple((ours, theirs) for theirs, ours in NAMES)
_TIED = "head.vocabulary.weight"
"""The scores of the vocabulary share the word vectors, which are written once."""


def export_checkpoint(
    directory: Path, config: BertConfig, weights: Mapping[str, Tensor], backend: Tokenizer, facts: Mapping[str, Any]
) -> Path:
    """Write config, half-precision weights, tokenizer, card and manifest; facts tell how the model was made."""
    directory.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.detach().cpu().half().contiguous() for name, tensor in hub_names(weights).items()}
    save_file(tensors, directory / WEIGHTS, metadata={"format": "pt"})
    _write_json(directory / "config.json", hub_config(config))
    backend.save(str(directory / "tokenizer.json"))
    _write_json(directory / "tokenizer_config.json", _tokenizer_settings(config))
    (directory / "README.md").write_text(model_card(config, facts), encoding="utf-8")
    write_manifest(directory, training=dict(facts))
    return directory


def hub_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Give every weight its name in the hub's layout; raises ValueError for one that has none."""
    named = {}
    for ours, tensor in weights.items():
        theirs = translate(ours, _HUB_NAMES)
        if theirs is None:
            raise ValueError(f"the hub's layout has no name for {ours}")
        if ours != _TIED:
            named[theirs if theirs.startswith("cls.") else f"bert.{theirs}"] = tensor
    return named


def hub_config(config: BertConfig) -> dict[str, Any]:
    """Give the sizes as transformers names them."""
    return {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "dtype": "float16",
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "intermediate_size": config.intermediate_size,
        "max_position_embeddings": config.max_positions,
        "type_vocab_size": config.num_segments,
        "hidden_act": config.activation,
        "layer_norm_eps": config.layer_norm_eps,
        "hidden_dropout_prob": config.dropout,
        "attention_probs_dropout_prob": config.dropout,
        "initializer_range": 0.02,
        "pad_token_id": 0,
        "tie_word_embeddings": True,
    }


def _tokenizer_settings(config: BertConfig) -> dict[str, Any]:
    roles = ("pad", "unk", "cls", "sep", "mask")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": config.max_positions,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        **{f"{role}_token": mark for role, mark in zip(roles, MARKS, strict=True)},
    }


def _write_json(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
