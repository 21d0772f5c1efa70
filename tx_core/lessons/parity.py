"""Parity: our BERT and that of transformers on the same checkpoint and text, compared layer by layer."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.transformer.bert import Bert
from tx_core.transformer.trace import Encoding, ReferenceRun


@dataclass(frozen=True)
class Parity:
    """The largest differences between two runs of the same checkpoint on the same text. hidden: also after the embeddings."""

    encoding: Encoding
    ours: Float[np.ndarray, "layer head query key"]
    theirs: Float[np.ndarray, "layer head query key"]
    hidden: tuple[float, ...]
    weights: tuple[float, ...]
    logits: float


def parity(engine: BertEngine, text: str, pair: str | None, reference: ReferenceRun) -> Parity:
    """Compare our BERT with a reference run of the same text.

    Raises TextProblem if the text cannot be read; ValueError if the checkpoint has no masked-word head.
    """
    trace = engine.trace(text, pair, keep=("weights", "hidden"))

    def compute(model: Bert, device: str) -> Tensor:
        return model.predict(torch.tensor(trace.hidden[-1], device=device)).cpu()

    logits = engine.runner.run(compute).value.numpy()
    return Parity(
        encoding=trace.attention.query_tokens,
        ours=trace.attention.weights,
        theirs=reference.weights,
        hidden=_apart(trace.hidden, reference.hidden),
        weights=_apart(trace.attention.weights, reference.weights),
        logits=float(np.abs(logits - reference.logits).max()),
    )


def compare_with_library(engine: BertEngine, directory: Path, text: str, pair: str | None = None) -> Parity:
    """Load the checkpoint into the BERT of transformers and compare; the first call imports the library."""
    from tx_core.engine.hub import load  # takes seconds: only where a reader asks for it

    return parity(engine, text, pair, load.reference_run(directory, engine.encode(text, pair), engine.model))


def _apart(ours: np.ndarray, theirs: np.ndarray) -> tuple[float, ...]:
    return tuple(float(np.abs(one - other).max()) for one, other in zip(ours, theirs, strict=True))
