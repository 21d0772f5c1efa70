"""A trained run as one safetensors file, with the settings and the losses as JSON in its header.

A file may come from anyone, so its content is checked before it is used.
`python -m tx_core.training.copy_file` trains from the command line and writes such a file.
"""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from tx_core.engine.device import sole_use
from tx_core.errors import CheckpointProblem
from tx_core.training.copy_task import CopyTraining, start_copy_training, train_copy, with_optimiser
from tx_core.training.synthetic import QUICK, SIZES, TASKS, CopySettings
from tx_core.transformer.config import Seq2SeqConfig
from tx_core.transformer.seq2seq import Seq2Seq

FORMAT = "attention-explorer sequences 1"

MAX_COPY_FILE_BYTES = 600_000_000

MAX_HEADER_BYTES = 1_000_000

NOT_OURS = "This file is no result of the sequence page. Upload a .safetensors file that was saved there."
FILE_TOO_LARGE = "This file is larger than {most} MB; no result is."
DAMAGED_FILE = "This file is cut short or damaged. Save it again and upload the whole file."
UNREADABLE_PART = "The {part} in this file cannot be read: it was altered."
WRONG_SETTINGS = "The settings in this file must be {expected}: it was altered."
UNUSABLE_SETTINGS = "The settings in this file cannot be used: {rule}."
WRONG_LOSSES = "The losses in this file must be at most {most} numbers."
WRONG_TENSORS = "The tensors in this file do not fit its settings: {name!r} is missing or too many."
WRONG_SHAPE = "{name} in this file must be float32 of shape {expected}, got {dtype} of shape {shape}."
NOT_FINITE_FILE = "{name} in this file holds numbers that are not finite: it was altered."

_MOMENTS = {"first.": "exp_avg", "second.": "exp_avg_sq"}
_FORMER_NAMES = {".feed_forward.widen.": ".feed_forward.up.", ".feed_forward.narrow.": ".feed_forward.down."}
"""Parts of names in files that earlier versions wrote."""


def to_file(training: CopyTraining, *, resumable: bool = False) -> bytes:
    """Serialise a run. resumable: include the optimiser's state, which makes the file three times as large."""
    with sole_use(training.device):
        tensors = {f"model.{name}": value.cpu().contiguous() for name, value in training.model.state_dict().items()}
        if resumable and training.losses:
            for name, parameter in training.model.named_parameters():
                for prefix, moment in _MOMENTS.items():
                    tensors[prefix + name] = training.optimiser.state[parameter][moment].cpu().contiguous()
    about = {"format": FORMAT, "settings": json.dumps(asdict(training.settings)), "losses": json.dumps(training.losses)}
    return safetensors.torch.save(tensors, about)


def from_file(data: bytes, device: str = "cpu") -> CopyTraining:
    """Load a run. Without the optimiser's state, further training restarts Adam.

    Raises:
        CheckpointProblem: If the file is truncated, altered, too large or something else.
    """
    about = _read_about(data)
    settings = _read_settings(about)
    losses = _read_losses(about, settings)
    try:
        tensors = {_current_name(name): tensor for name, tensor in safetensors.torch.load(data).items()}
    except (SafetensorError, ValueError, KeyError) as broken:
        raise CheckpointProblem(DAMAGED_FILE) from broken
    shapes = _expected_shapes(settings.model_sizes)
    resumable = any(name.startswith(tuple(_MOMENTS)) for name in tensors)
    _check_tensors(tensors, shapes, resumable)
    model = Seq2Seq(settings.model_sizes)
    model.load_state_dict({name: tensors[f"model.{name}"] for name in shapes}, strict=True)
    training = with_optimiser(settings, model.eval(), device)
    training.losses.extend(losses)
    if resumable:
        with sole_use(device):
            _restore_moments(training, tensors)
    return training


def _current_name(name: str) -> str:
    for former, current in _FORMER_NAMES.items():
        name = name.replace(former, current)
    return name


def _read_about(data: bytes) -> dict[str, str]:
    """Read the metadata of the header, before any tensor."""
    if len(data) > MAX_COPY_FILE_BYTES:
        raise CheckpointProblem(FILE_TOO_LARGE.format(most=MAX_COPY_FILE_BYTES // 1_000_000))
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or not 2 <= length <= min(MAX_HEADER_BYTES, len(data) - 8):
        raise CheckpointProblem(NOT_OURS)
    try:
        about = json.loads(data[8 : 8 + length].decode("utf-8")).get("__metadata__")
    except (ValueError, AttributeError, RecursionError) as broken:
        raise CheckpointProblem(NOT_OURS) from broken
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise CheckpointProblem(NOT_OURS)
    return about


def _read_json(about: dict[str, str], name: str) -> Any:
    try:
        return json.loads(about[name])
    except (KeyError, TypeError, ValueError, RecursionError) as broken:
        raise CheckpointProblem(UNREADABLE_PART.format(part=name)) from broken


def _read_settings(about: dict[str, str]) -> CopySettings:
    given, kinds = _read_json(about, "settings"), {name: type(value) for name, value in asdict(QUICK).items()}
    if not isinstance(given, dict) or {name: type(value) for name, value in given.items()} != kinds:
        wanted = ", ".join(f"{name} ({kind.__name__})" for name, kind in kinds.items())
        raise CheckpointProblem(WRONG_SETTINGS.format(expected=wanted))
    try:
        return CopySettings(**given)
    except ValueError as rule:
        raise CheckpointProblem(UNUSABLE_SETTINGS.format(rule=rule)) from rule


def _read_losses(about: dict[str, str], settings: CopySettings) -> list[float]:
    losses = _read_json(about, "losses")
    numbers = isinstance(losses, list) and all(isinstance(loss, float) and math.isfinite(loss) for loss in losses)
    if not numbers or len(losses) > settings.batches:
        raise CheckpointProblem(WRONG_LOSSES.format(most=settings.batches))
    return losses


def _expected_shapes(sizes: Seq2SeqConfig) -> dict[str, tuple[int, ...]]:
    with torch.device("meta"):
        return {name: tuple(value.shape) for name, value in Seq2Seq(sizes).state_dict().items()}


def _check_tensors(tensors: dict[str, Tensor], shapes: dict[str, tuple[int, ...]], resumable: bool) -> None:
    prefixes = ("model.", *(_MOMENTS if resumable else ()))
    expected = {prefix + name: shape for prefix in prefixes for name, shape in shapes.items()}
    if set(tensors) != set(expected):
        odd = sorted(set(tensors) ^ set(expected))[0]
        raise CheckpointProblem(WRONG_TENSORS.format(name=odd[:80]))
    for name, tensor in tensors.items():
        if tuple(tensor.shape) != expected[name] or tensor.dtype != torch.float32:
            dtype, shape = str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)
            raise CheckpointProblem(WRONG_SHAPE.format(name=name, expected=expected[name], dtype=dtype, shape=shape))
        if not tensor.isfinite().all():
            raise CheckpointProblem(NOT_FINITE_FILE.format(name=name))


def _restore_moments(training: CopyTraining, tensors: dict[str, Tensor]) -> None:
    for name, parameter in training.model.named_parameters():
        state = {moment: tensors[prefix + name].to(training.device) for prefix, moment in _MOMENTS.items()}
        training.optimiser.state[parameter] = {"step": torch.tensor(float(len(training.losses))), **state}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train from the command line, and write the result to a file if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=sorted(TASKS), default="copy")
    parser.add_argument("--sizes", choices=sorted(SIZES), default="quick")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, help="where to write the result, a .safetensors file")
    chosen = parser.parse_args(arguments)
    training = start_copy_training(replace(SIZES[chosen.sizes], task=chosen.task, seed=chosen.seed), chosen.device)
    for progress in train_copy(training):
        if progress.probe is not None:
            print(
                f"batch {progress.batch:4d}  loss {progress.loss:.4f}  right {progress.accuracy:.3f}  "
                f"alignment {progress.alignment:.3f}  {progress.seconds:.1f} s",
                flush=True,
            )
    if chosen.out is not None:
        chosen.out.write_bytes(to_file(training))


if __name__ == "__main__":
    main()
