"""The file by which a host names its learning platforms is checked at the start; a slow platform holds up its own launches only;
a grade that a platform refuses is sent again."""

import asyncio
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from starlette.requests import Request
from starlette.responses import Response

from pages.classroom import lti, texts
from pages.classroom.lti import host_tool
from pages.ui.panels.lesson import shipped_lesson, shipped_names
from tests.support.apart import run_apart
from tests.support.lti_platform import CLIENT, Platform, platform
from tests.tx_core.classroom.test_rooms import Clock
from tx_core.classroom.launches import keep_launch, keep_share
from tx_core.classroom.lesson_file import write_lesson
from tx_core.classroom.rooms import Rooms, host_rooms
from tx_core.errors import SettingsProblem

WRONG = {
    "no TOML": lambda file: "key",
    "no platform": lambda file: 'key = "lti.pem"\nplatforms = []',
    "a word that is none": lambda file: f'{file}\nfrom = "x"',
    "an address that is none": lambda file: file.replace("http://", "ftp://"),
    "no key": lambda file: file.replace("lti.pem", "another.pem"),
    "no key in PEM": lambda file: file.replace("lti.pem", "lti.toml"),
    "a key of another kind": lambda file: file.replace("lti.pem", "ec.pem"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(host, tmp_path: Path, name: str):
    path = Platform("http://localhost").file(tmp_path)
    host(lti_file=str(path))
    assert list(host_tool.__wrapped__().by_name) == ["http://localhost attention"]
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "ec.pem").write_bytes(other)
    path.write_text(WRONG[name](path.read_text("utf-8")), "utf-8")
    with pytest.raises(SettingsProblem) as problem:
        host_tool.__wrapped__()
    assert str(problem.value).startswith(f"TX_LTI_FILE={path} ") and len(str(problem.value).splitlines()) == 1


def test_where_a_platform_does_not_let_grades_be_read_it_is_asked_to_let_them_be_written(
    host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    status = 400

    def answer(address: str, data: bytes = b"", **_headers: str) -> bytes:
        if not data or b"result.readonly" in data:
            raise HTTPError(address, status, "invalid_scope", None, None)
        return b'{"access_token": "token"}'

    host(lti_file=str(Platform("http://localhost").file(tmp_path)))
    monkeypatch.setattr(lti, "host_tool", host_tool.__wrapped__)
    monkeypatch.setattr(lti, "fetch", answer)
    (known,) = lti.host_tool().by_name.values()
    assert lti.access_token.__wrapped__(known) == "token"
    monkeypatch.setattr(lti, "access_token", lti.access_token.__wrapped__)
    assert lti.known_share(known, "ada", "http://localhost/column") == 0.0
    status = 503  # which passes: what stands there may be better
    for act in (lambda: lti.access_token(known), lambda: lti.known_share(known, "ada", "http://localhost/column")):
        with pytest.raises(HTTPError):
            act()


def test_a_grade_that_a_platform_refuses_is_sent_again_later_to_no_other_address_and_no_worse_one_than_it_has(
    host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    now = Clock()
    rooms = Rooms(f"sqlite:///{tmp_path}/rooms.sqlite", now=now)
    monkeypatch.setattr(lti, "host_store", lambda: rooms)
    monkeypatch.setattr(lti, "access_token", lambda platform: "token")
    with platform() as course:
        course.access_tokens.add("token")
        host(lti_file=str(course.file(tmp_path)))
        monkeypatch.setattr(lti, "host_tool", host_tool.__wrapped__)
        room, _ = rooms.open("title: A lesson", 1, together=False)
        student = rooms.student(rooms.join(room.code))
        keep_launch(rooms, student, f"{course.address} {CLIENT}", "ada", f"{course.address}/column")
        keep_share(rooms, student.id, 0.625, is_final=True)
        for course.status, pause in ((307, 60), (500, 240), (200, 960)):
            lti.send_grades()
            now.seconds += pause
        lti.send_grades()
        course.shares = {"ada": 0.75, "ben": 1.0}  # of earlier attempts
        for share, course.maximum in ((0.5, 5), (0.875, 0)):
            keep_launch(rooms, student, f"{course.address} {CLIENT}", "ada", f"{course.address}/column")
            keep_share(rooms, student.id, share, is_final=True)
            lti.send_grades()
        now.seconds, course.maximum = now.seconds + 60, 5
        lti.send_grades()
    rooms.dispose()
    assert [(path, score["scoreGiven"]) for path, score in course.scores] == [("/column/scores", 62.5), ("/column/scores", 87.5)]
    assert [said.partition("(")[2].partition(")")[0] for said in caplog.messages] == ["307", "500", "ZeroDivisionError"]
    assert "ada" not in caplog.text and "column" not in caplog.text


def test_an_answer_that_comes_too_slowly_is_none(monkeypatch: pytest.MonkeyPatch):
    def trickle(connection: socket.socket) -> None:
        with connection, suppress(OSError):  # once nobody reads any more
            connection.recv(10_000)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(1000):
                connection.sendall(b"{")
                time.sleep(0.02)

    monkeypatch.setattr(lti, "FETCH_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=lambda: trickle(server.accept()[0]), daemon=True)
        answering.start()
        with pytest.raises(TimeoutError):
            lti.fetch(f"http://127.0.0.1:{server.getsockname()[1]}/keys")
        answering.join()


def launch(state: str) -> asyncio.Task[Response]:
    """Send what a browser brings from a platform."""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": urlencode({"state": state, "id_token": "a.token"}).encode()}

    scope = {"type": "http", "method": "POST", "path": "/lti/launch", "query_string": b"", "headers": []}
    endpoint = next(route.endpoint for route in lti.ROUTES if route.path == scope["path"])
    return asyncio.create_task(endpoint(Request(scope, receive)))


def test_launches_from_a_slow_platform_wait_for_one_fetch_and_leave_a_class_its_threads(
    host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    course = Platform("http://localhost")
    host(lti_file=str(course.file(tmp_path)))
    tool = host_tool.__wrapped__()
    monkeypatch.setattr(lti, "host_tool", lambda: tool)
    (name,) = tool.by_name
    answers, fetched = threading.Event(), []

    def answer(address: str) -> bytes:
        fetched.append(address)
        answers.wait(20)
        if len(fetched) == 1:
            raise TimeoutError
        return course.get("/keys", {})[1].encode()

    async def start() -> list[Response]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
        waiting = [launch(tool.seal("state", name, str(number))) for number in range(12)]
        await asyncio.sleep(0.1)
        await asyncio.wait_for(asyncio.to_thread(lambda: None), 5)  # as a class reads its room
        answers.set()
        sent = [*await asyncio.gather(*waiting), await launch(tool.seal("state", name, "late"))]
        monkeypatch.setattr(lti, "FAILURE_SECONDS", -1)
        return [*sent, await launch(tool.seal("state", name, "again"))]

    monkeypatch.setattr(lti, "fetch", answer)
    try:
        *silent, again = run_apart(start())
    finally:
        answers.set()
    assert {sent.status_code for sent in (*silent, again)} == {400}
    assert all(texts.PLATFORM_SILENT in sent.body.decode() for sent in silent) and len(silent) == 13
    assert texts.LAUNCH_INVALID in again.body.decode() and len(fetched) == 2


def test_a_ticket_opens_one_browser_once_which_may_run_again_before_its_address_has_changed(
    host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_app
):
    host(lti_file=str(Platform("http://localhost").file(tmp_path)), rooms_file=str(tmp_path / "rooms.sqlite"))
    tool = host_tool.__wrapped__()
    monkeypatch.setattr(lti, "host_tool", lambda: tool)
    host_rooms.cache_clear()
    rooms = host_rooms()
    room, _ = rooms.open(write_lesson(shipped_lesson(shipped_names()[0])), 1)
    ticket = tool.seal("ticket", "room", room.code, rooms.join(room.code), "one")
    asked = {"room": room.code, "launch": ticket}
    first = open_app("classroom", **asked)
    for name, value in asked.items():
        first.query_params[name] = value
    first.run()
    for app, is_open in ((first, True), (open_app("classroom", **asked), False)):
        assert not app.exception
        assert (
            any(texts.LAUNCH_IS_OVER in one.value for one in (*app.markdown, *app.text, *app.error, *app.warning)) is not is_open
        )
    rooms.dispose()
    host_rooms.cache_clear()
