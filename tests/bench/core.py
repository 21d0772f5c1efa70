"""Speed, memory and distance of the core, each beside its reference in the same run."""

import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
import torch
from bertviz import head_view
from transformers import BertForMaskedLM

from pages.ui.stage.packing import codes, pack, thumbnails
from tests.bench.table import Row
from tx_core.analysis.probabilities import probabilities
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.tensors import batch_tensors
from tx_core.fill_mask.head_scan import Scan
from tx_core.transformer.fused import fused_forward
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS

SENTENCE = "the man saw the dog in the house and the woman was in the water with a good friend . " * 7
ROUNDS = 40


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
def trace_against_fused(engine: BertEngine) -> Row:
    """A full record of a 128-token sentence against the same forward pass that keeps nothing."""
    text = " ".join(SENTENCE.split()[:126])
    encoding = engine.encode(text)
    ids, segments, _ = batch_tensors([encoding], 0, "cpu")
    distance = (engine.model(ids, segments).output - fused_forward(engine.model, ids, segments, None)).abs().max().item()
    assert distance < 1e-4, f"the reference computes something else: {distance}"
    ours, weights, fused = milliseconds(
        lambda: engine.trace(text, keep=ALL_PARTS),
        lambda: engine.trace(text),
        lambda: fused_forward(engine.model, ids, segments, None),
    )
    return Row(
        f"full record, {len(encoding)} tokens, against fused attention and no record",
        f"{ours:.1f} ms / {fused:.1f} ms = {ours / fused:.2f} × (weights alone {weights / fused:.2f} ×)",
        "1.25 ×",
        ours / fused <= 1.25,
    )


@torch.inference_mode()
def short_sentence(engine: BertEngine) -> Row:
    """One sentence of 32 tokens with its weights, beside the same forward pass that keeps nothing."""
    text = " ".join(SENTENCE.split()[:30])
    encoding = engine.encode(text)
    ids, segments, _ = batch_tensors([encoding], 0, "cpu")
    ours, fused = milliseconds(lambda: engine.trace(text), lambda: fused_forward(engine.model, ids, segments, None))
    return Row(
        f"one sentence of {len(encoding)} tokens, embedded model, against fused attention and no record",
        f"{ours:.1f} ms / {fused:.1f} ms",
        "15 ms",
        ours <= 15,
    )


@torch.inference_mode()
def ours_against_transformers(engine: BertEngine) -> list[Row]:
    """Our BERT and transformers' eager one on the embedded checkpoint: how far apart, how fast."""
    reference = BertForMaskedLM.from_pretrained(
        catalogue.MODELS / catalogue.DEFAULT, attn_implementation="eager", dtype=torch.float32
    ).eval()
    ids, segments, _ = batch_tensors([engine.encode(" ".join(SENTENCE.split()[:126]))], 0, "cpu")

    def theirs():
        return reference.bert(input_ids=ids, token_type_ids=segments, output_attentions=True, output_hidden_states=True)

    def ours():
        return engine.model(ids, segments, keep=("weights", "hidden"))

    run, expected = ours(), theirs()
    hidden = max((a - b).abs().max().item() for a, b in zip(run.hidden, expected.hidden_states, strict=True))
    weights = max((layer["weights"] - b).abs().max().item() for layer, b in zip(run.layers, expected.attentions, strict=True))
    fast, slow = milliseconds(ours, theirs)
    return [
        Row("our BERT against transformers': hidden states apart", f"{hidden:.1e}", "1e-5", hidden <= 1e-5),
        Row("our BERT against transformers': weights apart", f"{weights:.1e}", "1e-5", weights <= 1e-5),
        Row("our BERT against transformers' eager, 128 tokens", f"{fast:.1f} ms / {slow:.1f} ms = {fast / slow:.2f} ×", "", True),
    ]


def scan_against_one_by_one(engine: BertEngine) -> Row:
    """Every head switched off in turn at a blank: all in one batch, against one run a head."""
    text = "The old man saw a ___ in the house."
    encoding = engine.encode(text)
    heads = list(np.ndindex(engine.info.num_layers, engine.info.num_heads))

    def one_by_one() -> list[np.ndarray]:
        runs = [(), *([Intervention("off", *head)] for head in heads)]
        return [probabilities(engine.blank_logits([encoding], interventions=[run]).rows[0]) for run in runs]

    found = Scan(engine, text).run()
    by_hand = np.array([share[0, found.entry].item() for share in one_by_one()[1:]]).reshape(found.after.shape)
    assert np.abs(found.after - by_hand).max() < 1e-4, "the two find something else"
    batch, alone = milliseconds(lambda: Scan(engine, text).run(), one_by_one, rounds=10)
    measured = f"{batch:.0f} ms / {alone:.0f} ms = {batch / alone:.2f} ×"
    what = f"every head of {len(heads)} switched off in turn, in one batch, against one run a head"
    return Row(what, measured, "1 ×", batch <= alone)


def resident_memory() -> Row:
    """Memory of a fresh process that has answered once with the embedded model."""
    script = (
        "from tx_core import load; load('embedded').trace('Hello');import psutil; print(psutil.Process().memory_info().rss / 1e6)"
    )
    megabytes = float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
    return Row("resident memory of the core with the embedded model", f"{megabytes:.0f} MB", "600 MB", megabytes <= 600)


def canvas_against_bertviz(tokens: int = 128, heads: int = 12) -> Row:
    """What is made and sent to show one layer: the wall and a map of ours, bertviz's head view of the same weights."""
    weights = torch.rand(1, heads, tokens, tokens, generator=torch.Generator().manual_seed(1)).softmax(-1)
    words = [f"word{place}" for place in range(tokens)]

    def ours() -> int:
        wall = pack({}, thumbnails(weights.numpy()))
        return len(wall) + len(pack({"queries": words, "keys": words}, codes(np.ascontiguousarray(weights[0, 0]))))

    def theirs() -> int:
        return len(head_view([weights], words, html_action="return").data)

    fast, slow = milliseconds(ours, theirs, rounds=5)
    measured = f"{ours() / 1e3:.0f} kB in {fast:.1f} ms / {theirs() / 1e3:,.0f} kB in {slow:.0f} ms"
    return Row(f"one layer of {heads} heads at {tokens} tokens, own canvas / bertviz's head view", measured, "", True)


def rows() -> list[Row]:
    """Measure everything of this file."""
    engine = catalogue.load(catalogue.DEFAULT)
    return [
        short_sentence(engine),
        trace_against_fused(engine),
        *ours_against_transformers(engine),
        scan_against_one_by_one(engine),
        canvas_against_bertviz(),
        resident_memory(),
    ]
