"""Attention weights as a file that others can read, with the tokens they belong to: CSV, JSON and NPZ, there and back."""

import csv
import io
import json
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Float32

MOST = {"csv": 1_000_000, "json": 1_000_000, "npz": 10_000_000}
"""How many weights a file of each kind holds: some 40 MB."""
COLUMNS = ("map", "query", "key", "weight")
AND = " and "

Head = tuple[int, int]


@dataclass(frozen=True)
class SavedWeights:
    """Some maps with everything that a reader of the file needs to know of them.

    pair: the second sentence, "" for none. kind: as in AttentionStack. maps: the heads that each map is the mean of, one head
    mostly, as (layer, head) counted from 1. notes: in sentences, what was done to the weights before they were shown.
    """

    model: str
    text: str
    pair: str
    kind: str
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    maps: tuple[tuple[Head, ...], ...]
    weights: Float32[np.ndarray, "map query key"]
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        if self.weights.shape != (len(self.maps), len(self.queries), len(self.keys)):
            raise ValueError(f"weights must be map × query × key, got {self.weights.shape}")


def to_csv(saved: SavedWeights) -> bytes:
    """Write a row for each weight: the map's heads, the token that looks, the token looked at, the weight.

    Tokens carry their place ("3 flies"), so no spreadsheet takes one for a formula. Weights are written so that
    reading them gives the very same float32. What model and text they are of stands in the other formats only.
    Raises ValueError for more weights than MOST["csv"].
    """
    _check_size(saved, "csv")
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow(COLUMNS)
    queries, keys = _numbered(saved.queries), _numbered(saved.keys)
    for heads, rows in zip(saved.maps, saved.weights.astype(str), strict=True):
        name = AND.join(f"layer {layer} head {head}" for layer, head in heads)
        for query, row in zip(queries, rows, strict=True):
            table.writerows((name, query, key, weight) for key, weight in zip(keys, row, strict=True))
    return written.getvalue().encode("utf-8-sig")  # the mark tells Excel that this is UTF-8


def to_json(saved: SavedWeights) -> bytes:
    """Write everything as one JSON object, the weights as lists: map, query, key.

    Raises ValueError for more weights than MOST["json"].
    """
    _check_size(saved, "json")
    shortest = saved.weights.astype(str).astype(float)  # as few digits as tell one float32 from another
    return json.dumps(_about(saved) | {"weights": shortest.tolist()}, ensure_ascii=False).encode("utf-8")


def to_npz(saved: SavedWeights) -> bytes:
    """Write arrays for numpy: weights (map, query, key), queries, keys, and all the rest as JSON in `about`.

    Raises ValueError for more weights than MOST["npz"].
    """
    _check_size(saved, "npz")
    written = io.BytesIO()
    tokens = {"queries": np.array(saved.queries, np.str_), "keys": np.array(saved.keys, np.str_)}
    np.savez_compressed(written, weights=saved.weights, about=np.array(json.dumps(_about(saved))), **tokens)
    return written.getvalue()


def _about(saved: SavedWeights) -> dict[str, object]:
    return {name: value for name, value in asdict(saved).items() if name != "weights"} | {
        "axes": ["map", "query", "key"],
        "counted_from": 1,
    }


def _check_size(saved: SavedWeights, form: str) -> None:
    if weight_of(saved.weights.size, max(map(len, saved.maps)), form) > MOST[form]:
        raise ValueError(f"a {form} file must hold at most {MOST[form]:,} weights, got {saved.weights.size:,}")


def weight_of(weights: int, heads: int, form: str) -> int:
    """Say how much of MOST[form] so many weights take: a row of a CSV names every head of a mean, so it counts as often."""
    return weights * (max(1, heads // 4) if form == "csv" else 1)


def _numbered(tokens: tuple[str, ...]) -> list[str]:
    return [f"{place} {token}" for place, token in enumerate(tokens, 1)]
