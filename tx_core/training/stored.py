"""The trained models that ship, for the pages that train: as their default settings train them, with how they came to be.

`python -m tx_core.training.stored` trains them, in ten seconds, and writes them to assets/models/trained. Weights are rounded to
8 bits, in rows with a scale of their own; the attention of the training's probe is kept at a few of its moments. Of the two
models that show what the causal mask is for, the moments are all that is kept.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import safetensors.torch
import torch
from safetensors import safe_open
from torch import Tensor, nn

from tx_core.engine.device_limits import CPU_LIMITS
from tx_core.lessons.labels import LabelPrediction
from tx_core.settings import ASSETS
from tx_core.training.classifier import (
    ClassifierProgress,
    ClassifierScore,
    ClassifierTraining,
    evaluate_classifier,
    start_training,
)
from tx_core.training.classifier_data import opinions
from tx_core.training.classifier_model import OPINIONS, ClassifierSettings, encode_words
from tx_core.training.copy_task import CopyAnswer, CopyProgress, CopyTraining, start_copy_training
from tx_core.training.future import BATCHES, MASKS, FutureMoment, FutureProgress, look, moments_of, start_future_training
from tx_core.training.synthetic import QUICK, START_ID, CopySettings, solve
from tx_core.transformer.seq2seq import number_encoding
from tx_core.transformer.trace import AttentionStack, Trace

TRAINED_MODELS = ASSETS / "models" / "trained"
COPY, CLASSIFIER = TRAINED_MODELS / "copy.safetensors", TRAINED_MODELS / "classifier.safetensors"
FUTURE, FUTURE_SEED = TRAINED_MODELS / "future.json", 0
PROBE_NUMBERS = (8, 3, 41, 7, 99, 15, 4, 62, 27)
PROBE_SENTENCE = "the plot was not dull at all"


@dataclass(frozen=True)
class StoredCopy:
    """An encoder-decoder that ships, and the progress of its training."""

    training: CopyTraining
    records: tuple[CopyProgress, ...]


@dataclass(frozen=True)
class StoredClassifier:
    """A classifier that ships, and the progress of its training."""

    training: ClassifierTraining
    records: tuple[ClassifierProgress, ...]


@cache
def stored_copy() -> StoredCopy:
    """Load the encoder-decoder that ships."""
    tensors, about = _read(COPY)
    training = start_copy_training(CopySettings(**about["settings"]))
    _load(training.model, tensors)
    training.probe = tuple(about["probe"])
    training.losses.extend(loss for _, loss, *_ in about["records"])
    source = number_encoding(torch.tensor([START_ID, *training.probe]))
    right = tuple(solve(training.settings.task, torch.tensor([[START_ID, *training.probe]]))[0, 1:].tolist())
    answers = {}
    for place, (batch, written) in enumerate(about["probed"]):
        target = number_encoding(torch.tensor([START_ID, *written[:-1]]))
        axes = {"self": (source, source), "decoder": (target, target), "cross": (target, source)}
        stacks = [
            AttentionStack(kind, query, key, weights=tensors[f"maps.{kind}"][place].float().numpy())
            for kind, (query, key) in axes.items()
        ]
        trace = Trace(training.settings.task, "cpu", tuple(stacks))
        answers[batch] = CopyAnswer(training.probe, tuple(written), right, True, trace)
    records = [
        CopyProgress(batch, training.settings.batches, loss, accuracy, alignment, about["seconds"], answers.get(batch))
        for batch, loss, accuracy, alignment in about["records"]
    ]
    return StoredCopy(training, tuple(records))


@cache
def stored_classifier() -> StoredClassifier:
    """Load the classifier that ships; its last score is that of the weights as they are stored."""
    tensors, about = _read(CLASSIFIER)
    training = start_training(ClassifierSettings(**about["settings"]), opinions())
    _load(training.model, tensors)
    training.probe, training.done = about["probe"], training.batches
    names, words = training.data.names, encode_words(about["probe"], training.vocabulary.numbers(), training.settings.most_tokens)
    tests = {epoch: ClassifierScore(loss, accuracy, names, np.array(counts)) for epoch, loss, accuracy, counts in about["tests"]}
    tests[training.settings.epochs] = evaluate_classifier(training)
    probes = {}
    for place, batch in enumerate(about["probed"]):
        parts = {name: tensors[f"probe.{name}"][place].float() for name in ("probabilities", "contributions", "weights")}
        stack = AttentionStack("self", words, words, weights=parts["weights"].numpy())
        trace = Trace("classifier", "cpu", (stack,))
        probes[batch] = LabelPrediction(names, tuple(parts["probabilities"].tolist()), parts["contributions"].numpy(), trace)
    size = training.batches_an_epoch
    records = [
        ClassifierProgress(
            batch,
            training.batches,
            (batch - 1) // size + 1,
            loss,
            accuracy,
            about["seconds"],
            tests[batch // size] if batch % size == 0 else None,
            probes.get(batch),
        )
        for batch, loss, accuracy in about["records"]
    ]
    return StoredClassifier(training, tuple(records))


def _read(path: Any) -> tuple[dict[str, Tensor], dict[str, Any]]:
    with safe_open(path, "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["about"])  # noqa: SIM118


def _load(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    names = [name for name, _ in model.named_parameters()]
    weights = {name: tensors[f"model.{name}"].float() * tensors[f"scale.{name}"] for name in names}
    model.load_state_dict(weights, strict=True)


@cache
def stored_future() -> tuple[FutureMoment, tuple[FutureProgress, ...]]:
    """Load the training with and without the causal mask that ships: the untrained models, and the progress of the training."""
    stored = json.loads(FUTURE.read_text(encoding="utf-8"))

    def moment(told: Mapping[str, Any]) -> FutureMoment:
        written = {name: tuple(told["written"][name]) for name in MASKS}
        return FutureMoment(told["batch"], written, told["writing_loss"], {one: np.array(told["weights"][one]) for one in MASKS})

    untrained, *later = map(moment, stored["moments"])
    shown = {one.batch: one for one in later}
    records = [
        FutureProgress(batch, BATCHES, dict(zip(MASKS, losses, strict=True)), stored["seconds"], shown.get(batch), FUTURE_SEED)
        for batch, losses in enumerate(stored["losses"], start=1)
    ]
    return untrained, tuple(records)


def _rounded(model: nn.Module) -> dict[str, Tensor]:
    """Round every row of the weights to 8 bits."""
    tensors = {}
    for name, weights in model.named_parameters():
        scale = weights.detach().abs().amax(-1, keepdim=True).clamp_min(1e-12) / 127
        tensors |= {f"model.{name}": (weights.detach() / scale).round().to(torch.int8), f"scale.{name}": scale}
    return tensors


def _write(path: Any, training: CopyTraining | ClassifierTraining, tensors: Mapping[str, Tensor], **about: Any) -> None:
    about |= {"settings": asdict(training.settings), "probe": training.probe}
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"about": json.dumps(about)}
    safetensors.torch.save_file({**_rounded(training.model), **tensors}, path, metadata)
    print(f"{path.name}: {path.stat().st_size:,} bytes", flush=True)


def _half(arrays: Sequence[np.ndarray]) -> Tensor:
    return torch.from_numpy(np.stack(arrays)).half()


def train_copy_model() -> None:
    """Train the encoder-decoder, and write it."""
    training = start_copy_training(QUICK)
    training.probe = PROBE_NUMBERS
    records = list(training.updates())
    probed = [record for record in records if record.probe is not None]
    maps = {
        f"maps.{stack.kind}": _half([record.probe.trace.stacks[place].weights for record in probed])
        for place, stack in enumerate(probed[0].probe.trace.stacks)
    }
    rows = [[one.batch, *(round(value, 4) for value in (one.loss, one.accuracy, one.alignment))] for one in records]
    answers = [[one.batch, one.probe.written] for one in probed]
    _write(COPY, training, maps, records=rows, probed=answers, seconds=round(records[-1].seconds, 1))


def train_classifier_model() -> None:
    """Train the classifier, and write it."""
    training = start_training(replace(OPINIONS, most_words=CPU_LIMITS.classifier["most_words"]), opinions())
    training.probe = PROBE_SENTENCE
    records = list(training.updates())
    probed = [record for record in records if record.probe is not None]
    tensors = {
        "probe.probabilities": _half([np.array(one.probe.probabilities) for one in probed]),
        "probe.contributions": _half([one.probe.contributions for one in probed]),
        "probe.weights": _half([one.probe.trace.attention.weights for one in probed]),
    }
    tests = [[one.epoch, round(one.test.loss, 4), one.test.accuracy, one.test.confusion.tolist()] for one in records if one.test]
    rows = [[one.batch, round(one.loss, 4), round(one.accuracy, 4)] for one in records]
    numbers = {"records": rows, "tests": tests, "probed": [one.batch for one in probed]}
    _write(CLASSIFIER, training, tensors, **numbers, seconds=round(records[-1].seconds, 1))


def train_future_models() -> None:
    """Train both models, with and without the causal mask, and write what they did."""
    training = start_future_training(FUTURE_SEED)
    moments, records = [look(training)], list(training.updates())
    moments += moments_of(records)
    told = [{**vars(one), "weights": {name: one.weights[name].round(3).tolist() for name in MASKS}} for one in moments]
    losses = [[round(loss, 4) for loss in record.loss.values()] for record in records]
    written = {"seconds": round(records[-1].seconds, 1), "losses": losses, "moments": told}
    FUTURE.write_text(json.dumps(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    train_copy_model()
    train_classifier_model()
    train_future_models()
