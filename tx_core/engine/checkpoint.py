"""Load a BERT from a checkpoint directory in the hub's own layout: strictly, by a rename table.

A directory holds config.json and either model.safetensors or its shards with an index.
Where a manifest.json lies beside them, every file is held against its size and hash first.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from tx_core.errors import CheckpointProblem
from tx_core.transformer.bert import Bert, tie_head
from tx_core.transformer.config import bert_config_from_hub

WEIGHTS, INDEX, MANIFEST = "model.safetensors", "model.safetensors.index.json", "manifest.json"

# The hub's names and ours, tried in order; the first that fits the whole name counts, in either direction.
NAMES: tuple[tuple[str, str], ...] = (
    ("embeddings.word_embeddings.weight", "embeddings.words.weight"),
    ("embeddings.position_embeddings.weight", "embeddings.positions.weight"),
    ("embeddings.token_type_embeddings.weight", "embeddings.segments.weight"),
    ("embeddings.LayerNorm.{part}", "embeddings.norm.{part}"),
    ("encoder.layer.{layer}.attention.self.{role}.{part}", "encoder.blocks.{layer}.attention.{role}.{part}"),
    ("encoder.layer.{layer}.attention.output.dense.{part}", "encoder.blocks.{layer}.attention.output.{part}"),
    ("encoder.layer.{layer}.attention.output.LayerNorm.{part}", "encoder.blocks.{layer}.attention_norm.{part}"),
    ("encoder.layer.{layer}.intermediate.dense.{part}", "encoder.blocks.{layer}.feed_forward.widen.{part}"),
    ("encoder.layer.{layer}.output.dense.{part}", "encoder.blocks.{layer}.feed_forward.narrow.{part}"),
    ("encoder.layer.{layer}.output.LayerNorm.{part}", "encoder.blocks.{layer}.feed_forward_norm.{part}"),
    ("cls.predictions.transform.dense.{part}", "head.dense.{part}"),
    ("cls.predictions.transform.LayerNorm.{part}", "head.norm.{part}"),
    ("cls.predictions.bias", "head.vocabulary.bias"),
    ("cls.predictions.decoder.{part}", "head.vocabulary.{part}"),
)
_PARTS = {"layer": r"\d+", "role": "query|key|value", "part": r"\w+"}
# What other tasks leave in a checkpoint and nothing here reads.
_UNUSED = re.compile(r"pooler\..*|cls\.seq_relationship\..*|embeddings\.position_ids|(classifier|qa_outputs)\..*")
# The first BERT files call a norm's weight and bias gamma and beta.
_OLD_NAMES = {"gamma": "weight", "beta": "bias"}


def load_bert(directory: Path) -> Bert:
    """Load the model, computed in 32-bit floats, ready to be looked at.

    Raises CheckpointProblem for a file that is missing, truncated, altered, unsafe or of another shape.
    """
    check_manifest(directory)
    settings = read_json(directory / "config.json")
    config = bert_config_from_hub(settings)
    tensors = rename(read_tensors(directory))
    with_head = any(name.startswith("head.") for name in tensors)
    model = Bert(config, with_head=with_head)
    if with_head and settings.get("tie_word_embeddings", True):
        tie_head(model)
        tensors["head.vocabulary.weight"] = tensors.get("embeddings.words.weight")
    _load_strictly(model, tensors)
    return model.float().eval().requires_grad_(False)


def _load_strictly(model: Bert, tensors: dict[str, Tensor]) -> None:
    try:
        model.load_state_dict(tensors, strict=True)
    except RuntimeError as mismatch:
        reasons = "; ".join(line.strip() for line in str(mismatch).splitlines()[1:4])
        raise CheckpointProblem(f"The checkpoint does not fit its config.json: {reasons}") from mismatch


def rename(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give every tensor of a checkpoint our name; raise CheckpointProblem for one that has none."""
    renamed, unknown = {}, []
    for theirs, tensor in tensors.items():
        bare = theirs.removeprefix("bert.")
        stem, _, last = bare.rpartition(".")
        bare = f"{stem}.{_OLD_NAMES.get(last, last)}" if stem else bare
        if ours := translate(bare, NAMES):
            renamed[ours] = tensor
        elif not _UNUSED.fullmatch(bare):
            unknown.append(theirs)
    if unknown:
        raise CheckpointProblem(f"This is not a plain BERT: it holds {', '.join(sorted(unknown)[:3])}.")
    return renamed


def translate(name: str, names: Iterable[tuple[str, str]]) -> str | None:
    """Give the second name of the first pair whose first one fits; None where none does."""
    for before, after in names:
        if found := _pattern(before).fullmatch(name):
            return after.format(**found.groupdict())
    return None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    written = re.escape(template).replace(r"\{", "{").replace(r"\}", "}")
    return re.compile(re.sub(r"{(\w+)}", lambda part: f"(?P<{part[1]}>{_PARTS[part[1]]})", written))


def read_tensors(directory: Path) -> dict[str, Tensor]:
    """Read all tensors, from one file or from shards; never a pickle."""
    if (directory / WEIGHTS).exists():
        return _read_safetensors(directory / WEIGHTS)
    if not (directory / INDEX).exists():
        raise CheckpointProblem(f"No {WEIGHTS} in {directory.name}: only safetensors checkpoints are read.")
    shards = sorted(set(read_json(directory / INDEX).get("weight_map", {}).values()))
    if any(Path(shard).name != shard for shard in shards):
        raise CheckpointProblem(f"{INDEX} names files outside its directory.")
    return {name: tensor for shard in shards for name, tensor in _read_safetensors(directory / shard).items()}


def _read_safetensors(file: Path) -> dict[str, Tensor]:
    try:
        return load_file(file)
    except FileNotFoundError as missing:
        raise CheckpointProblem(f"{file.name} is missing from the checkpoint: download it again.") from missing
    except (SafetensorError, OSError) as broken:
        raise CheckpointProblem(f"{file.name} is truncated or damaged: download it again.") from broken


def read_json(file: Path) -> dict[str, Any]:
    """Read a settings file; raise CheckpointProblem when there is none or it is not an object of JSON."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise CheckpointProblem(f"{file.name} is missing from the checkpoint: download it again.") from missing
    except (UnicodeDecodeError, json.JSONDecodeError, OSError) as broken:
        raise CheckpointProblem(f"{file.name} is damaged: download it again.") from broken
    if not isinstance(content, dict):
        raise CheckpointProblem(f"{file.name} is not a settings file.")
    return content


def check_manifest(directory: Path) -> None:
    """Hold every file that the manifest lists against its size and SHA-256, where there is a manifest."""
    if not directory.is_dir():
        raise CheckpointProblem(f"There is no checkpoint named {directory.name}: install the project again.")
    if not (directory / MANIFEST).exists():
        return
    for name, expected in read_json(directory / MANIFEST).get("files", {}).items():
        file = directory / name
        if not file.is_file():
            raise CheckpointProblem(f"{name} is missing from {directory.name}: install the project again.")
        content = file.read_bytes()
        if len(content) != expected["bytes"] or hashlib.sha256(content).hexdigest() != expected["sha256"]:
            raise CheckpointProblem(
                f"{name} of {directory.name} is not the file that was published "
                f"({len(content):,} of {expected['bytes']:,} bytes): install the project again."
            )


def write_manifest(directory: Path, **facts: Any) -> None:
    """Write the sizes and hashes of a finished checkpoint beside it, with any further facts."""
    files = sorted(file for file in directory.iterdir() if file.is_file() and file.name != MANIFEST)
    listing = {
        file.name: {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        for file in files
        if file.suffix in {".json", ".safetensors", ".txt"}
    }
    (directory / MANIFEST).write_text(json.dumps({"files": listing, **facts}, indent=1) + "\n", encoding="utf-8")


def parameter_count(model: torch.nn.Module) -> int:
    """Count the numbers that training sets; tied ones once."""
    return sum(parameter.numel() for parameter in model.parameters())
