"""Export a trained model in the hub's layout, readable by transformers and by our own loader, with its model card."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from tokenizers import Tokenizer, processors
from torch import Tensor

from tx_core.engine.architectures import config_to_hub, names_to_hub
from tx_core.engine.checkpoint_files import WEIGHTS, write_manifest
from tx_core.training.pretraining.vocabulary import CLS_ID, SPECIAL_TOKENS
from tx_core.transformer.config import BertConfig, CausalConfig

EVALUATED = "## Evaluated"

CARD = """---
language: en
license: cc-by-sa-4.0
library_name: transformers
pipeline_tag: {tag}
---

# {title}

Uncased, {config.num_layers} layers of {config.num_heads} heads, hidden size {config.hidden_size}, feed-forward \
{config.intermediate_size:,}, {config.max_positions} positions, a WordPiece vocabulary of {config.vocab_size:,}. Stored in half \
precision, to be computed in single. All settings, the hashes of the texts, the curves and what was measured are in manifest.json.

## Data and licence

The weights are published under [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/) with the attributions below. The \
texts themselves are not distributed.

"""
SOURCES_TABLE = "| source | lines | read how often in a pass |\n|---|--:|--:|\n"


def model_card(config: BertConfig | CausalConfig, facts: Mapping[str, Any]) -> str:
    """Write the model card from the facts of the manifest."""
    layout = LAYOUTS[type(config)]
    rows = [f"| {source['name']} | {source['lines']:,} | {source['weight']:g} |\n" for source in facts.get("data", ())]
    table = "".join([SOURCES_TABLE, *rows, "\n"]) if rows else ""
    return CARD.format(tag=layout.tag, title=layout.title, config=config) + table + facts.get("licences", "")


def with_evaluation(card: str, table: Sequence[str], sample: int = 0) -> str:
    """Insert the evaluation table into a card, or replace the one that it has: before the data, else at the end.

    sample: how many pairs of each BLiMP paradigm and agreement set were measured; 0 for all.
    """
    without = re.sub(rf"^{EVALUATED}\n.*?(?=^## |\Z)", "", card, flags=re.MULTILINE | re.DOTALL)
    before, found, after = without.partition("## Data")
    note = "By `python -m tx_core.training.evaluate`; that module names the sets.\n"
    if sample:
        note = f"{note.rstrip()} Of BLiMP and agreement the first {sample} pairs of each set.\n"
    section = "\n".join([f"{EVALUATED}\n", note, *table, ""])
    return f"{before.rstrip()}\n\n{section}" + (f"\n{found}{after}" if found else "")


def export_checkpoint(
    directory: Path,
    config: BertConfig | CausalConfig,
    weights: Mapping[str, Tensor],
    backend: Tokenizer,
    facts: Mapping[str, Any],
) -> Path:
    """Write config, half-precision weights, tokenizer, card and manifest; facts record how the model was made."""
    directory.mkdir(parents=True, exist_ok=True)
    layout = LAYOUTS[type(config)]
    tensors = {name: tensor.detach().cpu().half().contiguous() for name, tensor in names_to_hub(type(config), weights).items()}
    save_file(tensors, directory / WEIGHTS, metadata={"format": "pt"})
    _write_json(directory / "config.json", config_to_hub(config))
    layout.tokenizer(backend).save(str(directory / "tokenizer.json"))
    _write_json(directory / "tokenizer_config.json", _tokenizer_settings(config, layout.inputs))
    (directory / "README.md").write_text(model_card(config, facts), encoding="utf-8")
    write_manifest(directory, training=dict(facts))
    return directory


def _for_writing(backend: Tokenizer) -> Tokenizer:
    """Copy a tokenizer, to end no text with [SEP]: the model would have nothing to add."""
    copy = Tokenizer.from_str(backend.to_str())
    copy.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $A $B", special_tokens=[(SPECIAL_TOKENS[CLS_ID], CLS_ID)]
    )
    return copy


def _tokenizer_settings(config: BertConfig | CausalConfig, inputs: Sequence[str]) -> dict[str, Any]:
    roles = ("pad", "unk", "cls", "sep", "mask")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": config.max_positions,
        "model_input_names": list(inputs),
        **{f"{role}_token": mark for role, mark in zip(roles, SPECIAL_TOKENS, strict=True)},
    }


@dataclass(frozen=True)
class Layout:
    """What is written of a kind of model: its tokenizer, what that hands to the model, its task on the hub, its title."""

    tokenizer: Callable[[Tokenizer], Tokenizer]
    inputs: tuple[str, ...]
    tag: str
    title: str


LAYOUTS: dict[type, Layout] = {
    BertConfig: Layout(
        lambda backend: backend, ("input_ids", "token_type_ids", "attention_mask"), "fill-mask", "A small English BERT"
    ),
    CausalConfig: Layout(_for_writing, ("input_ids", "attention_mask"), "text-generation", "A small English language model"),
}


def _write_json(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
