"""The trained models that ship, for the pages that train: as their default settings train them, with how they came to be.

`python -m tx_core.training.stored` trains them, in ten seconds, and writes them to assets/models/trained. Of the encoder-decoder
weights are kept, rounded to 8 bits, in rows with a scale of their own, and the attention of the training's probe at a few of its
moments. Of the two models that show what the causal mask is for, the moments are all that is kept.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
import safetensors.torch
import torch
from safetensors import safe_open

from tx_core.engine.progress import Progress
from tx_core.settings import ASSETS
from tx_core.training.copy_task import QUICK, CopySettings, CopyTraining, copy_answer, start_copy_training
from tx_core.training.future import BATCHES, MASKS, FutureMoment, look_at_both, start_future_training

TRAINED_MODELS = ASSETS / "models" / "trained"
COPY, FUTURE = TRAINED_MODELS / "copy.safetensors", TRAINED_MODELS / "future.json"
FUTURE_SEED = 0
PROBE_NUMBERS = (8, 3, 41, 7, 99, 15, 4, 62, 27)


@dataclass(frozen=True)
class StoredCopy:
    """An encoder-decoder that ships, and the progress of its training."""

    training: CopyTraining
    records: tuple[Progress, ...]


@cache
def stored_copy() -> StoredCopy:
    """Load the encoder-decoder that ships."""
    with safe_open(COPY, "pt") as file:
        tensors, about = {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["about"])  # noqa: SIM118
    training = start_copy_training(CopySettings(**about["settings"]))
    names = [name for name, _ in training.model.named_parameters()]
    training.model.load_state_dict({name: tensors[f"model.{name}"].float() * tensors[f"scale.{name}"] for name in names})
    training.probe, training.done = tuple(about["probe"]), training.batches
    answers = {}
    for place, (batch, written) in enumerate(about["probed"]):
        maps = {kind: {"weights": tensors[f"maps.{kind}"][place].float().numpy()} for kind in ("self", "decoder", "cross")}
        answers[batch] = copy_answer(training, training.probe, written, maps)
    measured = ("loss", "accuracy", "alignment")
    records = [
        Progress(batch, training.batches, about["seconds"], dict(zip(measured, values, strict=True)), answers.get(batch))
        for batch, *values in about["records"]
    ]
    return StoredCopy(training, tuple(records))


@cache
def stored_future() -> tuple[FutureMoment, tuple[Progress, ...]]:
    """Load the training with and without the causal mask that ships: the untrained models, and the progress of the training."""
    stored = json.loads(FUTURE.read_text(encoding="utf-8"))

    def moment(entry: Mapping[str, Any]) -> FutureMoment:
        written = {name: tuple(entry["written"][name]) for name in MASKS}
        return FutureMoment(
            entry["batch"], written, entry["writing_loss"], {one: np.array(entry["weights"][one]) for one in MASKS}
        )

    untrained, *later = map(moment, stored["moments"])
    shown = {one.batch: one for one in later}
    records = [
        Progress(batch, BATCHES, stored["seconds"], dict(zip(MASKS, losses, strict=True)), shown.get(batch))
        for batch, losses in enumerate(stored["losses"], start=1)
    ]
    return untrained, tuple(records)


def train_copy_model() -> None:
    """Train the encoder-decoder, and write it."""
    training = start_copy_training(QUICK)
    training.probe = PROBE_NUMBERS
    records = list(training.updates())
    tensors = {}
    for name, weights in training.model.named_parameters():
        scale = weights.detach().abs().amax(-1, keepdim=True).clamp_min(1e-12) / 127
        tensors |= {f"model.{name}": (weights.detach() / scale).round().to(torch.int8), f"scale.{name}": scale}
    probed = [record for record in records if record.probe]
    for place, stack in enumerate(probed[0].probe.trace.stacks):
        maps = [record.probe.trace.stacks[place].weights for record in probed]
        tensors[f"maps.{stack.kind}"] = torch.from_numpy(np.stack(maps)).half()
    about = {
        "records": [[one.done, *(round(value, 4) for value in one.values.values())] for one in records],
        "probed": [[one.done, one.probe.written] for one in probed],
        "seconds": round(records[-1].seconds, 1),
        "settings": asdict(training.settings),
        "probe": training.probe,
    }
    safetensors.torch.save_file(tensors, COPY, {"about": json.dumps(about)})


def train_future_models() -> None:
    """Train both models, with and without the causal mask, and write what they did."""
    training = start_future_training(FUTURE_SEED)
    untrained, records = look_at_both(training), list(training.updates())
    moments = [untrained, *(record.probe for record in records if record.probe)]
    stored = [{**vars(one), "weights": {name: one.weights[name].round(3).tolist() for name in MASKS}} for one in moments]
    losses = [[round(loss, 4) for loss in record.values.values()] for record in records]
    written = {"seconds": round(records[-1].seconds, 1), "losses": losses, "moments": stored}
    FUTURE.write_text(json.dumps(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    train_copy_model()
    train_future_models()
