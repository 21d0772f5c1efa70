"""What a model learns to predict: masked words, from both sides (BERT), or every next token (a causal language model).

`OBJECTIVES` lists all that depends on it: the model, what is asked of a batch, and what is measured on held-out text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.engine.checkpoint import load_bert, load_causal_lm
from tx_core.engine.tokenizer import Tokenizer
from tx_core.training.evaluation.masked_words import HeldOut, measure_held_out
from tx_core.training.evaluation.next_tokens import CausalProbe, measure_next_tokens
from tx_core.training.evaluation.probe import Probe
from tx_core.training.pretraining.batches import Batch, mask_words
from tx_core.training.pretraining.settings import MaskingSettings
from tx_core.transformer.bert import Bert, random_bert
from tx_core.transformer.causal_lm import CausalLM, random_causal_lm
from tx_core.transformer.fused import causal_forward, fused_forward


class Asked(NamedTuple):
    """What the model reads of a batch, the places (rows below one another) where it predicts, and the pieces wanted there."""

    ids: Int[np.ndarray, "batch token"]
    places: Int[np.ndarray, "place"]
    wanted: Int[np.ndarray, "place"]


class Asking(NamedTuple):
    """How to ask: the pieces that continue a word, the share of words to mask, and how they are masked."""

    continues: Bool[np.ndarray, "vocab"]
    rate: float
    masking: MaskingSettings


def ask_masked_words(batch: Batch, asking: Asking, chance: np.random.Generator) -> Asked:
    """Mask words, and ask for their pieces."""
    masked = mask_words(batch.ids, asking.continues, asking.rate, asking.masking, chance)
    return Asked(masked.ids, np.flatnonzero(masked.chosen), batch.ids[masked.chosen])


def ask_next_tokens(batch: Batch, asking: Asking, chance: np.random.Generator) -> Asked:
    """Ask at every token for the next, at the last word for [SEP]. Each row is one example: nothing is seen of another."""
    before_another = np.arange(batch.ids.shape[1])[None, :] < batch.lengths[:, None] - 1
    return Asked(batch.ids, np.flatnonzero(before_another), np.roll(batch.ids, -1, axis=1)[before_another])


Forward = Callable[[Any, Tensor, Tensor, Tensor | None], Float[Tensor, "batch token hidden"]]
"""From a model, ids, segments and the mask of padding to the vectors that it predicts from."""


@dataclass(frozen=True)
class Objective:
    """All that depends on what is predicted.

    Attributes:
        model: Build a model of a configuration, with any weights.
        random_model: Build an untrained model of a configuration and a seed.
        load: Load a trained model from the folder of a checkpoint.
        ask: Choose what is predicted in a batch.
        forward: Run the model as training does, without a record.
        measure: Measure a model on files of held-out text, so many lines of each.
    """

    model: Callable[[Any], Any]
    random_model: Callable[[Any, int], Any]
    load: Callable[[Path], Any]
    ask: Callable[[Batch, Asking, np.random.Generator], Asked]
    forward: Forward
    measure: Callable[[Any, Tokenizer, str, Sequence[Path], int], dict[str, HeldOut]]


OBJECTIVES = {
    "masked": Objective(
        model=Bert,
        random_model=random_bert,
        load=load_bert,
        ask=ask_masked_words,
        forward=fused_forward,
        measure=lambda model, tokenizer, device, files, lines: measure_held_out(Probe(model, tokenizer, device), files, lines),
    ),
    "causal": Objective(
        model=CausalLM,
        random_model=random_causal_lm,
        load=load_causal_lm,
        ask=ask_next_tokens,
        forward=lambda model, ids, segments, mask: causal_forward(model, ids),
        measure=lambda model, tokenizer, device, files, lines: measure_next_tokens(
            CausalProbe(model, tokenizer, device), files, lines
        ),
    ),
}
