"""Uploads within bounds: of one visitor, of all together, and nothing left of a visitor who is gone."""

from dataclasses import dataclass, field

import pytest
from starlette.requests import ClientDisconnect
from starlette.types import Message
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.ui.shell import texts, uploads
from pages.ui.shell.uploads import BROKEN_OFF, MAX_SESSION_FILES, MIN_FILE_BYTES, UploadLimits, stored_bytes
from tests.support.apart import run_apart

MEGABYTE = 1_000_000


@dataclass
class Server:
    """A stand-in for Streamlit: its store of files, its sessions, and its route, which keeps what is sent."""

    uploaded_file_mgr: MemoryUploadedFileManager = field(default_factory=lambda: MemoryUploadedFileManager("/upload"))
    sessions: set[str] = field(default_factory=lambda: {"ann", "bob"})
    leaving: str = ""

    def is_active_session(self, session: str) -> bool:
        return session in self.sessions

    async def route(self, scope, receive, send) -> None:
        self.sessions.discard(self.leaving)
        *_, session, name = scope["path"].split("/")
        self.uploaded_file_mgr.add_file(session, UploadedFileRec(name, name, "text/plain", bytes(scope["size"])))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def names(self, session: str) -> list[str]:
        return list(self.uploaded_file_mgr.file_storage.get(session, {}))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(uploads.Runtime, "instance", lambda: made)
    return made


def put(server: Server, session: str, name: str, size: int, *, announced: bool = True, limits: UploadLimits | None = None):
    """Upload a file; give the status and the body of the answer."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"content-length", str(size).encode())] if announced else []
    path = f"/below/_stcore/upload_file/{session}/{name}"
    scope = {"type": "http", "method": "PUT", "path": path, "headers": headers, "size": size}
    run_apart((limits or UploadLimits(server.route))(scope, None, send))
    return sent[0]["status"], sent[-1]["body"].decode()


def test_an_upload_that_is_broken_off_leaves_one_line_in_the_log_and_no_reservation(server: Server, caplog):
    async def break_off(_scope, _receive, _send) -> None:
        raise ClientDisconnect

    limits = UploadLimits(break_off)
    scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/ann/one", "headers": []}
    run_apart(limits(scope, None, None))
    assert [record.getMessage() for record in caplog.records] == [BROKEN_OFF]
    assert limits.arriving == {}


def test_the_newest_files_of_a_visitor_are_kept(server: Server):
    for number in range(MAX_SESSION_FILES + 3):
        assert put(server, "ann", f"{number}.txt", 5)[0] == 204
    assert put(server, "bob", "own.CSV", 5)[0] == 204
    assert server.names("ann") == [f"{number}.txt" for number in range(3, MAX_SESSION_FILES + 3)]
    assert server.names("bob") == ["own.CSV"]


def test_large_files_of_a_visitor_make_room_by_their_bytes(server: Server, host):
    host(max_session_upload_megabytes=20)
    for number in range(4):
        assert put(server, "ann", f"{number}.txt", 8 * MEGABYTE)[0] == 204
        assert stored_bytes(server.uploaded_file_mgr.file_storage) <= 20 * MEGABYTE
    assert server.names("ann") == ["2.txt", "3.txt"]


def test_what_is_more_than_all_visitors_may_send_is_refused_and_drops_nothing(server: Server, host):
    host(max_upload_megabytes=10)
    assert put(server, "ann", "first.txt", 8 * MEGABYTE)[0] == 204
    assert put(server, "bob", "second.txt", 3 * MEGABYTE) == (503, texts.NO_ROOM_FOR_UPLOADS)
    assert (server.names("ann"), server.names("bob")) == (["first.txt"], [])
    server.uploaded_file_mgr.remove_session_files("ann")
    assert put(server, "bob", "second.txt", 3 * MEGABYTE)[0] == 204


def test_a_file_of_no_announced_length_counts_as_the_largest_that_may_come(server: Server, host):
    host(max_upload_megabytes=10)
    assert put(server, "ann", "stream.txt", 10, announced=False)[0] == 503


def test_empty_files_are_bounded_too(server: Server, host):
    host(max_upload_megabytes=1)
    server.sessions |= {f"visitor{number}" for number in range(200)}
    statuses = [put(server, f"visitor{number}", "empty.txt", 0)[0] for number in range(200)]
    assert statuses.count(204) == MEGABYTE // MIN_FILE_BYTES


def test_files_that_are_arriving_count(server: Server, host):
    host(max_upload_megabytes=10)
    limits = UploadLimits(server.route)
    limits.arriving[1] = 8 * MEGABYTE
    assert put(server, "ann", "second.txt", 3 * MEGABYTE, limits=limits)[0] == 503
    del limits.arriving[1]
    assert put(server, "ann", "second.txt", 3 * MEGABYTE, limits=limits)[0] == 204
    assert limits.arriving == {}


def test_nothing_stays_of_a_file_whose_visitor_left_while_it_arrived(server: Server):
    server.leaving = "ann"
    assert put(server, "ann", "late.txt", 5)[0] == 204
    assert server.names("ann") == []
    assert server.uploaded_file_mgr.get_stats() == {}


@pytest.mark.parametrize("name", ["page.html", "no-ending", "a.csv.exe", "txt"])
def test_a_file_that_no_box_takes_is_not_kept(server: Server, name: str):
    put(server, "ann", name, 5)
    assert server.names("ann") == []
