"""What a model learns to predict: masked words, from both sides (BERT), or every next token (a causal language model)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from tx_core.engine.checkpoint import load_bert, load_causal_lm
from tx_core.training.pretraining.batches import Batch, Packing, mask_words
from tx_core.transformer.bert import random_bert
from tx_core.transformer.causal_lm import random_causal_lm
from tx_core.transformer.config import BertConfig, CausalConfig

PARAGRAPH_LENGTHS = (24, 32, 48, 64, 96, 128)


class Question(NamedTuple):
    """What the model reads of a batch, the places (rows below one another) where it predicts, and the pieces wanted there."""

    ids: Int[np.ndarray, "batch token"]
    places: Int[np.ndarray, "place"]
    wanted: Int[np.ndarray, "place"]


def ask_masked_words(batch: Batch, continues: Bool[np.ndarray, "vocab"], rate: float, chance: np.random.Generator) -> Question:
    """Mask words, and ask for their pieces. continues: the pieces that continue a word. rate: the share of words to mask."""
    shown, chosen = mask_words(batch.ids, continues, rate, chance)
    return Question(shown, np.flatnonzero(chosen), batch.ids[chosen])


def ask_next_tokens(batch: Batch, continues: Bool[np.ndarray, "vocab"], rate: float, chance: np.random.Generator) -> Question:
    """Ask at every token for the next, at the last word for [SEP]. Each row is one example: nothing is seen of another."""
    before_another = np.arange(batch.ids.shape[1])[None, :] < batch.lengths[:, None] - 1
    return Question(batch.ids, np.flatnonzero(before_another), np.roll(batch.ids, -1, axis=1)[before_another])


@dataclass(frozen=True)
class Objective:
    """All that depends on what is predicted: the model, how texts are packed, and what is asked of a batch."""

    config: Callable[..., BertConfig | CausalConfig]
    random_model: Callable[[Any, int], Any]
    load: Callable[[Path], Any]
    packing: Callable[[int, int], Packing]
    ask: Callable[[Batch, Bool[np.ndarray, "vocab"], float, np.random.Generator], Question]


OBJECTIVES = {
    "masked": Objective(
        config=lambda **sizes: BertConfig(**sizes, num_segments=2, activation="gelu", layer_norm_eps=1e-12, dropout=0.0),
        random_model=random_bert,
        load=load_bert,
        packing=lambda most, tokens: Packing(most, tokens, tuple(n for n in PARAGRAPH_LENGTHS if n <= most) or (most,), 0.5, 0.5),
        ask=ask_masked_words,
    ),
    "causal": Objective(
        config=lambda **sizes: CausalConfig(**sizes, rotary_base=10_000.0, activation="gelu", layer_norm_eps=1e-5, dropout=0.0),
        random_model=random_causal_lm,
        load=load_causal_lm,
        packing=lambda most, tokens: Packing(most, tokens, (most,), 0.0, 0.0),
        ask=ask_next_tokens,
    ),
}
