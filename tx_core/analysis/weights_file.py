"""Export attention weights with their tokens: CSV, JSON and NPZ."""

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
    """Attention maps with what a reader of the file needs to know.

    Attributes:
        model: The name of the model.
        text: The sentence.
        pair: The second sentence; "" for none.
        kind: As in AttentionStack.
        queries: Labels of the rows.
        keys: Labels of the columns.
        maps: The heads that each map is the mean of, as (layer, head) counted from 1.
        weights: The maps.
        notes: Sentences about what was done to the weights before they were shown.
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
    """Write one row per weight: the heads of the map, query, key, weight.

    Tokens are preceded by their number ("3 flies"), so that no spreadsheet takes one for a formula. Weights are written with
    enough digits to restore the same float32. Model and text are in the other formats only.

    Raises:
        ValueError: For more weights than the limit of the format.
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
    """Write one JSON object with the weights as nested lists (map, query, key).

    Raises:
        ValueError: For more weights than the limit of the format.
    """
    _check_size(saved, "json")
    shortest = saved.weights.astype(str).astype(float)  # as few digits as tell one float32 from another
    return json.dumps(_about(saved) | {"weights": shortest.tolist()}, ensure_ascii=False).encode("utf-8")


def to_npz(saved: SavedWeights) -> bytes:
    """Write NumPy arrays: weights (map, query, key), queries, keys, and the rest as JSON in `about`.

    Raises:
        ValueError: For more weights than the limit of the format.
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
