"""Untrained models: a BERT with random weights, and untrained classification heads."""

from dataclasses import dataclass
from threading import Lock

import torch
from cachetools import LRUCache, cached
from jaxtyping import Float
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.device import DeviceRunner
from tx_core.transformer.bert import random_bert, random_head
from tx_core.transformer.config import BertConfig
from tx_core.transformer.trace import Trace

MAX_UNTRAINED_LABELS = 5
MAX_UNTRAINED_BYTES = 128_000_000


def untrained_engine(engine: BertEngine, seed: int) -> BertEngine:
    """Return a BERT of the same size and tokenizer with random weights, reproducible by its seed.

    The last ones are cached, up to MAX_UNTRAINED_BYTES.
    """
    runner = _drawn(engine.model.config, seed, engine.device)
    return BertEngine(f"untrained {seed}", "The same BERT, untrained", engine.tokenizer, runner)


@cached(LRUCache(MAX_UNTRAINED_BYTES, getsizeof=lambda runner: min(runner.nbytes, MAX_UNTRAINED_BYTES)), lock=Lock())
def _drawn(config: BertConfig, seed: int, device: str) -> DeviceRunner:
    """Draw a model. One that is larger than the cache is kept alone."""
    return DeviceRunner(random_bert(config, seed).requires_grad_(False), device)


@dataclass(frozen=True)
class LabelScores:
    """The output of a head of `bert.HEADS`. logits: one row, or one row per token."""

    kind: str
    logits: Float[Tensor, "..."]
    shares: Float[Tensor, "..."]


@torch.no_grad()
def predict_labels(trace: Trace, kind: str, labels: int, seed: int) -> LabelScores:
    """Apply an untrained head to the last hidden states of a run that kept "hidden"."""
    hidden = torch.tensor(trace.hidden[-1])[None]
    logits = random_head(kind, hidden.shape[-1], labels, seed)(hidden)
    return LabelScores(kind, logits, logits.softmax(dim=-1))
