"""Where rooms are kept when a host says nothing, which is nobody else's place; what is said of a file that is gone, and of a
server that does not answer."""

import os
import re
import signal
import socket
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from tx_core.classroom import room_database
from tx_core.classroom.room_database import FORMER, NO_DATABASE, NOT_THERE, ROOMS_FAILED, connect, default_file, log_failure
from tx_core.classroom.rooms import Rooms
from tx_core.errors import RoomProblem

LESSON = "title: A lesson"


def test_without_a_home_the_rooms_are_in_a_temporary_folder_of_this_user_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = default_file().parent
    assert folder.parent == tmp_path and folder.stat().st_mode & 0o777 == 0o700


def test_rooms_of_an_older_version_end_and_tables_of_others_stay(database: str):
    engine = connect(database)
    for names in ((), FORMER):
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            for name in {"students", *names}:
                connection.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {name} (id INTEGER)")
        Rooms(database).dispose()
        with engine.connect() as connection:
            assert ("students" in inspect(connection).get_table_names()) is (not names)
    engine.dispose()


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    log_failure.cache_clear()
    return lambda: [record.getMessage() for record in caplog.records if record.name == log_failure.__module__]


def test_a_file_that_vanishes_while_the_server_runs_is_noticed(tmp_path: Path, logged: Callable[[], list[str]]):
    path, elsewhere = tmp_path / "rooms.sqlite", tmp_path / "elsewhere"
    rooms = Rooms(f"sqlite:///{path}")
    room, teacher = rooms.open(LESSON, 1)
    student = rooms.join(room.code)
    elsewhere.mkdir()
    for part in tmp_path.glob("rooms.sqlite*"):
        part.rename(elsewhere / part.name)
    for request in (lambda: rooms.answer(student, 1, "went"), lambda: rooms.of_teacher(teacher), rooms.sweep):
        with pytest.raises(RoomProblem, match=re.escape(NO_DATABASE)):
            request()
    assert logged() == [ROOMS_FAILED % (f"sqlite:///{path}", NOT_THERE)]
    assert list(tmp_path.iterdir()) == [elsewhere]  # no empty file in its place
    for part in elsewhere.iterdir():
        part.rename(tmp_path / part.name)
    assert rooms.answer(student, 1, "went") == "went"
    rooms.dispose()


def within(seconds: float, act: Callable[[], object]) -> object:
    """Return what a call gives, or raise what it raises; TimeoutError where it does not end in time."""
    thread = ThreadPoolExecutor(1)
    try:
        return thread.submit(act).result(seconds)
    finally:
        thread.shutdown(wait=False)


def test_a_server_that_takes_connections_and_says_nothing_is_told_of_soon_and_then_at_once(
    monkeypatch: pytest.MonkeyPatch, logged: Callable[[], list[str]]
):
    monkeypatch.setattr(room_database, "CONNECT_SECONDS", 2)  # psycopg takes no less
    with socket.create_server(("127.0.0.1", 0)) as silent:
        engine = connect(f"postgresql://rooms@127.0.0.1:{silent.getsockname()[1]}/rooms")

        def ask() -> None:
            with room_database.explained_failures(engine), engine.connect():
                pytest.fail("a connection to nothing")

        for seconds in (8, 0.5):
            with pytest.raises(RoomProblem, match=re.escape(NO_DATABASE)):
                within(seconds, ask)
    assert len(logged()) == 1 and "timeout" in logged()[0]


@pytest.mark.ci
def test_a_statement_that_hangs_is_given_up_and_asked_again(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(room_database, "STATEMENT_SECONDS", 1)
    engine = connect(postgres_url)

    def ask() -> int:
        with room_database.explained_failures(engine), engine.connect() as connection:
            return connection.scalar(text("select pg_backend_pid()"))

    hanging = ask()
    os.kill(hanging, signal.SIGSTOP)
    try:
        assert within(10, ask) != hanging
    finally:
        os.kill(hanging, signal.SIGCONT)
    with pytest.raises(RoomProblem), room_database.explained_failures(engine), engine.connect() as connection:
        connection.execute(text("select pg_sleep(3)"))
    engine.dispose()
