"""What the app computes, on the simulated card and on the CPU: the same numbers.

Not collected by itself: `tests/tx_core/test_simulated_card.py` runs it in a process of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.support.card import CARD, CardTensor, full_at, one_thread_at_a_time
from tests.support.hub_families import PAIR, TEXT
from tests.support.small_training import prepared
from tx_core.analysis.attribution import attribute
from tx_core.analysis.logit_lens import logit_lens
from tx_core.analysis.value_weighted import value_weighted
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.statistics import read_all
from tx_core.engine import bert_engine, device
from tx_core.engine.bert_engine import BertEngine, load_own_engine
from tx_core.engine.catalogue import MODELS
from tx_core.engine.device import FALLBACK_NOTICE, sole_use
from tx_core.engine.engine import Engine
from tx_core.engine.hub import load
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.prediction_shift import shift_predictions
from tx_core.fill_mask.predictions import fill_jointly, predict
from tx_core.fill_mask.word_scores import score_words
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
from tx_core.training.pretraining import training
from tx_core.training.synthetic import QUICK
from tx_core.transformer.bert import HEADS
from tx_core.transformer.interventions import INTERVENTION_RULES, Intervention, InterventionKind
from tx_core.transformer.trace import ALL_PARTS

BLANKED = "Time flies like an ___ over the ___"
WHERE_AND_WHEN = {"device", "seconds", "seconds_left", "tokens_per_second", "model"}
"""Fields of results that may differ."""


class Pair(NamedTuple):
    """The same model in both places."""

    cpu: Any
    card: Any


def both(load_model: Callable[[], Engine]) -> Pair:
    """Load a model once for the CPU and once for the card."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (bert_engine, load):
            patch.setattr(module, "best_device", lambda: CARD)
        on_card = load_model()
    found = Pair(load_model(), on_card)
    assert (found.cpu.device, found.card.device) == ("cpu", CARD)
    return found


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


@pytest.fixture(scope="module")
def hub(checkpoint) -> Callable[[str], Pair]:
    return cache(lambda family: both(lambda: load.load_engine(checkpoint(family), family, family.title())))


def assert_same(found: Any, expected: Any, where: str = "result") -> None:
    """Compare two results number by number, to 1e-5; none of them may be left on the card."""
    assert not isinstance(found, CardTensor), f"{where} was left on the card"
    if is_dataclass(expected) and not isinstance(expected, type):
        for field in fields(expected):
            if field.name not in WHERE_AND_WHEN:
                assert_same(getattr(found, field.name), getattr(expected, field.name), f"{where}.{field.name}")
    elif isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name in expected:
            assert_same(found[name], expected[name], f"{where}[{name}]")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), where
        for number, pair in enumerate(zip(found, expected, strict=True)):
            assert_same(*pair, f"{where}[{number}]")
    elif isinstance(expected, np.ndarray | Tensor | float):
        found, expected = (np.asarray(one.detach() if isinstance(one, Tensor) else one) for one in (found, expected))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=where)
    else:
        assert found == expected, where


def agree(pair: Pair, compute: Callable[[Any], Any]) -> None:
    """Compute in both places and compare."""
    assert_same(compute(pair.card), compute(pair.cpu))


def example(kind: InterventionKind) -> Intervention:
    """Make an intervention of a kind."""
    positions = (2, 1)[: len(INTERVENTION_RULES[kind].positions)]
    value = {"temperature": 0.5, "no_padding_mask": 3.0}.get(kind, 1.0)
    return Intervention(kind, None if INTERVENTION_RULES[kind].whole_run else 1, positions=positions, value=value)


CHANGES = [
    *[[example(kind)] for kind in INTERVENTION_RULES],
    [Intervention("off", 0, 1), Intervention("uniform", 1, 2), Intervention("hidden", 1, 0, (1,)), Intervention("hard", 0)],
]
NAMES = [" and ".join(one.kind for one in changes) for changes in CHANGES]


def test_everything_kept(bert):
    agree(bert, lambda engine: engine.trace(BLANKED, keep=ALL_PARTS))
    agree(bert, lambda engine: engine.trace(TEXT, PAIR))


@pytest.mark.parametrize("changes", CHANGES, ids=NAMES)
def test_every_intervention(bert, changes: list[Intervention]):
    agree(bert, lambda engine: engine.vectors(engine.encode(BLANKED)))
    other = dict.fromkeys(("patch", "mean"), bert.cpu.vectors(bert.cpu.encode(BLANKED.replace("arrow", "___"))))
    agree(bert, lambda engine: engine.trace(BLANKED, keep=ALL_PARTS, interventions=changes, vectors=other))


def test_fill_the_blank(bert):
    agree(bert, lambda engine: predict(engine, BLANKED))
    agree(bert, lambda engine: fill_jointly(engine, BLANKED))
    agree(bert, lambda engine: shift_predictions(engine, BLANKED, CHANGES[-1]))
    agree(bert, lambda engine: score_words(engine, BLANKED, ["dog", "unbelievable", "banana"]))


def test_a_scan_of_all_heads(bert):
    agree(bert, lambda engine: Scan(engine, BLANKED, named=[(7,), (8, 9)]).run())
    agree(bert, lambda engine: Scan(engine, BLANKED, interventions=[Intervention("off", 1, 0)]).run())


def test_what_is_computed_from_a_run(bert):
    def everything(engine: Engine) -> list[object]:
        trace = engine.trace(BLANKED, keep=ALL_PARTS)
        place = trace.attention.query_tokens.blanks[0]
        return [
            attribute(engine, trace.attention.query_tokens, place, 9),
            logit_lens(engine, trace, place),
            value_weighted(engine, trace.attention, 1),
        ]

    agree(bert, everything)


LESSONS: dict[str, Callable[[BertEngine, Path], Any]] = {
    "embedding_run": lambda engine, _: bert_parts.embedding_run(engine, TEXT, PAIR),
    "block_run": lambda engine, _: bert_parts.block_run(engine, TEXT, layer=1),
    "norm_run": lambda engine, _: [
        bert_parts.norm_run(engine, TEXT, place=place, layer=1) for place in get_args(bert_parts.NormPlace)
    ],
    "feed_forward_run": lambda engine, _: [
        bert_parts.feed_forward_run(engine, torch.linspace(-1, 1, 48).view(2, 24), 1, activation)
        for activation in ("gelu", "relu")
    ],
    "on_cpu": lambda engine, _: list(bert_parts.on_cpu(engine.model.embeddings.norm).parameters()),
    "matrix_and_bias": lambda engine, _: bert_parts.matrix_and_bias(engine.model.encoder.blocks[1].attention.output),
    "skip_effect": lambda engine, _: residual_stream.skip_effect(engine, TEXT, PAIR),
    "layer_words": lambda engine, _: residual_stream.layer_words(engine, engine.trace(TEXT, keep=("hidden",))),
    "token_paths": lambda engine, _: residual_stream.token_paths(engine.trace(TEXT, keep=("hidden",)), [1, 2]),
    "shuffle_test": lambda engine, _: word_order.shuffle_test(engine, BLANKED, 3),
    "untrained_engine": lambda engine, _: untrained.untrained_engine(engine, 5).trace(TEXT, keep=ALL_PARTS),
    "predict_labels": lambda engine, _: [
        untrained.predict_labels(engine.trace(TEXT, keep=("hidden",)), kind, 3, 5) for kind in HEADS
    ],
    "head_run": lambda engine, _: [
        self_attention.head_run(
            engine, engine.trace(TEXT, keep=("hidden",)), self_attention.HeadChoice(1, 2, weights, normalise=name)
        )
        for weights, name in zip(get_args(self_attention.Weights), self_attention.NORMALISE, strict=True)
    ],
    "learned_table": lambda engine, _: position_encodings.learned_table(engine),
    "encoding_scores": lambda engine, _: [
        position_encodings.encoding_scores(scheme, 6, 24, 10000.0, 1, engine) for scheme in position_encodings.ENCODINGS
    ],
    "same_word_scores": lambda engine, _: position_encodings.same_word_scores(engine, 6, 1),
    "padded_scores": lambda engine, _: masking.padded_scores(engine, TEXT, 3),
    "padded_pair": lambda engine, _: masking.padded_pair(engine, TEXT, PAIR),
    "compare_with_library": lambda engine, folder: parity.compare_with_library(engine, folder, TEXT, PAIR),
    "parity": lambda engine, folder: parity.parity(
        engine, TEXT, None, load.reference_run(folder, engine.encode(TEXT), engine.model)
    ),
}


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson(bert, checkpoint, lesson: str):
    agree(bert, lambda engine: LESSONS[lesson](engine, checkpoint("bert")))


def test_a_label_and_what_each_word_adds():
    engines = both(lambda: load_own_engine(MODELS / labels.FINE_TUNED, "fine-tuned", "Fine-tuned"))
    agree(engines, lambda engine: labels.label_text(engine, "A good film."))


def test_a_training_of_an_encoder_decoder():
    def train(device: str) -> object:
        small = replace(QUICK, hidden_size=16, intermediate_size=20, num_heads=2, batch_size=4, batches=2, length=6)
        training = copy_task.start_copy_training(small, device)
        (first, *_) = training.updates()
        return [
            first,
            copy_task.answer_sequence(training, [5, 6]),
            copy_task.count_errors(training, 3),
            weights(training.model),
        ]

    agree(Pair("cpu", CARD), train)


def test_a_training_of_a_classifier():
    def train(device: str) -> object:
        training = classifier.start_training(replace(OPINIONS, batch_size=64, epochs=1), opinions(160), device)
        *_, last = training.updates()
        return [last, classifier.classify(training, "the acting was wonderful"), weights(training.model)]

    agree(Pair("cpu", CARD), train)


def test_a_pre_training(corpus: Path, tmp_path: Path):
    def train(device: str) -> object:
        with sole_use(device), pytest.MonkeyPatch.context() as patch:  # the command has one thread
            patch.setattr(training, "best_device", lambda: device)
            patch.setattr(training, "computes_bfloat16", lambda device: False)
            run, _ = prepared(corpus, tmp_path / device, "--steps", "2")
            batches = run.packer.batches(seed=4)
            losses = [float(run.update(batches)) for _ in range(2)]
            return [losses, run.measure(), weights(run.model)]

    agree(Pair("cpu", CARD), train)


def weights(model: torch.nn.Module) -> dict[str, Tensor]:
    """Copy the weights to the CPU."""
    with sole_use(CARD):
        return {name: value.cpu() for name, value in model.state_dict().items()}


SENTENCES = [TEXT, PAIR, f"{TEXT} and {PAIR}", "the dog sleeps", "she poured the tea because he was late", "a ; banana"]
MANY = Sentences("made", tuple(SENTENCES), tuple(range(1, 1 + len(SENTENCES))), ())


def test_many_sentences(bert):
    agree(bert, lambda engine: read_all(engine, MANY))


@pytest.mark.parametrize("family", ["roberta", "t5"])
def test_a_model_of_the_library(hub, family: str):
    pair = hub(family)
    fills, blanked = pair.cpu.info.fills_blanks, BLANKED if pair.cpu.info.fills_blanks else TEXT
    agree(pair, lambda engine: engine.trace(blanked, keep=ALL_PARTS if fills else ALL_PARTS[:-1], interventions=CHANGES[-1][:2]))
    agree(pair, lambda engine: engine.trace(TEXT, PAIR if family == "t5" else None))
    agree(pair, lambda engine: read_all(engine, MANY))
    agree(pair, lambda engine: logit_lens(engine, engine.trace(TEXT, keep=("hidden",)), 2) if family != "t5" else None)
    agree(pair, lambda engine: value_weighted(engine, engine.trace(TEXT, keep=("weights", "value")).attention, 1))
    if fills:
        agree(pair, lambda engine: predict(engine, BLANKED))
        agree(pair, lambda engine: shift_predictions(engine, BLANKED, [Intervention("off", 1, 0)]))
        agree(pair, lambda engine: attribute(engine, engine.encode(BLANKED), engine.encode(BLANKED).blanks[0], 9))


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_card_that_is_full_when_results_are_joined_leaves_it_to_the_cpu(bert, hub, family: str):
    pair = bert if family == "bert" else hub(family)
    for keep in (("weights",), ALL_PARTS):
        with full_at("cat"):
            found = pair.card.trace(BLANKED, keep=keep)
        assert (found.device, found.notice) == ("cpu", FALLBACK_NOTICE)
        assert_same(replace(found, notice=""), pair.cpu.trace(BLANKED, keep=keep))
