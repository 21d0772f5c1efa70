"""Whole-word masking: words are chosen at random; most become [MASK], some a random piece, some stay (80/10/10)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from tx_core.training.pretraining.settings import MaskingSettings
from tx_core.training.pretraining.vocabulary import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL_TOKENS


class MaskedBatch(NamedTuple):
    """The input ids after masking, and which of them are to be predicted."""

    ids: Int[np.ndarray, "batch token"]
    chosen: Bool[np.ndarray, "batch token"]


def continuing_pieces(pieces: Sequence[str]) -> Bool[np.ndarray, "vocab"]:
    """Mark the pieces that continue a word: ##ing."""
    return np.array([piece.startswith("##") for piece in pieces])


def mask_words(
    ids: Int[np.ndarray, "batch token"],
    continues: Bool[np.ndarray, "vocab"],
    rate: float,
    settings: MaskingSettings,
    chance: np.random.Generator,
) -> MaskedBatch:
    """Choose each word with probability `rate`, with all its pieces, at least one word per example.

    Of the chosen pieces, a share `blanked` becomes [MASK], a share `replaced` a random piece, and the rest stays, so that the
    model cannot tell which words it will be asked for (Devlin et al. 2019, section 3.1).
    """
    readable = ~np.isin(ids, (PAD_ID, CLS_ID, SEP_ID))
    chosen = choose_words(ids, readable, continues, rate, chance)
    fate = chance.random(ids.shape)
    shown = np.where(chosen & (fate < settings.blanked), MASK_ID, ids)
    replaced = chosen & (fate >= settings.blanked) & (fate < settings.blanked + settings.replaced)
    shown = np.where(replaced, chance.integers(len(SPECIAL_TOKENS), len(continues), ids.shape), shown)
    return MaskedBatch(shown, chosen)


def choose_words(
    ids: Int[np.ndarray, "batch token"],
    readable: Bool[np.ndarray, "batch token"],
    continues: Bool[np.ndarray, "vocab"],
    rate: float,
    chance: np.random.Generator,
) -> Bool[np.ndarray, "batch token"]:
    """Draw one number per word, shared by its pieces; words below the rate are chosen, and the lowest of each row always is."""
    position = np.arange(ids.shape[1])
    begins = readable & ~continues[ids]
    word_start = np.maximum.accumulate(np.where(begins, position, 0), axis=1)
    drawn = np.take_along_axis(chance.random(ids.shape), word_start, axis=1)
    drawn = np.where(readable, drawn, 2.0)
    lowest = drawn.min(axis=1, keepdims=True)
    return readable & (drawn <= np.maximum(rate, lowest))
