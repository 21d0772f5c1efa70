"""The end of a server (SIGTERM): a proxy is told, open streams end, and nothing keeps the process alive."""

import json
import signal
import socket
import time
from pathlib import Path

import pytest

from pages.ui.shell.readiness import CLOSING_SECONDS, NOTICE_SECONDS
from tests.support.serving import WITHOUT_MODELS, fetch, free_port, running, streamlit_command, wait_until

pytestmark = pytest.mark.ci


def test_a_server_that_is_told_to_end_says_so_while_it_still_serves(tmp_path: Path):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with running(streamlit_command(port), f"{url}/_stcore/health", tmp_path / "log.txt", **WITHOUT_MODELS) as server:
        told = time.monotonic()
        server.send_signal(signal.SIGTERM)
        state = wait_until(lambda: json.loads(fetch(f"{url}/api/ready")[2])["state"] == "ending", 10, "the word that it ends")
        assert state and fetch(f"{url}/api/ready")[0] == 503
        assert fetch(url)[0] == 200
        server.wait(30)
        assert NOTICE_SECONDS <= time.monotonic() - told < NOTICE_SECONDS + CLOSING_SECONDS + 10


def test_a_connection_that_never_ends_does_not_keep_a_server_alive(tmp_path: Path):
    port = free_port()
    with (
        running(
            streamlit_command(port), f"http://127.0.0.1:{port}/_stcore/health", tmp_path / "log.txt", **WITHOUT_MODELS
        ) as server,
        socket.create_connection(("127.0.0.1", port)) as stalled,
    ):
        head = "PUT /_stcore/upload_file/session/file HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nabc"
        stalled.sendall(head.encode())
        fetch(f"http://127.0.0.1:{port}/_stcore/health")  # the server has read what came before
        told = time.monotonic()
        server.send_signal(signal.SIGTERM)
        server.wait(30)
        assert time.monotonic() - told < 10
