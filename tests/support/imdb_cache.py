"""IMDB as the hub keeps it: small Parquet files in the layout of its cache on disk, and a hub that serves them."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


@contextmanager
def hub_with(files: dict[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """Serve the files of a dataset as the hub does; yield the address, and the list of what was asked for."""
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            name = self.path.partition(f"/resolve/{IMDB_REVISION}/")[2]
            about = self.path == f"/api/datasets/{IMDB}/revision/{IMDB_REVISION}"
            body = json.dumps({"id": IMDB, "sha": IMDB_REVISION, "siblings": []}).encode() if about else files.get(name)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.send_header("X-Repo-Commit", IMDB_REVISION)
            self.send_header("ETag", f'"{hashlib.sha256(body or b"").hexdigest()}"')
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body or b"")

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
