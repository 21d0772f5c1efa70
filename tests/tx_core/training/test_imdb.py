"""IMDB from Parquet files in the hub's layout: from the cache, from a hub, and every way in which it cannot be had."""

import re
import time
from pathlib import Path

import pyarrow
import pytest
from huggingface_hub import constants
from pyarrow import parquet

from tx_core.errors import ModelUnavailable
from tx_core.training.imdb import HUB_SILENT, IMDB, IMDB_FILES, IMDB_REVISION, UNUSABLE_IMDB, imdb


def cached_file(cache: Path, part: str) -> Path:
    """Return where the hub's cache has the file of a part: a link into the folder of blobs."""
    return cache / f"datasets--{IMDB.replace('/', '--')}" / "snapshots" / IMDB_REVISION / IMDB_FILES[part]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    return tmp_path


@pytest.fixture
def kept(cache: Path) -> Path:
    """The hub's cache with a few reviews, ordered by label as those of IMDB are; each names its label and its part."""
    for part, count in (("train", 40), ("test", 30)):
        labels = [place * 2 // count for place in range(count)]
        texts = [f"{('dull', 'fine')[label]} {part} {place}" for place, label in enumerate(labels)]
        link = cached_file(cache, part)
        blob = link.parents[3] / "blobs" / part
        for folder in (link.parent, blob.parent):
            folder.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.table({"text": texts, "label": labels}), blob)
        link.symlink_to(Path("../../../blobs", part))
    return cache


def test_reviews_are_drawn_at_random_from_either_file_and_keep_their_labels(kept: Path):
    found = imdb(24, 12)
    assert (len(found.train_texts), len(found.test_texts), found.kind) == (24, 12, "imdb")
    assert set(found.train_labels) == set(found.test_labels) == {0, 1}
    assert len(set(found.train_texts)) == 24
    parts = (("train", found.train_texts, found.train_labels), ("test", found.test_texts, found.test_labels))
    for part, texts, labels in parts:
        assert all(text.startswith(f"{('dull', 'fine')[label]} {part} ") for text, label in zip(texts, labels, strict=True))
    assert found.names == ("negative", "positive")
    assert imdb(24, 12) == found
    assert (len(imdb(1000, 1000).train_texts), len(imdb(1000, 1000).test_texts)) == (40, 30)


def test_without_a_hub_and_without_the_files_it_says_so_soon(cache: Path):
    began = time.monotonic()
    with pytest.raises(ModelUnavailable) as problem:
        imdb(10, 10)
    assert str(problem.value) == HUB_SILENT
    assert time.monotonic() - began < 10  # retrying takes 24


def test_a_file_that_is_cut_short_or_holds_something_else_is_named(kept: Path):
    told = re.escape(UNUSABLE_IMDB.format(file=IMDB_FILES["train"]))
    blob = cached_file(kept, "train").resolve()
    whole = blob.read_bytes()
    for left in (3, -200):
        blob.write_bytes(whole[:left])
        with pytest.raises(ModelUnavailable, match=told):
            imdb(10, 10)
    for columns in (
        {"text": ["fine"], "stars": [5]},
        {"text": ["fine", "dull"], "label": [1, -1]},
        {"text": [None], "label": [1]},
    ):
        parquet.write_table(pyarrow.table(columns), blob)
        with pytest.raises(ModelUnavailable, match=told):
            imdb(10, 10)
