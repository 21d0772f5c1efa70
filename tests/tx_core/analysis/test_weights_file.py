"""A file of weights holds the very numbers and tokens that it was written from."""

import csv
import io
import json
import re

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tx_core.analysis import weights_file
from tx_core.analysis.weights_file import SavedWeights, weights_csv, weights_json, weights_npz

TOKENS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def contents(draw: st.DrawFn) -> tuple:
    """Any maps with any tokens: line breaks, quotes, commas, zero bytes and right-to-left marks included."""
    queries, keys = draw(st.lists(TOKENS, min_size=1, max_size=4)), draw(st.lists(TOKENS, min_size=1, max_size=5))
    head = st.tuples(st.integers(1, 24), st.integers(1, 16))
    maps = draw(st.lists(st.lists(head, min_size=1, max_size=3, unique=True).map(tuple), min_size=1, max_size=3, unique=True))
    size = len(maps) * len(queries) * len(keys)
    share = st.floats(0, 1, width=32)
    cells = np.array(draw(st.lists(share, min_size=size, max_size=size)), np.float32)
    cells = cells.reshape(len(maps), len(queries), len(keys))
    return draw(TOKENS), draw(TOKENS), tuple(queries), tuple(keys), tuple(maps), cells


def made(text: str, pair: str, queries: tuple, keys: tuple, maps: tuple, cells: np.ndarray) -> SavedWeights:
    return SavedWeights("a-model", text, pair, "self", queries, keys, maps, cells, ("Special tokens are hidden.",))


def same(one: SavedWeights, other: SavedWeights) -> bool:
    fields = [name for name in SavedWeights.__dataclass_fields__ if name != "weights"]
    return all(getattr(one, name) == getattr(other, name) for name in fields) and np.array_equal(one.weights, other.weights)


def from_csv(file: bytes) -> SavedWeights:
    """Read back the table that `weights_csv` wrote; model, text, kind and notes are in its comments and come back empty."""
    _, *rows = table_in(file)
    names, queries, keys, weights = (tuple(column) for column in zip(*rows, strict=True))
    names, queries, keys = (tuple(dict.fromkeys(column)) for column in (names, queries, keys))
    cells = np.array(weights, np.float32).reshape(len(names), len(queries), len(keys))
    maps = tuple(tuple((int(layer), int(head)) for layer, head in re.findall(r"layer (\d+) head (\d+)", name)) for name in names)
    return SavedWeights("", "", "", "", plain(queries), plain(keys), maps, cells)


def table_in(file: bytes) -> list[list[str]]:
    """The rows of a CSV below its lines of comment."""
    rows = csv.reader(io.StringIO(file.decode("utf-8-sig"), newline=""))
    return [row for row in rows if not row[0].startswith("# ")]


def from_json(file: bytes) -> SavedWeights:
    """Read back what `weights_json` wrote."""
    entries = json.loads(file)
    return restored(entries, np.array(entries["weights"], np.float32))


def from_npz(file: bytes) -> SavedWeights:
    """Read back what `weights_npz` wrote."""
    with np.load(io.BytesIO(file), allow_pickle=False) as arrays:
        return restored(json.loads(str(arrays["about"])), arrays["weights"])


def restored(entries: dict, weights: np.ndarray) -> SavedWeights:
    maps = tuple(tuple((layer, head) for layer, head in heads) for heads in entries["maps"])
    texts = {name: entries[name] for name in ("model", "text", "pair", "kind")}
    lists = {name: tuple(entries[name]) for name in ("queries", "keys", "notes")}
    return SavedWeights(**texts, **lists, maps=maps, weights=weights)


def plain(labels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(label.partition(" ")[2] for label in labels)


@settings(max_examples=60)
@given(contents())
def test_json_and_npz_bring_everything_back_bit_for_bit(parts: tuple):
    written = made(*parts)
    assert same(from_json(weights_json(written)), written)
    assert same(from_npz(weights_npz(written)), written)


@settings(max_examples=60)
@given(contents())
def test_csv_brings_weights_tokens_and_heads_back_bit_for_bit(parts: tuple):
    written = made(*parts)
    read = from_csv(weights_csv(written))
    assert (read.queries, read.keys, read.maps) == (written.queries, written.keys, written.maps)
    np.testing.assert_array_equal(read.weights, written.weights)


def example(size: int = 2) -> SavedWeights:
    weights = np.arange(2 * size * 3, dtype=np.float32).reshape(2, size, 3) / 100
    queries = ("=HYPERLINK(1)", *"@b+c-d"[: size - 1])
    return SavedWeights("m", "t", "", "cross", queries[:size], ("x", "y", "z"), (((1, 2),), ((3, 4), (5, 6))), weights)


HOSTILE = "=cmd('calc') # \"a\", b\n=HYPERLINK(1)"


def changed() -> SavedWeights:
    """Maps of a changed run, of hostile texts."""
    before = np.array([[0.1, 0.9], [0.5, 0.5]], np.float32)
    after = np.array([[0.3, 0.7], [0.0, 1.0]], np.float32)
    given = (("##ing", HOSTILE), ("#", "b"), (((1, 2),),), after[None], (), before[None])
    return SavedWeights("m", HOSTILE, "", "self", *given, {"link": "http://here/?text=a", "A": {"revision": "r1"}})


def test_every_format_of_a_changed_run_holds_before_after_and_difference():
    entries, table = json.loads(weights_json(changed())), table_in(weights_csv(changed()))
    assert table[0] == ["map", "query", "key", "before", "after", "difference"]
    columns = np.array([row[3:] for row in table[1:]], np.float32).T.reshape(3, 1, 2, 2)
    with np.load(io.BytesIO(weights_npz(changed())), allow_pickle=False) as arrays:
        for place, name in enumerate(("before", "after", "difference")):
            np.testing.assert_array_equal(arrays[name], columns[place])
            np.testing.assert_array_equal(np.array(entries[name], np.float32), columns[place])
    np.testing.assert_allclose(columns[2], [[[0.2, -0.2], [-0.5, 0.5]]], atol=1e-7)
    assert "weights" not in entries


def test_pandas_reads_a_csv_that_names_its_source_whatever_its_tokens_are():
    file = weights_csv(changed())
    table = pandas.read_csv(io.BytesIO(file), comment="#")
    assert table["query"].tolist() == ["1 ##ing", "1 ##ing", f"2 {HOSTILE}", f"2 {HOSTILE}"]
    assert table["key"].tolist() == ["1 #", "2 b"] * 2
    np.testing.assert_allclose(table["difference"], [0.2, -0.2, -0.5, 0.5], atol=1e-7)
    rows = list(csv.reader(io.StringIO(file.decode("utf-8-sig"), newline="")))
    comments = [row for row in rows if row[0].startswith("# ")]
    expected = [["# link", "http://here/?text=a"], ["# A revision", "r1"], ["# model", "m"]]
    assert [comment for comment in comments if comment in expected] == expected
    assert ["# text", "'" + " ".join(HOSTILE.split())] in comments
    assert not [cell for row in rows for cell in row if cell[:1] in "=+-@" and cell[1:2] not in tuple("0123456789")]


@pytest.mark.parametrize(("form", "write"), [("csv", weights_csv), ("json", weights_json), ("npz", weights_npz)])
def test_a_file_beyond_its_bound_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch, form: str, write):
    monkeypatch.setitem(weights_file.MOST, form, 11)
    with pytest.raises(ValueError, match="at most 11 weights, got 12"):
        write(example())
