"""Export attention weights with their tokens: CSV, JSON and NPZ."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields

import numpy as np
from jaxtyping import Float, Float32

from tx_core.transformer.interventions import Head

TableValue = str | float | int | None
MOST = {"csv": 1_000_000, "json": 1_000_000, "npz": 10_000_000}
"""The most weights in a file of each format: some 40 MB."""
WEIGHT_COLUMNS = ("map", "query", "key", "weight")
CHANGED_COLUMNS = ("map", "query", "key", "before", "after", "difference")
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""Characters at which a spreadsheet starts a formula."""
AND = " and "


@dataclass(frozen=True)
class SavedWeights:
    """Attention maps with their labels and origin, as written to a file.

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
        before: The maps of the run without its changes; None where there is nothing to compare.
        source: Further entries needed to reproduce the numbers, by name.
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
    before: Float32[np.ndarray, "map query key"] | None = None
    source: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self):
        if self.weights.shape != (len(self.maps), len(self.queries), len(self.keys)):
            raise ValueError(f"weights must be map × query × key, got {self.weights.shape}")

    @property
    def numbers(self) -> dict[str, Float32[np.ndarray, "map query key"]]:
        """The weights by name; of a changed run those before, those after, and their difference."""
        if self.before is None:
            return {"weights": self.weights}
        return {"before": self.before, "after": self.weights, "difference": self.weights - self.before}


def weights_csv(saved: SavedWeights) -> bytes:
    """Write one row per weight: the heads of the map, query, key, weight; or before, after and difference.

    Tokens are preceded by their number ("3 flies"), so that no spreadsheet takes one for a formula. Weights are written with
    enough digits to restore the same float32. The description of the maps comes first, in lines that begin with "# ".

    Raises:
        ValueError: For more weights than the limit of the format.
    """
    _check_size(saved, "csv")
    queries, keys = _numbered(saved.queries), _numbered(saved.keys)
    numbers = [_shortest(array) for array in saved.numbers.values()]

    def rows() -> Iterable[tuple[str, ...]]:
        for place, heads in enumerate(saved.maps):
            name = AND.join(f"layer {layer} head {head}" for layer, head in heads)
            for row, query in enumerate(queries):
                found = (array[place, row].tolist() for array in numbers)
                yield from ((name, query, key, *cells) for key, *cells in zip(keys, *found, strict=True))

    about = {name: value for name, value in _about(saved).items() if name not in ("queries", "keys", "maps", "axes")}
    return csv_table(about, WEIGHT_COLUMNS if saved.before is None else CHANGED_COLUMNS, rows())


def csv_table(about: Mapping[str, object], columns: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Write a table as CSV, preceded by comment lines that describe it: "# model,embedded".

    Read it with `pandas.read_csv(file, comment="#")`. Texts are quoted, because a number sign within quotation marks does not
    start a comment. A text that a spreadsheet would take for a formula gets a leading apostrophe (formula injection); line
    breaks within comments become spaces.
    """
    written = io.StringIO(newline="")
    csv.writer(written).writerows((f"# {name}", safe_cell(" ".join(value.split()))) for name, value in _flat(about))
    table = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC)
    table.writerow(columns)
    table.writerows([safe_cell(cell) for cell in row] for row in rows)
    return written.getvalue().encode("utf-8-sig")  # with a byte order mark, by which Excel recognises UTF-8


def safe_cell(value: TableValue) -> TableValue:
    """Return a cell that a spreadsheet does not evaluate as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_SIGNS) else value


def _flat(about: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield name and value of every entry that is not empty; a nested mapping is flattened, its names joined."""
    for name, value in about.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name} ")
        elif isinstance(value, list | tuple):
            yield from ((f"{prefix}{name}", str(one)) for one in value)
        elif value not in ("", None):
            yield f"{prefix}{name}", str(value)


def weights_json(saved: SavedWeights) -> bytes:
    """Write one JSON object with the weights as nested lists (map, query, key).

    Raises:
        ValueError: For more weights than the limit of the format.
    """
    _check_size(saved, "json")
    numbers = {name: _shortest(array).tolist() for name, array in saved.numbers.items()}
    return json.dumps(_about(saved) | numbers, ensure_ascii=False).encode("utf-8")


def weights_npz(saved: SavedWeights) -> bytes:
    """Write NumPy arrays: weights (map, query, key), queries, keys, and the rest as JSON in `about`.

    Raises:
        ValueError: For more weights than the limit of the format.
    """
    _check_size(saved, "npz")
    written = io.BytesIO()
    tokens = {"queries": np.array(saved.queries, np.str_), "keys": np.array(saved.keys, np.str_)}
    np.savez_compressed(written, about=np.array(json.dumps(_about(saved))), **saved.numbers, **tokens)
    return written.getvalue()


def _about(saved: SavedWeights) -> dict[str, object]:
    own = {one.name: getattr(saved, one.name) for one in fields(saved) if one.name not in ("weights", "before", "source")}
    return {**saved.source, **own, "axes": ["map", "query", "key"], "counted_from": 1}


def _shortest(array: Float32[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Return float64 numbers whose shortest decimal form restores the float32."""
    return array.astype(str).astype(float)


def _check_size(saved: SavedWeights, form: str) -> None:
    size = saved.weights.size * len(saved.numbers)
    if weight_of(size, max(map(len, saved.maps)), form) > MOST[form]:
        raise ValueError(f"a {form} file must hold at most {MOST[form]:,} weights, got {size:,}")


def weight_of(weights: int, heads: int, form: str) -> int:
    """Return a size to compare with MOST[form]: a CSV row names every head of a mean, so it counts as several weights."""
    return weights * (max(1, heads // 4) if form == "csv" else 1)


def _numbered(tokens: tuple[str, ...]) -> list[str]:
    return [f"{place} {token}" for place, token in enumerate(tokens, 1)]
