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

_HEAD = """---
language: en
license: cc-by-sa-4.0
library_name: transformers
pipeline_tag: {tag}
---
"""


def model_card(config: BertConfig | CausalConfig, facts: Mapping[str, Any]) -> str:
    """Write the model card from the facts of the manifest."""
    layout = LAYOUTS[type(config)]
    parts = [
        _HEAD.format(tag=layout.tag),
        f"# {layout.title}\n",
        f"Uncased, {config.num_layers} layers of {config.num_heads} heads, hidden size {config.hidden_size}, "
        f"feed-forward {config.intermediate_size:,}, {config.max_positions} positions, {layout.shape}, "
        f"a WordPiece vocabulary of {config.vocab_size:,}. Stored in half precision, to be computed in single.\n",
        _training(facts, layout.task),
    ]
    if measured := facts.get("held_out"):
        rows = [
            f"| {source} | {figures['loss']:.2f} | {100 * figures['accuracy']:.0f} % | {figures['word_loss']:.2f} |"
            for source, figures in measured.items()
        ]
        head = "| held-out text | nats a piece | guessed first | nats a whole word |\n|---|--:|--:|--:|"
        parts += ["## Measured\n", layout.how, head, *rows, ""]
    parts += [
        "## Data and licence\n",
        "The weights are published under [CC BY-SA 4.0](https://creativecommons.org/licenses/by-sa/4.0/) with the "
        "attributions below. The texts themselves are not distributed.\n",
    ]
    if data := facts.get("data"):
        rows = [f"| {source['name']} | {source['lines']:,} | {source['weight']:g} |" for source in data]
        parts += ["| source | lines | read how often in a pass |", "|---|--:|--:|", *rows, ""]
    return "\n".join([*parts, str(facts.get("licences", ""))])


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


def _training(facts: Mapping[str, Any], task: str) -> str:
    progress = facts.get("progress")
    if not progress:
        return ""
    earlier = facts.get("init_from")
    origin = f"from the weights of the model before it ({earlier})" if earlier else "from random weights"
    return (
        f"## Training\n\n{task}, {origin}: {progress['tokens']:,} tokens in {progress['step']:,} updates, "
        f"{progress['seconds'] / 60:.0f} minutes on {facts.get('hardware', {}).get('device', 'a CPU')}. "
        "All settings, the hashes of the texts and the curves are in manifest.json.\n"
    )


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
    """What is written of a kind of model.

    Attributes:
        tokenizer: Return the tokenizer that reads for it.
        inputs: What the tokenizer hands to the model.
        tag, title: Its task on the hub, and the title of its card.
        shape: What the card says of its shape.
        task, how: What it was trained to predict, and how that was measured.
    """

    tokenizer: Callable[[Tokenizer], Tokenizer]
    inputs: tuple[str, ...]
    tag: str
    title: str
    shape: str
    task: str
    how: str


LAYOUTS: dict[type, Layout] = {
    BertConfig: Layout(
        tokenizer=lambda backend: backend,
        inputs=("input_ids", "token_type_ids", "attention_mask"),
        tag="fill-mask",
        title="A small English BERT",
        shape="2 segments",
        task="Masked words only",
        how="15 % of the pieces blanked one by one; then 15 % of the words, with all their pieces.\n",
    ),
    CausalConfig: Layout(
        tokenizer=_for_writing,
        inputs=("input_ids", "attention_mask"),
        tag="text-generation",
        title="A small English language model",
        shape="rotary, pre-norm, tied output",
        task="Every next piece",
        how="Every piece, and the end of the text, predicted from those before it; exp(nats a piece) is the perplexity.\n",
    ),
}


def _write_json(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
