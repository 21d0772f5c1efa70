"""What the app computes, on the simulated card and on the CPU: the same numbers.

Not collected by itself: `tests/tx_core/test_simulated_card.py` runs it in a process of its own. It catches what no run on a CPU
can: tensors of two devices in one operation, double precision where MPS has none, what is left on the card or computed outside
of its lock, and memory that is full.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
import torch
from torch import Tensor

from tests.support.card import CARD, full_at, one_thread_at_a_time
from tests.support.hub_families import PAIR, TEXT
from tests.support.same import assert_same
from tests.support.small_training import prepared
from tx_core.analysis.attribution import attribute
from tx_core.analysis.logit_lens import logit_lens
from tx_core.analysis.value_weighted import value_weighted
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.statistics import read_all
from tx_core.engine import bert_engine, device
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.catalogue import MODELS
from tx_core.engine.device import FALLBACK_NOTICE, sole_use
from tx_core.engine.hub import load
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.prediction_shift import shift_predictions
from tx_core.fill_mask.predictions import predict
from tx_core.lessons import (
    bert_parts,
    labels,
    masking,
    parity,
    position_encodings,
    residual_stream,
    self_attention,
    untrained,
    word_order,
)
from tx_core.training import classifier, copy_task
from tx_core.training.classifier_data import opinions
from tx_core.training.classifier_model import OPINIONS
from tx_core.training.copy_task import QUICK
from tx_core.training.pretraining import training
from tx_core.transformer.interventions import INTERVENTION_RULES, Intervention
from tx_core.transformer.trace import ALL_PARTS

BLANKED = "Time flies like an ___ over the ___"
OFF = [Intervention("off", 0, 1), Intervention("uniform", 1, 2)]
CHANGES = [
    *OFF,
    *(Intervention("hidden", 1, 0, (1,)), Intervention("cut", 1, positions=(2, 1)), Intervention("temperature", value=0.5)),
    *(Intervention("sparse", 1), Intervention("hard", 0), Intervention("causal"), Intervention("no_positions")),
    *(Intervention("patch", 1, positions=(2,)), Intervention("mean", 2), Intervention("mean", 2, part="mlp")),
    Intervention("no_padding_mask", value=3.0),
]
"""One of every kind."""
MANY = Sentences("made", (TEXT, PAIR, f"{TEXT} and {PAIR}", "the dog sleeps", "a ; banana"), tuple(range(1, 6)), ())


class Pair(NamedTuple):
    """The same model in both places."""

    cpu: Any
    card: Any


def both(load_model: Callable[[], Any]) -> Pair:
    """Load a model once for the CPU and once for the card."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (bert_engine, load):
            patch.setattr(module, "best_device", lambda: CARD)
        on_card = load_model()
    found = Pair(load_model(), on_card)
    assert (found.cpu.device, found.card.device) == ("cpu", CARD)
    return found


def agree(pair: Pair, compute: Callable[[Any], Any]) -> None:
    """Compute in both places and compare."""
    assert_same(compute(pair.card), compute(pair.cpu))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Make the card one that threads cannot share, as MPS is."""
    with pytest.MonkeyPatch.context() as patch, one_thread_at_a_time() as lock:
        patch.setattr(device, "ONE_THREAD", (*device.ONE_THREAD, CARD))
        patch.setattr(device, "_alone", lock)
        yield


@pytest.fixture(scope="module")
def bert(checkpoint) -> Pair:
    return both(lambda: load_own_engine(checkpoint("bert"), "bert", "BERT"))


def test_a_run_with_and_without_interventions_of_every_kind(bert):
    assert {one.kind for one in CHANGES} == INTERVENTION_RULES.keys()
    agree(bert, lambda engine: [engine.trace(BLANKED, keep=ALL_PARTS), engine.trace(TEXT, PAIR)])
    agree(bert, lambda engine: engine.vectors(engine.encode(BLANKED)))
    other = dict.fromkeys(("patch", "mean"), bert.cpu.vectors(bert.cpu.encode(BLANKED.replace("arrow", "___"))))
    agree(bert, lambda engine: engine.trace(BLANKED, keep=ALL_PARTS, interventions=CHANGES, vectors=other))
    agree(bert, lambda engine: engine.trace(BLANKED, interventions=[Intervention("off", 1)]))


def blank_and_path(engine: Any) -> list[object]:
    encoding = engine.encode(BLANKED)
    return [
        attribute(engine, encoding, encoding.blanks[0], 9),
        predict(engine, BLANKED),
        shift_predictions(engine, BLANKED, OFF),
        Scan(engine, BLANKED, interventions=[Intervention("off", 1, 0)], named=[(7,), (8, 9)]).run(),
    ]


def of_a_run(engine: Any) -> list[object]:
    trace = engine.trace(TEXT, keep=("weights", "value", "hidden"))
    return [logit_lens(engine, trace, 2), value_weighted(engine, trace.attention, 1), read_all(engine, MANY)]


COMPUTATIONS: dict[str, Callable[[Any, Path], Any]] = {
    "blanks": lambda engine, _: blank_and_path(engine),
    "of a run": lambda engine, _: of_a_run(engine),
    "embedding_run": lambda engine, _: bert_parts.embedding_run(engine, TEXT, PAIR),
    "block_run": lambda engine, _: bert_parts.block_run(engine, TEXT, layer=1),
    "norm_run": lambda engine, _: [
        bert_parts.norm_run(engine, TEXT, place=place, layer=1) for place in get_args(bert_parts.NormPlace)
    ],
    "feed_forward_run": lambda engine, _: bert_parts.feed_forward_run(engine, torch.linspace(-1, 1, 48).view(2, 24), 1, "relu"),
    "matrix_and_bias": lambda engine, _: bert_parts.matrix_and_bias(engine.model.encoder.blocks[1].attention.output),
    "skip_effect": lambda engine, _: residual_stream.skip_effect(engine, TEXT, PAIR),
    "layer_words": lambda engine, _: residual_stream.layer_words(engine, engine.trace(TEXT, keep=("hidden",))),
    "shuffle_test": lambda engine, _: word_order.shuffle_test(engine, BLANKED, 3),
    "untrained_engine": lambda engine, _: untrained.untrained_engine(engine, 5).trace(TEXT, keep=ALL_PARTS),
    "head_run": lambda engine, _: [
        self_attention.head_run(
            engine, engine.trace(TEXT, keep=("hidden",)), self_attention.HeadChoice(1, 2, weights, normalise="softmax")
        )
        for weights in get_args(self_attention.Weights)
    ],
    "encoding_scores": lambda engine, _: [
        position_encodings.encoding_scores(scheme, 6, 24, 10000.0, 1, engine) for scheme in position_encodings.ENCODINGS
    ],
    "padded_scores": lambda engine, _: [masking.padded_scores(engine, TEXT, 3), masking.padded_pair(engine, TEXT, PAIR)],
    "compare_with_library": lambda engine, folder: parity.compare_with_library(engine, folder, TEXT, PAIR),
}


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_a_computation_with_a_model(bert, checkpoint, name: str):
    agree(bert, lambda engine: COMPUTATIONS[name](engine, checkpoint("bert")))


def test_a_label_and_what_each_word_adds():
    engines = both(lambda: load_own_engine(MODELS / labels.FINE_TUNED, "fine-tuned", "Fine-tuned"))
    agree(engines, lambda engine: labels.label_text(engine, "A good film."))


@pytest.mark.parametrize("family", ["roberta", "t5"])
def test_a_model_of_the_library(checkpoint, family: str):
    pair = both(lambda: load.load_engine(checkpoint(family), family, family.title()))
    if family == "t5":
        agree(pair, lambda engine: [engine.trace(TEXT, PAIR, keep=ALL_PARTS, interventions=OFF), read_all(engine, MANY)])
    else:
        agree(pair, lambda engine: [*blank_and_path(engine), *of_a_run(engine)])
        agree(pair, lambda engine: engine.trace(BLANKED, keep=ALL_PARTS, interventions=OFF))
    for keep in (("weights",), ALL_PARTS):
        with full_at("cat"):  # when results are joined
            found = pair.card.trace(TEXT, PAIR, keep=keep)
        assert (found.device, found.notice) == ("cpu", FALLBACK_NOTICE)
        assert_same(replace(found, notice=""), pair.cpu.trace(TEXT, PAIR, keep=keep))


def weights(model: torch.nn.Module) -> dict[str, Tensor]:
    """Copy the weights to the CPU."""
    with sole_use(CARD):
        return {name: value.cpu() for name, value in model.state_dict().items()}


def train_encoder_decoder(device: str, *_: Path) -> object:
    small = replace(QUICK, hidden_size=16, intermediate_size=20, num_heads=2, batch_size=4, batches=2, length=6)
    run = copy_task.start_copy_training(small, device)
    first = next(run.updates())
    return [first, copy_task.answer_sequence(run, [5, 6]), copy_task.count_errors(run, 3), weights(run.model)]


def train_classifier(device: str, *_: Path) -> object:
    run = classifier.start_training(replace(OPINIONS, batch_size=64, epochs=1), opinions(160), device)
    *_, last = run.updates()
    return [last, classifier.classify(run, "the acting was wonderful"), weights(run.model)]


def pretrain(device: str, corpus: Path, folder: Path) -> object:
    with sole_use(device), pytest.MonkeyPatch.context() as patch:  # the command has one thread
        patch.setattr(training, "best_device", lambda: device)
        patch.setattr(training, "computes_bfloat16", lambda device: False)
        run, _ = prepared(corpus, folder / device, "--steps", "2")
        batches = run.packer.batches(seed=4)
        return [[float(run.update(batches)) for _ in range(2)], run.measure(), weights(run.model)]


@pytest.mark.parametrize("train", [train_encoder_decoder, train_classifier, pretrain])
def test_a_training(train: Callable[..., object], corpus: Path, tmp_path: Path):
    agree(Pair("cpu", CARD), lambda device: train(device, corpus, tmp_path))
