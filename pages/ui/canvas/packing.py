"""What the canvas is sent: a small JSON header and one whole number for each attention weight."""

import json
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float32, UInt8, UInt16

WIDEST_THUMBNAIL = 24
LARGEST_CODE = 65535


def codes(weights: Float32[np.ndarray, "query key"]) -> UInt16[np.ndarray, "query key"]:
    """Return the square root of each weight as a whole number, so that small weights keep their digits.

    A decoded weight is at most 3.1e-5 away and prints the same three decimals as the tensor's own value.
    Weights are taken as 0 to 1; rounding errors beyond are cut off. Raises ValueError for NaN.
    """
    exact = _checked(weights).astype(np.float64)
    code = np.rint(np.sqrt(exact) * LARGEST_CODE)
    printed = np.rint((code / LARGEST_CODE) ** 2 * 1000)
    code += np.sign(np.rint(exact * 1000) - printed)  # at most one step: across a rounding border
    return code.astype(np.uint16)


def thumbnails(
    weights: Float32[np.ndarray, "layer head query key"],
) -> UInt8[np.ndarray, "layer head row column"]:
    """Shrink every head's map to at most 24 × 24 cells; each shows the strongest weight it stands for.

    The strongest, not the mean: a diagonal stays visible however long the sentence. Cells hold the square root, 0 to 255.
    """
    strongest = _strongest(_strongest(_checked(weights), axis=2), axis=3)
    return np.rint(np.sqrt(strongest) * 255).astype(np.uint8)


Cells = UInt8[np.ndarray, "..."] | UInt16[np.ndarray, "..."] | Float32[np.ndarray, "..."]


def pack(header: Mapping[str, object], cells: Cells) -> bytes:
    """Return header length (4 bytes, little endian), header (JSON, ASCII), cells (little endian)."""
    bits = cells.dtype.itemsize * 8
    words = json.dumps({**header, "bits": bits}, separators=(",", ":")).encode("ascii")
    return len(words).to_bytes(4, "little") + words + cells.astype(cells.dtype.newbyteorder("<")).tobytes()


def _checked(weights: np.ndarray) -> np.ndarray:
    if np.isnan(weights.sum(dtype=np.float64)):
        raise ValueError("attention weights must be numbers, got NaN")
    return np.clip(weights, 0, 1)


def _strongest(weights: np.ndarray, axis: int) -> np.ndarray:
    size = weights.shape[axis]
    if size <= WIDEST_THUMBNAIL:
        return weights
    starts = np.arange(WIDEST_THUMBNAIL) * size // WIDEST_THUMBNAIL
    return np.maximum.reduceat(weights, starts, axis=axis)
