"""Parts of a corpus read on a Ray cluster with Ray Data: one task splits the files into parts, actors read them.

Every machine of the cluster must see the files, and hold this project and its packages, at the same paths. The only file that
imports Ray here; requirements-ray.txt installs it.
"""

import json
import logging
import re
import socket
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pyarrow
import ray
import torch

from tx_core.corpus.part_reader import read_part
from tx_core.corpus.scan_file import CorpusScan, ScanOrigin, read_progress, write_scan
from tx_core.corpus.sentence_file import LeftOut, Sentences
from tx_core.corpus.sentence_stream import CorpusPart, parts
from tx_core.corpus.statistics import HeadReport
from tx_core.errors import ExplorerError, ModelUnavailable, TextProblem

PROJECT = Path(__file__).parents[2]
LOCAL_ADDRESS = "local"
ADDRESS = re.compile(r"local|auto|(ray://)?(?P<host>[\w.-]+|\[[\da-fA-F:]+\]):(?P<port>\d{1,5})")
SECONDS_TO_ANSWER = 5
PART, REPORT, PROBLEM = "part", "report", "problem"
NO_ADDRESS = "--ray {address}: write local, auto or the address of a cluster, host:port."
NO_CLUSTER = "--ray {address}: no Ray cluster answers there ({why})."
LOST_CLUSTER = "Ray ended the work ({why}). What was read is kept: start the same command again."


def read_on_ray(
    origin: ScanOrigin, files: Sequence[Path], skip: int, workers: int | None, address: str
) -> Generator[HeadReport, None, None]:
    """Yield the report of each part but the first `skip`, in order. workers: by default one for each CPU of the cluster.

    Raises:
        ModelUnavailable: If there is no cluster at the address, or it is lost.
        TextProblem: If a file cannot be read to its end.
    """
    _connect(address)
    try:
        for row in _dataset(origin, [file.resolve() for file in files], skip, workers).iter_rows():
            if row[PROBLEM]:
                raise TextProblem(row[PROBLEM])
            yield read_progress(row[REPORT]).report
    except ray.exceptions.RayError as lost:
        raise ModelUnavailable(LOST_CLUSTER.format(why=type(lost).__name__)) from lost
    finally:
        ray.shutdown()


def _connect(address: str) -> None:
    """Start Ray on this machine or connect to a cluster; test the port first, because Ray waits minutes for an absent one."""
    own = {"include_dashboard": False} if address == LOCAL_ADDRESS else {}
    environment = {"env_vars": {"PYTHONPATH": str(PROJECT), "OMP_NUM_THREADS": "1"}}
    written = ADDRESS.fullmatch(address)
    if written is None:
        raise ModelUnavailable(NO_ADDRESS.format(address=address))
    try:
        if written["host"]:
            socket.create_connection((written["host"].strip("[]"), int(written["port"])), SECONDS_TO_ANSWER).close()
        ray.init(address, runtime_env=environment, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (OSError, OverflowError, RuntimeError, ValueError) as problem:
        why = str(problem).strip().partition("\n")[0][:200]
        raise ModelUnavailable(NO_CLUSTER.format(address=address, why=why)) from problem
    logging.getLogger("ray.data").setLevel(logging.ERROR)


def _dataset(origin: ScanOrigin, files: Sequence[Path], skip: int, workers: int | None) -> ray.data.Dataset:
    """Return the lazy dataset of reports, in order; only few parts are in memory at a time."""
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    context.target_max_block_size = 1  # bytes: so that each part goes to a reader at once
    readers = ray.data.ActorPoolStrategy(size=workers or int(ray.cluster_resources()["CPU"]))
    cut = partial(_split_files, files=files, column=origin.column, size=origin.part_sentences, skip=skip)
    start = ray.data.from_items([{PART: b""}])
    cut_parts = start.map_batches(cut, batch_size=1, batch_format="pyarrow", num_cpus=0)
    return cut_parts.map_batches(
        PartReader,
        batch_size=1,
        batch_format="pyarrow",
        compute=readers,
        num_cpus=1,
        fn_constructor_args=(origin.model_dump_json(),),
    )


def _split_files(_start: pyarrow.Table, files: Sequence[Path], column: str, size: int, skip: int) -> Iterator[pyarrow.Table]:
    """Yield the parts, and at the end an error message if a file cannot be read further."""
    try:
        for part in parts(files, column, size, skip):
            yield _row(**{PART: json.dumps(asdict(part)).encode(), PROBLEM: ""})
    except TextProblem as problem:
        yield _row(**{PART: b"", PROBLEM: str(problem)})


class PartReader:
    """An actor that reads parts and keeps the model loaded."""

    def __init__(self, origin: str):
        torch.set_num_threads(1)
        self.origin = ScanOrigin.model_validate_json(origin)

    def __call__(self, row: pyarrow.Table) -> pyarrow.Table:
        """Read a part; return its report, or the message of its error."""
        part, problem = row[PART][0].as_py(), row[PROBLEM][0].as_py()
        if problem:
            return _row(**{REPORT: b"", PROBLEM: problem})
        try:
            report = read_part(self.origin.model, self.origin.half, _part(part))
        except ExplorerError as problem:
            return _row(**{REPORT: b"", PROBLEM: str(problem)})
        return _row(**{REPORT: write_scan(CorpusScan(self.origin, 1, False, report)), PROBLEM: ""})


def _part(data: bytes) -> CorpusPart:
    """Deserialize a part that `_split_files` wrote."""
    found = json.loads(data)
    sentences = found["sentences"]
    left_out = tuple(LeftOut(one["why"], one["count"], tuple(one["lines"])) for one in sentences["left_out"])
    return CorpusPart(found["number"], Sentences("", tuple(sentences["texts"]), tuple(sentences["lines"]), left_out))


def _row(**cells: bytes | str) -> pyarrow.Table:
    return pyarrow.table({name: [cell] for name, cell in cells.items()})
