"""What training gives: the same BERT with weights as they were before its first step, and heads that nobody has trained."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.bert import random_bert
from tx_core.bert_engine import BertEngine
from tx_core.heads import HEADS, max_pool, random_head
from tx_core.placement import Placement
from tx_core.trace import Trace

MOST_LABELS = 5


@lru_cache(maxsize=4)
def untrained_engine(engine: BertEngine, seed: int) -> BertEngine:
    """Give a BERT of the same sizes and tokenizer with random weights; the same seed gives the same ones."""
    model = random_bert(engine.model.config, seed).requires_grad_(False)
    name, title = f"untrained {seed}", "The same BERT, untrained"
    return BertEngine(name, title, engine.tokenizer, model, Placement(model, engine.device))


@dataclass(frozen=True)
class Labels:
    """What a head of `heads.HEADS` says of a sentence: a row of logits, or one for each token, and their softmax.

    wins: for the max-pooled head, how many dimensions each token has the greatest value of; empty for others.
    """

    kind: str
    logits: Float[Tensor, "..."]
    shares: Float[Tensor, "..."]
    wins: tuple[int, ...]


@torch.no_grad()
def label(trace: Trace, kind: str, labels: int, seed: int) -> Labels:
    """Put an untrained head on the last vectors of a run that kept "hidden"; ValueError without it."""
    if trace.hidden is None:
        raise ValueError('the trace must keep "hidden"')
    if kind not in HEADS or not 1 < labels <= MOST_LABELS:
        raise ValueError(f"a head must be one of {', '.join(HEADS)} with 2 to {MOST_LABELS} labels, got {kind} with {labels}")
    hidden = torch.tensor(trace.hidden[-1])[None]
    logits = random_head(kind, hidden.shape[-1], labels, seed)(hidden)
    pooled = max_pool(hidden).winners[0].bincount(minlength=hidden.shape[1]).tolist() if kind == "max-pooled" else ()
    return Labels(kind, logits, logits.softmax(dim=-1), tuple(pooled))
