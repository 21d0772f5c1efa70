"""A small Ray cluster of this machine that serves the models: `python -m tests.support.ray_cluster PORT FOLDER`.

It runs in a process of its own, which ends when its input does: tests import nothing of Ray.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.support.serving import ROOT, free_port, wait_until

REPLICAS = 2
READY = "ready"
REPLICA_TITLE = "ray::ServeReplica:models:"
BOUNDS = {"num_cpus": 4, "include_dashboard": False, "object_store_memory": 80_000_000}
"""CPUs are counted, not used: a small store and no dashboard."""


@dataclass(frozen=True)
class Cluster:
    """A running cluster: the address of its models, the process that all others descend from, and its folder of logs."""

    address: str
    root: psutil.Process
    folder: Path

    def replicas(self) -> list[psutil.Process]:
        """List the processes that hold the models now."""
        return [process for process in self.root.children(recursive=True) if _title(process).startswith(REPLICA_TITLE)]


@contextmanager
def serving_models(**variables: str) -> Iterator[Cluster]:
    """Start a cluster with two replicas, and end all of it with the block. variables: of the environment of the replicas."""
    with TemporaryDirectory(prefix="ray") as folder:  # short: the paths of Ray's sockets lie below it
        yield from _serving_models(Path(folder), variables)


def _serving_models(folder: Path, variables: dict[str, str]) -> Iterator[Cluster]:
    port, log = free_port(), folder / "said.txt"
    command = [sys.executable, "-m", "tests.support.ray_cluster", str(port), str(folder)]
    environment = os.environ | {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "OMP_NUM_THREADS": "1"} | variables
    with log.open("wb") as output:
        cluster = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
        )
    root = psutil.Process(cluster.pid)
    try:
        wait_until(lambda: _is_ready(cluster, log), 240, "a cluster that serves the models")
        yield Cluster(f"http://127.0.0.1:{port}", root, folder)
    finally:
        started = root.children(recursive=True) if root.is_running() else []  # else why it ended would not be told
        cluster.stdin.close()
        try:
            cluster.wait(20)
        except subprocess.TimeoutExpired:
            cluster.kill()
            cluster.wait()
        _, left = psutil.wait_procs(started, 3)
        for process in left:
            process.kill()


def _is_ready(cluster: subprocess.Popen, log: Path) -> bool:
    said = log.read_text(encoding="utf-8")
    if cluster.poll() is not None:
        raise RuntimeError(f"the cluster stopped at its start:\n{said}")
    return READY in said.splitlines()


def _title(process: psutil.Process) -> str:
    try:
        return process.cmdline()[0]
    except (psutil.NoSuchProcess, IndexError):
        return ""


def main(port: int, folder: Path) -> None:
    """Hold the cluster until the input ends."""
    import ray
    from ray import serve

    from tx_core.engine.remote.deployment import Models

    ray.init(**BOUNDS, _temp_dir=str(folder), logging_level="warning", log_to_driver=False)
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    models = Models.options(num_replicas=REPLICAS, autoscaling_config=None, ray_actor_options={"num_cpus": 1})
    serve.run(models.bind(), name="models")
    print(READY, flush=True)
    sys.stdin.read()
    ray.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
