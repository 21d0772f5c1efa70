"""Load a BERT from a checkpoint directory in the Hugging Face layout, strictly, with a table of parameter names.

A directory contains config.json and either model.safetensors or its shards with an index.
If it also contains manifest.json, the size and hash of every listed file are checked first.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from tx_core.errors import CheckpointProblem
from tx_core.transformer.bert import Bert, tie_head
from tx_core.transformer.config import bert_config_from_hub

WEIGHTS, INDEX, MANIFEST = "model.safetensors", "model.safetensors.index.json", "manifest.json"
NO_SAFETENSORS = f"{{name}} has no {WEIGHTS}: only safetensors checkpoints can be loaded."
MISSING_FILE = "{name} is missing from the checkpoint: copy or download it again."

# Pairs of (Hugging Face name, our name), tried in order. The first pattern that matches the whole name is used.
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
# Parameters of other tasks, which are not loaded.
_UNUSED = re.compile(r"pooler\..*|cls\.seq_relationship\..*|embeddings\.position_ids|(classifier|qa_outputs)\..*")
# The first BERT checkpoints call the weight and bias of a layer norm gamma and beta.
_OLD_NAMES = {"gamma": "weight", "beta": "bias"}


def load_bert(directory: Path) -> Bert:
    """Load a BERT in float32 and evaluation mode, without gradients.

    Raises:
        CheckpointProblem: If a file is missing, truncated, altered or unsafe, or a tensor has another shape.
    """
    settings = read_config(directory)
    check_manifest(directory)
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
    """Rename the tensors of a Hugging Face checkpoint to our names, dropping those of other tasks.

    Raises:
        CheckpointProblem: If a tensor has no counterpart here.
    """
    renamed, unknown = {}, []
    for full_name, tensor in tensors.items():
        name = full_name.removeprefix("bert.")
        stem, _, last = name.rpartition(".")
        name = f"{stem}.{_OLD_NAMES.get(last, last)}" if stem else name
        if new_name := translate(name, NAMES):
            renamed[new_name] = tensor
        elif not _UNUSED.fullmatch(name):
            unknown.append(full_name)
    if unknown:
        raise CheckpointProblem(f"This checkpoint is not a plain BERT: it also contains {', '.join(sorted(unknown)[:3])}.")
    return renamed


def translate(name: str, names: Iterable[tuple[str, str]]) -> str | None:
    """Return the new name from the first pair whose old name matches, or None."""
    for old, new in names:
        if match := _pattern(old).fullmatch(name):
            return new.format(**match.groupdict())
    return None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """Compile a name with placeholders into a regular expression with one named group for each."""
    escaped = re.escape(template).replace(r"\{", "{").replace(r"\}", "}")
    return re.compile(re.sub(r"{(\w+)}", lambda field: f"(?P<{field[1]}>{_PARTS[field[1]]})", escaped))


def read_tensors(directory: Path) -> dict[str, Tensor]:
    """Read all tensors of a checkpoint, from one safetensors file or from shards. Pickle files are never read."""
    if (directory / WEIGHTS).exists():
        return _read_safetensors(directory / WEIGHTS)
    if not (directory / INDEX).exists():
        raise CheckpointProblem(NO_SAFETENSORS.format(name=directory.name))
    shards = sorted(set(read_json(directory / INDEX).get("weight_map", {}).values()))
    if any(Path(shard).name != shard for shard in shards):
        raise CheckpointProblem(f"{INDEX} refers to files outside its directory.")
    return {name: tensor for shard in shards for name, tensor in _read_safetensors(directory / shard).items()}


def _read_safetensors(file: Path) -> dict[str, Tensor]:
    try:
        return load_file(file)
    except FileNotFoundError as missing:
        raise CheckpointProblem(MISSING_FILE.format(name=file.name)) from missing
    except (SafetensorError, OSError) as broken:
        raise CheckpointProblem(f"{file.name} is truncated or damaged: download it again.") from broken


def read_config(directory: Path) -> dict[str, Any]:
    """Read the config.json of a checkpoint directory.

    Raises:
        CheckpointProblem: If there is no such directory, or the file is missing or is not a JSON object.
    """
    if not directory.is_dir():
        raise CheckpointProblem(f"There is no checkpoint named {directory.name}: check its path.")
    return read_json(directory / "config.json")


def read_json(file: Path) -> dict[str, Any]:
    """Read a settings file.

    Raises:
        CheckpointProblem: If the file is missing, or is not a JSON object.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise CheckpointProblem(MISSING_FILE.format(name=file.name)) from missing
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError, OSError) as broken:
        raise CheckpointProblem(f"{file.name} is damaged: download it again.") from broken
    if not isinstance(content, dict):
        raise CheckpointProblem(f"{file.name} is not a settings file: it must contain a JSON object.")
    return content


def check_manifest(directory: Path) -> None:
    """Check the size and SHA-256 of every file listed in the manifest, if there is one.

    Raises:
        CheckpointProblem: If a listed file is missing or differs.
    """
    if not (directory / MANIFEST).exists():
        return
    for name, expected in read_json(directory / MANIFEST).get("files", {}).items():
        file = directory / name
        if not file.is_file():
            raise CheckpointProblem(MISSING_FILE.format(name=name))
        content = file.read_bytes()
        if len(content) != expected["bytes"] or hashlib.sha256(content).hexdigest() != expected["sha256"]:
            raise CheckpointProblem(
                f"{name} of {directory.name} is not the file that its {MANIFEST} lists: "
                f"it has {len(content):,} bytes and the listed file {expected['bytes']:,}. Copy or download it again."
            )


def write_manifest(directory: Path, **entries: Any) -> None:
    """Write manifest.json with the size and SHA-256 of every file of a checkpoint, and any further entries."""
    files = sorted(file for file in directory.iterdir() if file.is_file() and file.name != MANIFEST)
    checksums = {
        file.name: {"bytes": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
        for file in files
        if file.suffix in {".json", ".safetensors", ".txt"}
    }
    (directory / MANIFEST).write_text(json.dumps({"files": checksums, **entries}, indent=1) + "\n", encoding="utf-8")
