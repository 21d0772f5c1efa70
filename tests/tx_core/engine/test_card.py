"""What the app computes, on a CUDA card and on the CPU: the same numbers.

On a machine with a card it catches what no run on a CPU can: tensors of two devices in one operation, and results that are left
on the card. Without one it computes all once, so that these tests go on running.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.hub_families import PAIR, TEXT
from tests.support.same import assert_same
from tests.support.small_training import prepared
from tx_core.analysis.attribution import attribute
from tx_core.analysis.logit_lens import logit_lens
from tx_core.analysis.value_weighted import value_weighted
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.statistics import read_all
from tx_core.engine import bert_engine
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.catalogue import MODELS
from tx_core.engine.hub import load
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.predictions import predict
from tx_core.lessons import bert_parts, labels, masking, parity, position_encodings, residual_stream, self_attention, word_order
from tx_core.training import classifier, copy_task
from tx_core.training.classifier_data import opinions
from tx_core.training.classifier_model import OPINIONS
from tx_core.training.copy_task import QUICK
from tx_core.training.pretraining import training
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS

BLANKED = "Time flies like an ___ over the ___"
OFF = [
    Intervention("off", 0, 1),
    Intervention("uniform", 1, 2),
    Intervention("cut", 1, positions=(2, 1)),
    Intervention("mean", 2),
]
MANY = Sentences("made", (TEXT, PAIR, f"{TEXT} and {PAIR}", "the dog sleeps", "a ; banana"), tuple(range(1, 6)), ())
CARD = "cuda" if torch.cuda.is_available() else "cpu"
pytestmark = pytest.mark.ci


def assert_same_on(compute: Callable[[str], object]) -> None:
    """Hold the same what is computed on the card and on the CPU."""
    found = {device: compute(device) for device in dict.fromkeys(("cpu", CARD))}
    assert_same(found[CARD], found["cpu"])


def loaded_on(device: str, load_model: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load a model for a device."""
    for module in (bert_engine, load):
        monkeypatch.setattr(module, "best_device", lambda: device)
    engine = load_model()
    assert engine.device == device
    return engine


def of_any(engine: Any) -> list[object]:
    """What is computed with a model of any kind that fills blanks."""
    trace, encoding = engine.trace(TEXT, keep=("weights", "value", "hidden")), engine.encode(BLANKED)
    return [
        engine.trace(BLANKED, keep=ALL_PARTS, interventions=OFF),
        *(engine.vectors(encoding), predict(engine, BLANKED), attribute(engine, encoding, encoding.blanks[0], 9)),
        Scan(engine, BLANKED, interventions=[Intervention("off", 1, 0)], named=[(7,), (8, 9)]).run(),
        *(logit_lens(engine, trace, 2), value_weighted(engine, trace.attention, 1), read_all(engine, MANY)),
    ]


def of_lessons(engine: Any, folder: Path) -> list[object]:
    """What the pages of Build compute with a BERT."""
    trace = engine.trace(TEXT, keep=("hidden",))
    return [
        *(bert_parts.embedding_run(engine, TEXT, PAIR), bert_parts.block_run(engine, TEXT, layer=1)),
        bert_parts.norm_run(engine, TEXT, place="attention", layer=1),
        bert_parts.feed_forward_run(engine, torch.linspace(-1, 1, 48).view(2, 24), 1, "relu"),
        residual_stream.skip_effect(engine, TEXT, PAIR),
        *(word_order.shuffle_test(engine, BLANKED, 3), self_attention.head_run(engine, trace, self_attention.HeadChoice(1, 2))),
        position_encodings.encoding_scores("learned", 6, 24, 10000.0, 1, engine),
        *(masking.padded_scores(engine, TEXT, 3), masking.padded_pair(engine, TEXT, PAIR)),
        parity.compare_with_library(engine, folder, TEXT, PAIR),
    ]


MODELS_OF = {
    "our BERT": (
        lambda checkpoint: load_own_engine(checkpoint("bert"), "bert", "BERT"),
        lambda engine, checkpoint: [*of_any(engine), *of_lessons(engine, checkpoint("bert"))],
    ),
    "fine-tuned": (
        lambda _: load_own_engine(MODELS / labels.FINE_TUNED, "fine-tuned", "Fine-tuned"),
        lambda engine, _: labels.label_text(engine, "A good film."),
    ),
    "of the library": (
        lambda checkpoint: load.load_engine(checkpoint("roberta"), "roberta", "RoBERTa"),
        lambda engine, _: of_any(engine),
    ),
    "encoder-decoder": (
        lambda checkpoint: load.load_engine(checkpoint("t5"), "t5", "T5"),
        lambda engine, _: engine.trace(TEXT, PAIR, keep=ALL_PARTS, interventions=OFF[:3]),
    ),
}
"""How each kind of model is loaded, and what is computed with it."""


@pytest.mark.parametrize("kind", MODELS_OF)
def test_a_model(kind: str, checkpoint, monkeypatch: pytest.MonkeyPatch):
    load_model, compute = MODELS_OF[kind]
    assert_same_on(lambda device: compute(loaded_on(device, lambda: load_model(checkpoint), monkeypatch), checkpoint))


def train_encoder_decoder(device: str, *_: Path) -> object:
    small = replace(QUICK, hidden_size=16, intermediate_size=20, num_heads=2, batch_size=4, batches=2, length=6)
    run = copy_task.start_copy_training(small, device)
    return [next(run.updates()), copy_task.answer_sequence(run, [5, 6]), copy_task.count_errors(run, 3)]


def train_classifier(device: str, *_: Path) -> object:
    run = classifier.start_training(replace(OPINIONS, batch_size=64, epochs=1), opinions(160), device)
    return [*run.updates(), classifier.classify(run, "the acting was wonderful")]


def pretrain(device: str, corpus: Path, folder: Path) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "best_device", lambda: device)
        patch.setattr(training, "computes_bfloat16", lambda device: False)
        run, _ = prepared(corpus, folder, "--steps", "2")
        batches = run.packer.batches(seed=4)
        return [[float(run.step(batches)) for _ in range(2)], run.measure()]


@pytest.mark.parametrize("train", [train_encoder_decoder, train_classifier, pretrain])
def test_a_training(train: Callable[..., object], corpus: Path, tmp_path: Path):
    assert_same_on(lambda device: train(device, corpus, tmp_path / device))
