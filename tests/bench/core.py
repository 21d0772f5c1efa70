"""Speed of the core, beside its reference in the same run."""

from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

import torch

from tests.bench.table import Row
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.tensors import batch_tensors
from tx_core.transformer.fused import fused_forward
from tx_core.transformer.trace import ALL_PARTS

SENTENCE = "the man saw the dog in the house and the woman was in the water with a good friend . " * 7
ROUNDS = 40


def milliseconds(*contenders: Callable[[], object]) -> list[float]:
    """Time the contenders by turns, so that a busy moment of the machine hits all; give the medians."""
    times: list[list[float]] = [[] for _ in contenders]
    for number in range(ROUNDS + 3):
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


def rows() -> list[Row]:
    """Measure everything of this file."""
    return records_against_fused(catalogue.load(catalogue.DEFAULT))
