"""Speed of the core, beside its reference in the same run."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from time import perf_counter

import torch

from tests.bench.table import Row
from tx_core.causal.deciding_words import quick_methods
from tx_core.causal.explain import read_answer
from tx_core.corpus.vectors import project
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.device import DeviceRunner
from tx_core.engine.progress import AT_ONCE_SECONDS, run_seconds
from tx_core.engine.tensors import batch_tensors
from tx_core.transformer.bert import random_bert
from tx_core.transformer.config import BertConfig
from tx_core.transformer.fused import fused_forward
from tx_core.transformer.trace import ALL_PARTS

SENTENCE = "the man saw the dog in the house and the woman was in the water with a good friend . " * 7
ROUNDS = 40
BASE_SIZE = {"hidden_size": 768, "num_layers": 12, "num_heads": 12, "intermediate_size": 3072, "max_positions": 512}
BASE_SIZE |= {"activation": "gelu", "layer_norm_eps": 1e-12, "dropout": 0.0, "num_segments": 2}


def milliseconds(*contenders: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Time the contenders by turns, so that a busy moment of the machine hits all; give the medians."""
    times: list[list[float]] = [[] for _ in contenders]
    for number in range(rounds + 3):
        for contender, kept in zip(contenders, times, strict=True):
            start = perf_counter()
            contender()
            if number >= 3:
                kept.append((perf_counter() - start) * 1000)
    return [median(kept) for kept in times]


@torch.inference_mode()
def records_against_fused(engine: BertEngine) -> list[Row]:
    """A sentence of 32 tokens with its weights, and a full record of 128, against the forward pass that keeps nothing."""
    found = {}
    for tokens, keep in ((32, ("weights",)), (128, ALL_PARTS)):
        text = " ".join(SENTENCE.split()[: tokens - 2])
        ids, segments, _ = batch_tensors([engine.encode(text)], 0, "cpu")
        found[tokens] = milliseconds(partial(engine.trace, text, keep=keep), partial(fused_forward, engine.model, ids, segments))
    (short, fused), (full, fast) = found.values()
    beside, ratio = "against fused attention and no record", full / fast
    return [
        Row(f"one sentence of 32 tokens, {beside}", f"{short:.1f} / {fused:.1f} ms", "15 ms", short <= 15),
        Row(
            f"full record, 128 tokens, {beside}",
            f"{full:.1f} / {fast:.1f} ms = {ratio:.2f} ×",
            "1.25 ×",
            full / fast <= 1.25,
        ),
    ]


def large_model() -> list[Row]:
    """What pages compute at once of 128 tokens with a model of BERT's base size, against one run of it."""
    tokenizer = catalogue.load(catalogue.DEFAULT).tokenizer
    config = BertConfig(**BASE_SIZE, vocab_size=tokenizer.vocab_size)
    engine = BertEngine("base", "base", tokenizer, DeviceRunner(random_bert(config, 0), "cpu"))
    text = " ".join(["[MASK]", *SENTENCE.split()[:124], "."])
    row, run = engine.encode(text), read_answer(engine, text)
    quick = quick_methods(run, AT_ONCE_SECONDS)
    one, plane, explained = milliseconds(
        lambda: engine.blank_logits([row]),
        lambda: project(engine, [text]),
        lambda: [replace(run, kept={}).explain(name) for name in quick],
        rounds=5,
    )
    estimated = 1000 * run_seconds(engine, len(row))
    beside = f"a model of base size, {len(row)} tokens, against one run"
    return [
        Row(
            f"one run of {beside.partition(',')[0]}, {len(row)} tokens, as estimated", f"{one:.0f} / {estimated:.0f} ms", "", True
        ),
        Row(f"{beside}: the plane of its vectors", f"{plane:.0f} / {one:.0f} ms = {plane / one:.1f} ×", "4 ×", plane <= 4 * one),
        Row(f"{beside}: {len(quick)} methods that explain", f"{explained / one:.1f} ×", "40 ×", explained <= 40 * one),
    ]


def rows() -> list[Row]:
    """Measure everything of this file."""
    return [*records_against_fused(catalogue.load(catalogue.DEFAULT)), *large_model()]
