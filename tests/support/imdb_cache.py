"""IMDB as the hub keeps it: small Parquet files in the layout of its cache on disk."""

from pathlib import Path

import pyarrow
from pyarrow import parquet

from tx_core.training.imdb import IMDB, IMDB_FILES, IMDB_REVISION

Rows = list[tuple[str, int]]


def reviews(part: str, count: int) -> Rows:
    """Make reviews ordered by label, as those of IMDB are; each names its label and its part."""
    return [(f"{('dull', 'fine')[place * 2 // count]} {part} {place}", place * 2 // count) for place in range(count)]


def table_of(rows: Rows) -> pyarrow.Table:
    """Write reviews as the hub's file has them."""
    texts, labels = zip(*rows, strict=True) if rows else ((), ())
    return pyarrow.table({"text": pyarrow.array(texts, pyarrow.string()), "label": pyarrow.array(labels, pyarrow.int64())})


def cached_file(cache: Path, part: str) -> Path:
    """Return where the cache has the file of a part: a link into the folder of blobs."""
    return cache / f"datasets--{IMDB.replace('/', '--')}" / "snapshots" / IMDB_REVISION / IMDB_FILES[part]


def keep(cache: Path, part: str, table: pyarrow.Table) -> Path:
    """Put the file of a part into the cache; return its blob."""
    link = cached_file(cache, part)
    blob = link.parents[3] / "blobs" / part
    for folder in (link.parent, blob.parent):
        folder.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, blob)
    link.symlink_to(Path("../../../blobs", part))
    return blob
