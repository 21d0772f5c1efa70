"""Speed, memory and distance of the core, each beside its reference in the same run."""

import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import torch
from torch import Tensor, nn
from transformers import BertForMaskedLM

from tests.bench.table import Row
from tx_core.causal.importance import importance
from tx_core.causal.patch import patch
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.tensors import batch_tensors
from tx_core.transformer.attention import merge_heads, split_heads
from tx_core.transformer.bert import Bert
from tx_core.transformer.layers import linear
from tx_core.transformer.trace import ALL_PARTS

SENTENCE = "the man saw the dog in the house and the woman was in the water with a good friend . " * 7
PATCHED = {"source": "keys", "target": "key"}
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


def fused_forward(model: Bert, ids: Tensor, segments: Tensor) -> Tensor:
    """Return the output of a run by PyTorch's fused attention, which keeps no weights."""
    hidden = model.embeddings(ids, segments)
    for block in model.encoder.blocks:
        attention = block.attention
        query, key, value = (
            split_heads(linear(part, hidden), attention.num_heads) for part in (attention.query, attention.key, attention.value)
        )
        context = nn.functional.scaled_dot_product_attention(query, key, value)
        hidden = block.after_attention(hidden, linear(attention.output, merge_heads(context)))
    return hidden


@torch.inference_mode()
def trace_against_fused(engine: BertEngine) -> Row:
    """A full record of a 128-token sentence against the same forward pass that keeps nothing."""
    text = " ".join(SENTENCE.split()[:126])
    encoding = engine.encode(text)
    ids, segments, _ = batch_tensors([encoding], 0, "cpu")
    ours, weights, fused = milliseconds(
        lambda: engine.trace(text, keep=ALL_PARTS),
        lambda: engine.trace(text),
        lambda: fused_forward(engine.model, ids, segments),
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
    ours, fused = milliseconds(lambda: engine.trace(text), lambda: fused_forward(engine.model, ids, segments))
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


def patches_and_prompts(engine: BertEngine) -> list[Row]:
    """All places of 15 tokens patched, and every head and sublayer switched off in twenty prompts, scaled to a thousand."""
    texts = {name: f"The {noun} to the big old cabinets [MASK] on the table." for name, noun in PATCHED.items()}
    (one_map,) = milliseconds(lambda: patch(engine, **texts, answers=("are", "is")))
    prompts = [{"text": text, "answer": "are", "other": "is"} for text in texts.values()] * 10
    started = perf_counter()
    importance(engine, prompts)
    thousand = (perf_counter() - started) * 1000 / len(prompts)
    return [
        Row("a patch map, 15 tokens × 6 layers", f"{one_map:.0f} ms", "300 ms", one_map <= 300),
        Row("1,000 prompts, every head and sublayer off", f"{thousand:.0f} s", "180 s", thousand <= 180),
    ]


def resident_memory() -> Row:
    """Memory of a fresh process that has answered once with the embedded model."""
    script = (
        "from tx_core import load; load('embedded').trace('Hello');import psutil; print(psutil.Process().memory_info().rss / 1e6)"
    )
    megabytes = float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
    return Row("resident memory of the core with the embedded model", f"{megabytes:.0f} MB", "600 MB", megabytes <= 600)


def rows() -> list[Row]:
    """Measure everything of this file."""
    engine = catalogue.load(catalogue.DEFAULT)
    return [
        short_sentence(engine),
        trace_against_fused(engine),
        *ours_against_transformers(engine),
        *patches_and_prompts(engine),
        resident_memory(),
    ]
