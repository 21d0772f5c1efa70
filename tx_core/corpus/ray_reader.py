"""Parts of a corpus read by actors on a Ray cluster, which are sent the sentences.

Every machine of the cluster must hold this project and its packages at the same paths. The only file that imports Ray here;
requirements-ray.txt installs it.
"""

import logging
import re
import socket
from collections.abc import Callable, Generator, Iterable
from functools import partial
from itertools import cycle
from pathlib import Path

import ray
import torch

from tx_core.corpus.part_reader import in_order, read_part
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.statistics import HeadReport
from tx_core.errors import ModelUnavailable

PROJECT = Path(__file__).parents[2]
LOCAL_ADDRESS = "local"
ADDRESS = re.compile(r"local|auto|(ray://)?(?P<host>[\w.-]+|\[[\da-fA-F:]+\]):(?P<port>\d{1,5})")
SECONDS_TO_ANSWER = 5


@ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)
class PartReader:
    """An actor that reads parts on one core and keeps the model loaded; Ray starts it anew where it was ended."""

    def __init__(self) -> None:
        torch.set_num_threads(1)

    def read(self, model: str, half: bool, part: Sentences) -> HeadReport:
        """Read a part."""
        return read_part(model, half, part)


def read_on_ray(
    model: str, half: bool, parts: Iterable[Sentences], workers: int | None, address: str
) -> Generator[HeadReport, None, None]:
    """Yield the report of each part, in order. workers: by default one for each CPU of the cluster.

    Raises ModelUnavailable if there is no cluster at the address, or it is lost.
    """
    _connect(address)
    try:
        count = workers or int(ray.cluster_resources()["CPU"])
        readers = cycle([PartReader.remote() for _ in range(count)])

        def submit(part: Sentences) -> Callable[[], HeadReport]:
            return partial(ray.get, next(readers).read.remote(model, half, part))

        yield from in_order(submit, parts, count)
    except ray.exceptions.RayTaskError as failed:
        raise failed.cause from None
    except ray.exceptions.RayError as lost:
        raise ModelUnavailable(
            f"Ray ended the work ({type(lost).__name__}). What was read is kept: start the same command again."
        ) from lost
    finally:
        ray.shutdown()


def _connect(address: str) -> None:
    """Start Ray on this machine or connect to a cluster; test the port first, because Ray waits minutes for an absent one."""
    own = {"include_dashboard": False} if address == LOCAL_ADDRESS else {}
    environment = {"env_vars": {"PYTHONPATH": str(PROJECT), "OMP_NUM_THREADS": "1"}}
    written = ADDRESS.fullmatch(address)
    if written is None:
        raise ModelUnavailable(f"--ray {address}: write local, auto or the address of a cluster, host:port.")
    try:
        if written["host"]:
            socket.create_connection((written["host"].strip("[]"), int(written["port"])), SECONDS_TO_ANSWER).close()
        ray.init(address, runtime_env=environment, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (OSError, OverflowError, RuntimeError, ValueError) as problem:
        why = str(problem).strip().partition("\n")[0][:200]
        raise ModelUnavailable(f"--ray {address}: no Ray cluster answers there ({why}).") from problem
