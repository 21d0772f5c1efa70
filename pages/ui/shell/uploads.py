"""Keep uploads within the bounds of the host: those of one visitor, and those of all visitors together.

Anybody with a session can send files, also more than the boxes of a page take. Streamlit bounds each file alone, and frees the
files of a session when it ends. No heavy package is imported here: app.py imports this module before it serves anything.
"""

import logging
import re
from collections.abc import Mapping

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from pages.ui.shell import texts
from tx_core.settings import host_settings

_log = logging.getLogger(__name__)
BROKEN_OFF = "an upload was broken off"
UPLOADS = "_stcore/upload_file"
UPLOAD = re.compile(rf"/{UPLOADS}/(?P<session>[^/]+)/(?P<file>[^/]+)$")
FILE_KINDS = (".csv", ".tsv", ".txt", ".json", ".safetensors", ".yaml", ".yml")
"""How the names of the files end that some page takes."""
MAX_SESSION_FILES = 10
MIN_FILE_BYTES = 10_000
"""What a file counts at least: many empty ones take memory, too."""


class UploadLimits:
    """Make room for each upload, or refuse it before any of it is read; plain ASGI.

    A visitor's oldest files make room for the newest: a page has read a file as soon as it was sent. What all visitors
    together sent is never dropped for somebody else's file.
    """

    def __init__(self, app: ASGIApp):
        self.app = app
        self.arriving: dict[int, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upload = UPLOAD.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if upload is None:
            await self.app(scope, receive, send)
            return
        manager, session, length = Runtime.instance().uploaded_file_mgr, upload["session"], announced_bytes(scope)
        drop_oldest(manager, session, length)
        if stored_bytes(manager.file_storage) + sum(self.arriving.values()) + length > host_settings().max_upload_megabytes * 1e6:
            await PlainTextResponse(texts.NO_ROOM_FOR_UPLOADS, 503, {"Retry-After": "60"})(scope, receive, send)
            return
        self.arriving[id(scope)] = length
        try:
            await self.app(scope, receive, send)
        except ClientDisconnect:  # nobody is there to be answered, and a server would log where it happened, at length
            _log.warning(BROKEN_OFF)
        finally:
            del self.arriving[id(scope)]
            if not Runtime.instance().is_active_session(session):  # it ended while the file was on its way
                manager.remove_session_files(session)
            drop_unknown_kind(manager, session, upload["file"])


def announced_bytes(scope: Scope) -> int:
    """Return the bytes of a request by its header, at most what Streamlit accepts, which is also what a missing header means."""
    most, written = config.get_option("server.maxUploadSize") * 1024 * 1024, Headers(scope=scope).get("content-length", "")
    announced = min(int(written), most) if written.isdecimal() and len(written) < 16 else most
    return max(announced, MIN_FILE_BYTES)


def drop_oldest(manager: MemoryUploadedFileManager, session: str, length: int) -> None:
    """Remove the oldest files of a session, until it may have one more of this length."""
    most_bytes = host_settings().max_session_upload_megabytes * 1e6
    files = list(manager.file_storage.get(session, {}).values())
    while files and (len(files) >= MAX_SESSION_FILES or sum(map(counted_bytes, files)) + length > most_bytes):
        manager.remove_file(session, files.pop(0).file_id)


def drop_unknown_kind(manager: MemoryUploadedFileManager, session: str, file_id: str) -> None:
    """Remove a file whose name no box takes: no browser sends one, and Streamlit would write its name into the log."""
    file = manager.file_storage.get(session, {}).get(file_id)
    if file is not None and not file.name.lower().endswith(FILE_KINDS):
        manager.remove_file(session, file_id)


def uploaded_file(key: str) -> UploadedFile | None:
    """Return the file in a box by the key of its widget; None where it is empty, or its file is no longer kept."""
    file = st.session_state.get(key)
    return file if isinstance(file, UploadedFile) else None


def has_upload() -> bool:
    """Tell whether a file of this visitor is in any box."""
    return any(isinstance(value, UploadedFile) for value in st.session_state.values())


def stored_bytes(storage: Mapping[str, Mapping[str, UploadedFileRec]]) -> int:
    """Return what the files of all sessions count together."""
    return sum(counted_bytes(file) for files in list(storage.values()) for file in list(files.values()))


def counted_bytes(file: UploadedFileRec) -> int:
    """Return what a file counts: its bytes, or MIN_FILE_BYTES where it has fewer."""
    return max(len(file.data), MIN_FILE_BYTES)
