"""Load a model of ours from a checkpoint directory in the Hugging Face layout, strictly, by the tables of `architectures`.

A directory contains config.json and model.safetensors.
If it also contains manifest.json, the hash of every listed file is checked first.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from tx_core.engine.architectures import BERT, CAUSAL, TIED_OUTPUT, Architecture, config_from_hub, translate
from tx_core.engine.checkpoint_files import DAMAGED_WEIGHTS, NO_SAFETENSORS, WEIGHTS, base_directory, check_manifest, read_config
from tx_core.errors import CheckpointProblem
from tx_core.transformer.bert import Bert, tie_head
from tx_core.transformer.causal_lm import CausalLM

Model = TypeVar("Model", bound=nn.Module)
NOT_FINITE_WEIGHTS = "The weights cannot be used: {name} contains NaN or infinity."
NEEDS_OTHER = "{name} holds only what differs from {other}, which is missing beside it: copy or download both."
OTHER_VERSION = "{name} holds what differs from another version of {other} than the one beside it: copy or download both."
MAX_REASONS = 500
"""Characters of PyTorch's list of mismatches that an error message quotes."""

# The first BERT checkpoints call the weight and bias of a layer norm gamma and beta.
_OLD_NAMES = {"gamma": "weight", "beta": "bias"}
_LABEL_HEAD = {f"label_head.{layer}.{part}" for layer in ("read.dense", "label") for part in ("weight", "bias")}


def load_bert(directory: Path) -> Bert:
    """Load a BERT in float32 and evaluation mode, without gradients.

    Raises CheckpointProblem if a file is missing, truncated, altered or unsafe, or a tensor is unknown or has another shape.
    """
    settings, config, tensors = _read(directory, BERT)
    # One that labels whole texts, as BertForSequenceClassification does, has a pooler and two labels or more.
    if not tensors.keys() >= _LABEL_HEAD or len(tensors["label_head.label.bias"].flatten()) < 2:
        tensors = {name: tensor for name, tensor in tensors.items() if name not in _LABEL_HEAD}
    layers = {name.split(".")[2] for name in tensors if name.startswith("encoder.blocks.")}
    if len(layers) != config.num_layers:
        raise CheckpointProblem(f"config.json says {config.num_layers:,} layers, but the file has {len(layers):,}.")
    with_head = any(name.startswith("head.") for name in tensors)
    words, output = tensors.get("embeddings.words.weight"), tensors.get(TIED_OUTPUT)
    own_output = words is not None and output is not None and not torch.equal(words, output)  # the library ties no such two
    tied = with_head and settings.get("tie_word_embeddings", True) and not own_output
    if tied and (shared := output if words is None else words) is not None:
        tensors["embeddings.words.weight"] = tensors[TIED_OUTPUT] = shared
    labels = len(tensors.get("label_head.label.weight", ()))
    model = build_strictly(lambda: Bert(config, with_head=with_head, labels=labels), tensors)
    if tied:
        tie_head(model)
    return model


def load_causal_lm(directory: Path) -> CausalLM:
    """Load a causal language model as `load_bert` loads a BERT."""
    _, config, tensors = _read(directory, CAUSAL)
    return build_strictly(lambda: CausalLM(config), tensors)


def _read(directory: Path, architecture: Architecture) -> tuple[dict[str, Any], Any, dict[str, Tensor]]:
    """Return the settings, the sizes and the tensors of a checkpoint, in single precision and by our names."""
    settings = read_config(directory)
    check_manifest(directory)
    config = config_from_hub(settings)
    if type(config) is not architecture.config:
        found, wanted = settings.get("model_type", "bert"), architecture.family
        raise CheckpointProblem(f"This checkpoint is a {found!r} model, and a {wanted!r} model is needed: choose another.")
    tensors = rename(read_whole(directory, settings), architecture)
    for name in tensors:  # one by one, so that the file's and ours are not both held whole
        tensors[name] = tensors[name].to(torch.float32, copy=True)
    return settings, config, tensors


def rename(tensors: Mapping[str, Tensor], architecture: Architecture) -> dict[str, Tensor]:
    """Rename the tensors of a Hugging Face checkpoint to our names, dropping those of other tasks.

    Raises CheckpointProblem if a tensor has no counterpart here.
    """
    renamed, unknown = {}, []
    # Sorted, so that of two names of the output bias, the newer cls.predictions.decoder.bias comes last and is used.
    for full_name, tensor in sorted(tensors.items()):
        stem, dot, last = full_name.rpartition(".")
        name = f"{stem}{dot}{_OLD_NAMES.get(last, last)}"
        if new_name := translate(name, architecture.names) or translate(architecture.prefix + name, architecture.names):
            renamed[new_name] = tensor
        elif not re.fullmatch(architecture.unused, name):
            unknown.append(full_name)
    if unknown:
        raise CheckpointProblem(f"This checkpoint also contains {', '.join(sorted(unknown)[:3])}, which no model of ours has.")
    return renamed


class NoInitialWeights(TorchFunctionMode):
    """Skip weight initialisation of modules built in this thread.

    On the meta device, random initialisation would import torch's compiler: 1.5 s.
    """

    def __torch_function__(self, func: Callable, types: Collection[type], args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init":
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return func(*args, **kwargs)


def build_strictly(build: Callable[[], Model], tensors: Mapping[str, Tensor]) -> Model:
    """Build a model of these tensors, in evaluation mode and without gradients.

    It is built on the meta device, so that sizes that do not match the file fail before any allocation.

    Raises CheckpointProblem if a number is not finite, or the tensors do not fit the model.
    """
    if broken := [name for name, tensor in tensors.items() if not tensor.isfinite().all()]:
        raise CheckpointProblem(NOT_FINITE_WEIGHTS.format(name=broken[0]))
    try:
        with torch.device("meta"), NoInitialWeights():
            model = build()
        model.load_state_dict(tensors, strict=True, assign=True)
    except (RuntimeError, TypeError) as mismatch:  # TypeError: a size beyond 64 bits
        reasons = "; ".join(line.strip() for line in str(mismatch).splitlines()[1:4])[:MAX_REASONS] or "its sizes are too large"
        raise CheckpointProblem(f"The checkpoint does not fit its config.json: {reasons}") from mismatch
    return model.eval().requires_grad_(False)


def read_whole(directory: Path, settings: Mapping[str, Any]) -> dict[str, Tensor]:
    """Read all tensors of a checkpoint; of one that holds only what differs from another beside it, those of both.

    Its config.json names the other: `"difference_from": {"folder": …, "sha256": …}`. A matrix that a pair of files' tensors
    `….up` and `….down` belong to gets their product added (Hu et al. 2021); any other tensor replaces that of the same name.

    Raises CheckpointProblem if the other is missing, is another version, or does not fit.
    """
    tensors = read_tensors(directory)
    if not (other := base_directory(directory, settings)):
        return tensors
    if not (other / WEIGHTS).is_file():
        raise CheckpointProblem(NEEDS_OTHER.format(name=directory.name, other=other.name))
    with (other / WEIGHTS).open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != settings["difference_from"].get("sha256"):
        raise CheckpointProblem(OTHER_VERSION.format(name=directory.name, other=other.name))
    whole = {name: tensor for name, tensor in (read_tensors(other) | tensors).items() if not name.startswith("cls.")}
    try:
        for name in [name for name in whole if name.endswith(".up")]:
            matrix = name.removesuffix(".up")
            whole[matrix] = whole[matrix].float() + whole.pop(name).float() @ whole.pop(f"{matrix}.down").float()
    except (KeyError, RuntimeError) as mismatch:
        raise CheckpointProblem(DAMAGED_WEIGHTS.format(name=WEIGHTS)) from mismatch
    return whole


def read_tensors(directory: Path) -> dict[str, Tensor]:
    """Read all tensors of a checkpoint in one file: no model of ours is so large that it is split. Pickles are never read."""
    if not (directory / WEIGHTS).exists():
        raise CheckpointProblem(NO_SAFETENSORS.format(name=directory.name))
    try:
        return load_file(directory / WEIGHTS)
    except (SafetensorError, OSError) as broken:
        raise CheckpointProblem(DAMAGED_WEIGHTS.format(name=WEIGHTS)) from broken
