"""The files of a checkpoint directory in the Hugging Face layout: its settings, its sizes and its manifest. Imports no torch."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from tx_core.errors import CheckpointProblem

WEIGHTS, INDEX, MANIFEST = "model.safetensors", "model.safetensors.index.json", "manifest.json"
NO_SAFETENSORS = f"{{name}} has no {WEIGHTS}: only safetensors checkpoints can be loaded."
MISSING_FILE = "{name} is missing from the checkpoint: copy or download it again."
COUNT = re.compile(r"\w*(layers?|heads?|blocks?|experts?|depth)")
MAX_COUNT, MAX_NUMBER = 1024, 2**31 - 1
"""The largest number of layers, heads, blocks or experts, and the largest of all other whole numbers in config.json."""
DAMAGED_WEIGHTS = "{name} is truncated or damaged: copy or download it again."


def leads_out(name: str) -> bool:
    """Return whether a file's name is a path into another directory."""
    return Path(name).name != name or "\0" in name


def weights_bytes(directory: Path) -> int:
    """Return the bytes that the weights of a checkpoint take in single precision, read from the headers of its files.

    Of one that holds a difference, with those of the checkpoint it began with. An unreadable file counts 0: loading it raises
    the error.
    """
    counts, files = [], [*directory.glob("*.safetensors")]
    with suppress(CheckpointProblem):
        if base := base_directory(directory, read_config(directory)):
            files += base.glob("*.safetensors")
    for file in files:
        with suppress(SafetensorError, OSError), safe_open(file, "np") as tensors:
            counts += [math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys()]  # noqa: SIM118
    return 4 * sum(counts)


def base_directory(directory: Path, settings: Mapping[str, Any]) -> Path | None:
    """Return the folder of the checkpoint that this one is a difference from (`checkpoint.read_whole`); None for a whole one.

    Raises CheckpointProblem for anything but a folder beside it.
    """
    if not (base := settings.get("difference_from")):
        return None
    if not isinstance(base, dict) or leads_out(folder := str(base.get("folder"))):
        raise CheckpointProblem(DAMAGED_WEIGHTS.format(name="config.json"))
    return directory.parent / folder


def read_config(directory: Path) -> dict[str, Any]:
    """Read the config.json of a checkpoint directory.

    Raises CheckpointProblem if there is no such directory, or the file is missing, is not a JSON object or contains a number that
    no model has.
    """
    if not directory.is_dir():
        raise CheckpointProblem(f"There is no checkpoint named {directory.name}: check its path.")
    settings = read_json(directory / "config.json")
    _check_numbers(settings)
    return settings


def _check_numbers(settings: object, name: str = "") -> None:
    """Check that no size in a checkpoint's settings exceeds that of any real model, before anything is built from it."""
    if isinstance(settings, dict):
        for key, value in settings.items():
            _check_numbers(value, key)
    elif isinstance(settings, list):
        for value in settings:
            _check_numbers(value, name)
    elif isinstance(settings, int):
        most = MAX_COUNT if COUNT.fullmatch(name) else MAX_NUMBER
        if abs(settings) > most:
            raise CheckpointProblem(f"config.json cannot be used: {name[:40]!r} is beyond {most:,}.")


def read_json(file: Path) -> dict[str, Any]:
    """Read a settings file. Raises CheckpointProblem if the file is missing, or is not a JSON object."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise CheckpointProblem(MISSING_FILE.format(name=file.name)) from missing
    except (ValueError, RecursionError, OSError) as broken:
        raise CheckpointProblem(DAMAGED_WEIGHTS.format(name=file.name)) from broken
    if not isinstance(content, dict):
        raise CheckpointProblem(f"{file.name} is not a settings file: it must contain a JSON object.")
    return content


def check_manifest(directory: Path) -> None:
    """Check the SHA-256 of every file listed in the manifest, if there is one.

    Raises CheckpointProblem if a listed file is missing or differs.
    """
    if not (directory / MANIFEST).exists():
        return
    files = read_json(directory / MANIFEST).get("files", {})
    if not isinstance(files, dict) or not all(isinstance(entry, dict) for entry in files.values()):
        raise CheckpointProblem(DAMAGED_WEIGHTS.format(name=MANIFEST))
    for name, expected in files.items():
        if leads_out(name):
            raise CheckpointProblem(f"{MANIFEST} refers to files outside its directory.")
        if not (directory / name).is_file():
            raise CheckpointProblem(MISSING_FILE.format(name=name))
        with (directory / name).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected.get("sha256"):
            raise CheckpointProblem(
                f"{name} of {directory.name} is not the file that its {MANIFEST} lists: "
                f"it has {(directory / name).stat().st_size:,} bytes and the listed file {expected.get('bytes')}. "
                "Copy or download it again."
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
