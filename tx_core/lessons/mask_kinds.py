"""The masks of one sentence by name, and a mask painted by hand carried over to another sentence."""

import numpy as np
import torch
from jaxtyping import Bool
from torch import Tensor

from tx_core.transformer.masks import causal_mask, combine, padding_mask, window_mask

KINDS: dict[str, str] = {
    "none": "Every token may look at every token.",
    "padding": "Nobody may look at padding: it only fills the row up and means nothing.",
    "causal": "Every token may look at itself and at what came before: the future is hidden, as in GPT.",
    "combined": "Both at once: a token is seen when it is no padding and does not lie in the future.",
    "window": "Every token may look at its near neighbours only: the way of long texts, as in Longformer.",
}


def mask_of_kind(kind: str, tokens: int, real: int, width: int = 1) -> Bool[Tensor, "query key"]:
    """Build a mask of `KINDS` for tokens of which the first `real` are no padding.

    width: neighbours on either side, for a window. Raises ValueError for an unknown kind.
    """
    everything = torch.ones(tokens, tokens, dtype=torch.bool)
    padding = padding_mask([real], tokens)[0, 0]
    masks = {
        "none": lambda: everything,
        "padding": lambda: combine(everything, padding),
        "causal": lambda: causal_mask(tokens),
        "combined": lambda: combine(causal_mask(tokens), padding),
        "window": lambda: window_mask(tokens, width),
    }
    if kind not in masks:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind}")
    return masks[kind]()


def fit_mask(painted: Bool[np.ndarray, "query key"], tokens: int) -> Bool[Tensor, "fitted_query fitted_key"]:
    """Carry a painted mask over to another number of tokens: the first ones keep theirs, new ones are allowed all."""
    fitted = torch.ones(tokens, tokens, dtype=torch.bool)
    both = min(tokens, len(painted))
    fitted[:both, :both] = torch.from_numpy(painted[:both, :both])
    return fitted


def forbid_row(mask: Bool[Tensor, "query key"], query: int) -> Bool[Tensor, "query key"]:
    """Leave one query nowhere to look."""
    changed = mask.clone()
    changed[query] = False
    return changed
