"""End a server without losing what runs on it (SIGTERM): no new visitors, what runs goes on for a while, trainings are kept.

A training that can be written is kept as a file for the browser whose session it was: Streamlit's name of that session, which
a browser gives when it connects again, finds it. No heavy package is imported here: app.py imports this module before it serves
anything.
"""

import hashlib
import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui.shell import metrics
from tx_core.engine import threads
from tx_core.settings import host_settings, is_own, state_folder

DRAIN_POLL_SECONDS = 0.1
KEPT_SECONDS = 600.0
"""How long a kept training waits for its visitor."""
MAX_KEPT_BYTES = 200_000_000
BEING_WRITTEN = ".part"
"""How the name of a file ends while it is written."""
CLOSING_SECONDS = 1.5
"""How long connections may take to close; one that never does would keep the process alive."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Work:
    """Something that the end of a server waits for.

    Attributes:
        count: Gives how many of it run now.
        keep: Stops them, keeps what can be kept, and gives how many are kept.
    """

    count: Callable[[], int]
    keep: Callable[[], int]


class Drain:
    """The way to the end of a server: it has `begun`, waits for the work that was named to it, and ends."""

    def __init__(self) -> None:
        self.begun = False
        self._work: list[Work] = []

    def wait_for(self, count: Callable[[], int], keep: Callable[[], int] = lambda: 0) -> None:
        """Name work that the end waits for, see `Work`."""
        self._work.append(Work(count, keep))

    def begin(self, end: Callable[[], None]) -> threading.Thread:
        """Let nobody new in, and call `end` when nothing runs any more, after TX_DRAIN_SECONDS at the latest."""
        self.begun = True
        thread = threading.Thread(target=self._run, args=[end], name="drain", daemon=True)
        thread.start()
        return thread

    def _run(self, end: Callable[[], None]) -> None:
        start, kept = time.monotonic(), 0
        try:
            while time.monotonic() - start < host_settings().drain_seconds and any(work.count() for work in self._work):
                time.sleep(DRAIN_POLL_SECONDS)
            kept = sum(work.keep() for work in self._work)
        finally:
            _log.warning("%s", json.dumps({"event": "ending", "seconds": round(time.monotonic() - start, 1), "kept": kept}))
            end()


drain = Drain()
drain.wait_for(lambda: metrics.runs_now() + threads.page_slots_in_use() + threads.pages_waiting())


def drain_on_sigterm() -> None:
    """Drain this process at SIGTERM before whoever serves it ends it; at a second SIGTERM it is ended at once.

    Call it once the server has set its own handler. Nothing is done where that is not one that can be called later, or outside
    the main thread, where Python has no signals.
    """
    usual = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        return

    def begin_or_end(number: int, frame: object) -> None:
        if drain.begun:
            usual(number, frame)
        else:
            drain.begin(lambda: _end(usual, number, frame))

    signal.signal(signal.SIGTERM, begin_or_end)


def _end(usual: Callable[[int, object], object], number: int, frame: object) -> None:
    """Let the server end; where that takes too long, end the process as the signal would have."""
    usual(number, frame)
    time.sleep(CLOSING_SECONDS)
    os._exit(128 + number)


def own_session() -> str:
    """Return Streamlit's name of the session whose page runs, "" where no page does."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def lost_session() -> str:
    """Return the name of the session that this browser had at a server that is gone; "" if it had none."""
    named = named_session(st.context.headers.get("Sec-WebSocket-Protocol") or "")
    return "" if named == own_session() else named


def named_session(protocols: str) -> str:
    """Return the session that a browser names when it connects again, as the third of the protocols of its websocket."""
    entries = protocols.split(",")
    return entries[2].strip() if len(entries) > 2 else ""


def keep(session: str, kind: str, data: bytes) -> bool:
    """Keep what a session has of a kind, as a file that nobody else can read; tell whether that was possible."""
    folder, path = kept_folder(), _path(session, kind)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        drop_old()
        if not is_own(folder) or len(data) + sum(file.stat().st_size for file in folder.glob("*.kept")) > MAX_KEPT_BYTES:
            return False
        with open(path.with_suffix(BEING_WRITTEN), "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(data)
        path.with_suffix(BEING_WRITTEN).replace(path)
    except OSError as problem:
        _log.error("a training could not be kept: %s", problem.strerror)
        with suppress(OSError):
            path.with_suffix(BEING_WRITTEN).unlink(missing_ok=True)
        return False
    return True


def take(session: str, kind: str) -> bytes | None:
    """Return what was kept of a session, and delete the file; None where nothing was, or not for so long."""
    path = _path(session, kind)
    if not session or not is_own(path.parent):
        return None
    try:
        fresh = time.time() - path.stat().st_mtime < KEPT_SECONDS
        data = path.read_bytes() if fresh else None
        path.unlink(missing_ok=True)
    except OSError:  # nothing was kept, or another server takes it at this moment
        return None
    return data


def has_kept(session: str) -> bool:
    """Tell whether anything of a session is kept."""
    return bool(session) and is_own(kept_folder()) and any(kept_folder().glob(f"{_mark(session)}-*.kept"))


def drop_old() -> None:
    """Delete what nobody came back for, and what was not written to its end."""
    folder = kept_folder()
    for file in (*folder.glob("*.kept"), *folder.glob(f"*{BEING_WRITTEN}")) if is_own(folder) else ():
        with suppress(OSError):  # another server may delete it at this moment
            if time.time() - file.stat().st_mtime > KEPT_SECONDS:
                file.unlink(missing_ok=True)


def kept_folder() -> Path:
    """Return the folder of kept trainings, beside the file of the rooms."""
    rooms = host_settings().rooms_file
    return (Path(rooms).parent if rooms else state_folder()) / "kept-trainings"


def _path(session: str, kind: str) -> Path:
    return kept_folder() / f"{_mark(session)}-{kind}.kept"


def _mark(session: str) -> str:
    """Return what stands for a session in the name of a file, from which nobody can tell the session."""
    return hashlib.sha256(session.encode()).hexdigest()
