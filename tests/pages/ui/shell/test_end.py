"""The end of a server (SIGTERM): a proxy is told, open streams end, and nothing keeps the process alive."""

import json
import signal
import socket
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest

from pages.classroom.events import EVENTS
from pages.ui.shell.readiness import NOTICE_SECONDS
from tests.support.serving import ROOT, WITHOUT_MODELS, fetch, free_port, running, streamlit_command, wait_until
from tx_core.classroom.rooms import Rooms

pytestmark = pytest.mark.ci
STALLED = "PUT /_stcore/upload_file/session/file HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nabc"


def test_a_server_says_that_it_ends_while_it_still_serves_and_no_open_connection_keeps_it_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("TX_DATABASE_URL", raising=False)
    url = f"http://127.0.0.1:{(port := free_port())}"
    with (
        running(streamlit_command(port), f"{url}/_stcore/health", tmp_path / "log.txt", **WITHOUT_MODELS) as server,
        socket.create_connection(("127.0.0.1", port)) as stalled,
    ):
        stalled.sendall(STALLED.encode())
        rooms = Rooms(f"sqlite:///{tmp_path}/log.sqlite")
        room, _ = rooms.open((ROOT / "assets" / "lessons" / "path.yaml").read_text("utf-8"), 10)
        listening = HTTPConnection(f"127.0.0.1:{port}", timeout=60)
        listening.request("GET", f"/{EVENTS}?key={rooms.join(room.code)}")
        assert listening.getresponse().status == 200
        rooms.dispose()
        told = time.monotonic()
        server.send_signal(signal.SIGTERM)
        wait_until(lambda: json.loads(fetch(f"{url}/api/ready")[2])["state"] == "ending", 10, "the word that it ends")
        assert (fetch(f"{url}/api/ready")[0], fetch(url)[0]) == (503, 200)
        server.wait(30)
        assert time.monotonic() - told >= NOTICE_SECONDS
        listening.close()
