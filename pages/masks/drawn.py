"""A mask drawn by hand, as a link writes it, and assets/stage/core/masking.js: its size and its bits by rows, as in "3-v4A"."""

import base64
import binascii
import re

import numpy as np
from jaxtyping import Bool

MAX_PAINTED_TOKENS = 32
"""Tokens of a sentence whose mask can be painted: cells stay large enough for a finger, links short."""


def mask_to_link(mask: Bool[np.ndarray, "query key"]) -> str:
    """Write a drawn mask for an address."""
    bits = base64.urlsafe_b64encode(np.packbits(mask).tobytes()).decode("ascii").rstrip("=")
    return f"{len(mask)}-{bits}"


def mask_from_link(written: str) -> Bool[np.ndarray, "query key"]:
    """Read a drawn mask back from an address; raise ValueError for anything else."""
    found = re.fullmatch(r"([0-9]{1,2})-([A-Za-z0-9_-]{1,180})", written, flags=re.ASCII)
    if not found or not 0 < (tokens := int(found[1])) <= MAX_PAINTED_TOKENS:
        raise ValueError("a mask must be written as its size and its bits")
    try:
        packed = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
    except binascii.Error as wrong:
        raise ValueError("the bits of a mask must be written in base64") from wrong
    if len(packed) != (tokens**2 + 7) // 8:
        raise ValueError(f"a mask of {tokens} tokens must have {tokens**2} bits")
    return np.unpackbits(np.frombuffer(packed, np.uint8), count=tokens**2).astype(bool).reshape(tokens, tokens)
