"""The end of a server: nobody new comes in, what runs goes on for a while, and a training is kept for its visitor."""

import asyncio
import json
import os
import re
import signal
import socket
import time
from pathlib import Path
from subprocess import Popen

import pytest
import websockets

from pages.encoder_decoder import texts as page_texts
from pages.ui.panels import texts as panel_texts
from pages.ui.shell import draining, texts
from pages.ui.shell.draining import Drain
from tests.support.apart import run_apart
from tests.support.copy_page import KIND
from tests.support.serving import WITHOUT_MODELS, fetch, free_port, running, streamlit_command
from tests.support.stream_client import Visitor, visit

PAGE, LONG = "encoder_decoder", "batches=600&batch=128"
SESSION = "0123-of-a-session"


@pytest.fixture
def kept(host, tmp_path: Path) -> Path:
    """The folder in which this test keeps what it keeps."""
    host(rooms_file=tmp_path / "rooms.sqlite")
    return draining.kept_folder()


def test_what_is_kept_of_a_session_is_taken_once_and_by_that_session_only(kept: Path):
    assert not draining.has_kept(SESSION) and draining.take(SESSION, KIND) is None
    assert draining.keep(SESSION, KIND, b"weights")
    (file,) = kept.iterdir()
    assert SESSION not in file.name and file.stat().st_mode & 0o777 == 0o600
    assert draining.has_kept(SESSION)
    for other in ("", "another", "*"):
        assert not draining.has_kept(other) and draining.take(other, KIND) is None
    assert draining.take(SESSION, "another kind") is None
    assert draining.take(SESSION, KIND) == b"weights"
    assert not draining.has_kept(SESSION) and draining.take(SESSION, KIND) is None


def test_what_nobody_comes_back_for_is_deleted(kept: Path):
    for session in (SESSION, "fresh"):
        draining.keep(session, KIND, b"weights")
    long_ago = time.time() - draining.KEPT_SECONDS - 1
    os.utime(draining._path(SESSION, KIND), (long_ago, long_ago))
    draining.drop_old()
    assert [draining.has_kept(session) for session in (SESSION, "fresh")] == [False, True]
    os.utime(draining._path("fresh", KIND), (long_ago, long_ago))
    assert draining.take("fresh", KIND) is None
    assert list(kept.iterdir()) == []


def test_what_was_not_written_to_its_end_is_deleted_too(kept: Path):
    draining.keep(SESSION, KIND, b"weights")
    half = kept / "half.part"
    half.write_bytes(b"wei")
    draining.drop_old()
    assert half.exists()
    long_ago = time.time() - draining.KEPT_SECONDS - 1
    os.utime(half, (long_ago, long_ago))
    draining.drop_old()
    assert not half.exists() and draining.has_kept(SESSION)


def test_a_file_that_cannot_be_written_or_deleted_stops_neither_the_others_nor_the_start(kept: Path, caplog):
    for session in ("a", "b"):
        draining.keep(session, KIND, b"weights")
    (kept / "a-folder.kept").mkdir()  # cannot be deleted as a file
    stale = [kept / "a-folder.kept", draining._path("a", KIND)]
    for path in stale:
        os.utime(path, (0, 0))
    draining.drop_old()
    assert [path.exists() for path in stale] == [True, False]
    draining._path("c", KIND).with_suffix(".part").mkdir()  # cannot be written as a file
    assert [draining.keep(session, KIND, b"secret weights") for session in ("c", "d")] == [False, True]
    assert len(caplog.records) == 1 and "secret" not in caplog.text
    draining._path("e", KIND).mkdir()
    assert draining.take("e", KIND) is None
    assert draining.take("b", KIND) == b"weights"


def test_a_folder_that_others_may_write_to_is_not_used(kept: Path, tmp_path: Path):
    draining.keep(SESSION, KIND, b"weights")
    kept.chmod(0o770)
    assert not draining.keep("another", KIND, b"weights")
    assert not draining.has_kept(SESSION) and draining.take(SESSION, KIND) is None
    kept.chmod(0o700)
    assert draining.take(SESSION, KIND) == b"weights"
    kept.rename(tmp_path / "elsewhere")
    kept.symlink_to(tmp_path / "elsewhere")
    assert not draining.keep(SESSION, KIND, b"weights")


def test_what_is_kept_is_bounded(kept: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(draining, "MAX_KEPT_BYTES", 10)
    assert [draining.keep(session, KIND, bytes(size)) for session, size in (("a", 6), ("b", 5), ("c", 4))] == [True, False, True]
    assert len(list(kept.iterdir())) == 2


def drained(drain: Drain) -> list[str]:
    """Let a server end; give in which order it kept and ended."""
    events: list[str] = []
    drain.wait_for(lambda: 0, lambda: events.append("kept") or 1)
    drain.begin(lambda: events.append("ended")).join(120)
    return events


def test_an_idle_server_ends_at_once(host):
    host(drain_seconds=3600)
    assert drained(Drain()) == ["kept", "ended"]


def test_what_runs_is_waited_for(host):
    host(drain_seconds=3600)
    drain, left = Drain(), [3, 2, 1]
    drain.wait_for(lambda: left.pop() if left else 0)
    assert drained(drain) == ["kept", "ended"]
    assert left == []


def test_what_runs_for_too_long_is_not_waited_for(host):
    host(drain_seconds=0.3)
    drain = Drain()
    drain.wait_for(lambda: 1)
    assert drained(drain) == ["kept", "ended"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_whose_trainings_cannot_be_kept_ends_all_the_same(host):
    drain, events = Drain(), []

    def full() -> int:
        raise OSError("no space left on device")

    drain.wait_for(lambda: 0, full)
    drain.begin(lambda: events.append("ended")).join(120)
    assert events == ["ended"]


def strings(visitor: Visitor) -> str:
    return "\n".join(str(element) for element in visitor.elements.values())


def labels(visitor: Visitor) -> set[str]:
    return {element.button.label for element in visitor.elements.values() if element.WhichOneof("type") == "button"}


async def begin_training(visitor: Visitor) -> None:
    """Start a training, and wait for its first batches."""
    fragment = visitor.press(panel_texts.TRAIN)
    await visitor.run(fragment=fragment)
    begun = re.compile(re.escape(panel_texts.TRAINING_PROGRESS["running"].partition("{")[0]))
    async with asyncio.timeout(120):
        while panel_texts.STOP not in labels(visitor) or not begun.search(strings(visitor)):
            await visitor.run(PAGE)


async def end_during_a_training(url: str, server: Popen) -> tuple[str, float]:
    """Tell a server to end while it trains, and stay until it does; give the session, and how long that took."""
    async with visit(url, PAGE, LONG) as visitor:
        await begin_training(visitor)
        told = time.monotonic()
        server.send_signal(signal.SIGTERM)
        while (answer := await asyncio.to_thread(fetch, f"{url}/api/ready"))[0] == 200:
            await asyncio.sleep(0.01)
        assert (answer[0], json.loads(answer[2])["state"]) == (503, "ending")
        with pytest.raises(websockets.InvalidStatus):
            async with visit(url):
                pass
        status, _, body = await asyncio.to_thread(fetch, url)
        assert status == 503 and texts.SERVER_ENDS in body.decode()
        await visitor.run(PAGE)
        assert panel_texts.ENDING_KEPT in strings(visitor)
        await asyncio.to_thread(server.wait, 30)
        return visitor.session, time.monotonic() - told


def test_a_server_that_is_told_to_end_lets_nobody_in_and_keeps_a_training_for_the_browser_that_comes_back(tmp_path: Path):
    ports = [free_port() for _ in range(2)]
    urls = [f"http://127.0.0.1:{port}" for port in ports]
    first = running(streamlit_command(ports[0]), f"{urls[0]}/api/ready", tmp_path / "log.txt", TX_DRAIN_SECONDS="5")
    with first as server:
        session, taken = run_apart(end_during_a_training(urls[0], server))
        assert server.returncode == -signal.SIGTERM
        assert taken < 60
    ending = next(line for line in (tmp_path / "log.txt").read_text("utf-8").splitlines() if '"event": "ending"' in line)
    assert json.loads(ending[ending.index("{") :])["kept"] == 1

    async def come_back(url: str) -> None:
        async with visit(url, PAGE, LONG, lost="another-session") as stranger:
            assert panel_texts.CONTINUE not in labels(stranger)
        async with visit(url, PAGE, LONG, lost=session) as visitor:
            assert panel_texts.CONTINUE in labels(visitor)
            trained = re.search(re.escape(page_texts.TRAINED.partition("{")[0]) + r"(\d+)", strings(visitor))
            assert int(trained[1]) > 0

    with running(streamlit_command(ports[1]), f"{urls[1]}/api/ready", tmp_path / "log.txt"):
        run_apart(come_back(urls[1]))
        assert list((tmp_path / "kept-trainings").iterdir()) == []


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
        server.wait(120)
        assert time.monotonic() - told < 60
