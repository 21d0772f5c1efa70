"""The app as a visitor's browser meets it: a server started as the README says, and what it answers."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.error import HTTPError, URLError

import pytest

ROOT = Path(__file__).parents[2]

Answer = TypeVar("Answer")

SETTINGS = {"TX_TRAININGS": "2"}
"""As on two cores, on any machine: so few visitors fill the server that a test can."""


def fetch(url: str) -> tuple[int, dict[str, str], bytes]:
    """Get a URL: status, headers (names in lower case) and body, whatever the status."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
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
        time.sleep(0.05)
    pytest.fail(f"{what} did not happen within {seconds} seconds")


@contextmanager
def serving(root: Path, log: Path, *options: str) -> Iterator[str]:
    """Start `streamlit run app.py` of the project at root as the README says; give its address once it is healthy."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        "--server.headless",
        "true",
        "--server.address",
        "127.0.0.1",
        "--server.port",
        str(port),
        *options,
    ]
    environment = {"TX_ROOMS_FILE": str(log.with_name("rooms.sqlite"))} | os.environ | {"PYTHONUTF8": "1"} | SETTINGS
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=root, stdout=output, stderr=subprocess.STDOUT, env=environment)
    below = options[options.index("--server.baseUrlPath") + 1] if "--server.baseUrlPath" in options else ""
    url = f"http://127.0.0.1:{port}/{below}".rstrip("/")

    def healthy() -> bool:
        if server.poll() is not None:
            pytest.fail(f"the server stopped at its start:\n{log.read_text(encoding='utf-8')}")
        try:
            return fetch(f"{url}/_stcore/health")[0] == 200
        except (URLError, ConnectionError, TimeoutError):
            return False

    try:
        wait_until(healthy, 60, "a healthy server")
        yield url
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
