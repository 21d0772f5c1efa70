"""The app as a visitor's browser meets it: a server started as the README says, and what it answers."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError, URLError

import pytest

ROOT = Path(__file__).parents[2]

Answer = TypeVar("Answer")

SETTINGS = {"TX_TRAININGS": "2"}
"""As on two cores, on any machine: so few visitors fill the server that a test can."""

WITHOUT_MODELS = {"TX_ENGINE": "ray", "TX_RAY_ADDRESS": "http://127.0.0.1:9"}
"""For a server that is asked for no computation: it loads neither torch nor a model, which takes two thirds of its start."""


def fetch(url: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Get a URL, with headers of a request: status, headers (names in lower case) and body, whatever the status."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
    except HTTPError as answer:
        with answer:
            return answer.code, {name.lower(): value for name, value in answer.headers.items()}, answer.read()


def wait_until(reached: Callable[[], Answer], seconds: float, what: str) -> Answer:
    """Ask again and again until the answer is true, and hand it back; fail with `what` when time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := reached():
            return answer
        time.sleep(0.02)
    pytest.fail(f"{what} did not happen within {seconds} seconds")


def free_port() -> int:
    """Find a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(command: Sequence[str], health: str, log: Path, root: Path = ROOT, **variables: str) -> Iterator[subprocess.Popen]:
    """Run a server until the block ends; give its process once the address `health` answers 200."""
    with log.open("wb") as output:
        rooms = {"TX_ROOMS_FILE": str(log.with_name(f"{log.stem}.sqlite"))}
        environment = rooms | os.environ | {"PYTHONUTF8": "1"} | SETTINGS | variables
        server = subprocess.Popen(command, cwd=root, stdout=output, stderr=subprocess.STDOUT, env=environment)

    def healthy() -> bool:
        if server.poll() is not None:
            pytest.fail(f"the server stopped at its start:\n{log.read_text(encoding='utf-8')}")
        try:
            return fetch(health)[0] == 200
        except (URLError, ConnectionError, TimeoutError):
            return False

    try:
        wait_until(healthy, 120, "a healthy server")
        yield server
    finally:
        server.terminate()
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@contextmanager
def site_of_two(folder: Path, **variables: str) -> Iterator[tuple[str, Sequence[subprocess.Popen]]]:
    """Start two servers behind Caddy as HOSTING.md says; give the address of the site, and the servers. Logs go to the folder."""
    ports = [free_port() for _ in range(2)]
    health = "http://127.0.0.1:{}/api/ready"
    address = f"127.0.0.1:{free_port()}"
    caddy = ["caddy", "run", "--config", str(ROOT / "assets" / "hosting" / "Caddyfile"), "--adapter", "caddyfile"]
    apps = {"TX_SITE": f"http://{address}", "TX_APPS": " ".join(f"127.0.0.1:{port}" for port in ports)}
    with (
        running(streamlit_command(ports[0]), health.format(ports[0]), folder / "first.txt", **variables) as first,
        running(streamlit_command(ports[1]), health.format(ports[1]), folder / "second.txt", **variables) as second,
        running(caddy, f"http://{address}/api/ready", folder / "caddy.txt", **apps),
    ):
        yield f"http://{address}", (first, second)


@contextmanager
def serving(root: Path, log: Path, *options: str, script: str = "app.py", **variables: str) -> Iterator[str]:
    """Start `streamlit run app.py` of the project at root as the README says; give its address once it is healthy.

    script: another script to run with the project's settings.
    """
    port = free_port()
    below = options[options.index("--server.baseUrlPath") + 1] if "--server.baseUrlPath" in options else ""
    url = f"http://127.0.0.1:{port}/{below}".rstrip("/")
    with running(streamlit_command(port, *options, script=script), f"{url}/_stcore/health", log, root, **variables):
        yield url


def streamlit_command(port: int, *options: str, script: str = "app.py") -> list[str]:
    """Return the README's command that starts the app, or another script with its settings, on a port of this machine alone."""
    address = ["--server.headless", "true", "--server.address", "127.0.0.1", "--server.port", str(port)]
    return [sys.executable, "-m", "streamlit", "run", script, *address, *options]
