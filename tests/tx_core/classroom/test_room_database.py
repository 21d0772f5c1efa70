"""Where rooms are kept when a host says nothing, which is nobody else's place; what is said of a file that is damaged;
and what a server hears of changes."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import inspect

from tests.support.serving import wait_until
from tx_core.classroom.room_database import (
    FORMER,
    NO_DATABASE,
    NOT_THERE,
    ROOMS_FAILED,
    connect,
    default_file,
    listen,
    log_failure,
)
from tx_core.classroom.rooms import Rooms
from tx_core.errors import RoomProblem

LESSON = "title: A lesson"


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The temporary directory of a host where no home can be written."""
    blocked = tmp_path / "file"
    blocked.touch()
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(blocked))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_without_a_home_the_rooms_of_a_day_before_are_found_again(temporary: Path):
    first = default_file()
    assert first.parent.parent == temporary and str(os.getuid()) in first.parent.name
    assert first.parent.stat().st_mode & 0o777 == 0o700
    assert default_file() == first


PREPARE: dict[str, Callable[[Path], object]] = {
    "a file": lambda folder: folder.touch(),
    "a link": lambda folder: folder.symlink_to(folder.parent, target_is_directory=True),
    "open to others": lambda folder: folder.mkdir() or folder.chmod(0o777),
}


@pytest.mark.parametrize("name", PREPARE)
def test_a_folder_that_others_may_have_made_is_not_used(temporary: Path, name: str):
    usual = temporary / f"attention-explorer-{os.getuid()}"
    PREPARE[name](usual)
    found = default_file().parent
    assert found != usual and found.parent == temporary and found.stat().st_mode & 0o777 == 0o700


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
    """What is logged of failures from now on, each once."""
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


SPOIL: dict[str, Callable[[Path], object]] = {
    "file is not a database": lambda path: path.write_bytes(b"no database at all" * 400),
    "unable to open database file": lambda path: path.mkdir(),
    NOT_THERE: lambda path: path.parent.rmdir(),
}


@pytest.mark.parametrize("cause", SPOIL)
def test_a_file_that_cannot_be_used_is_logged_in_one_line_with_its_cause(
    tmp_path: Path, logged: Callable[[], list[str]], cause: str
):
    path = tmp_path / "state" / "rooms.sqlite"
    path.parent.mkdir()
    SPOIL[cause](path)
    for _ in range(3):
        with pytest.raises(RoomProblem, match=re.escape(NO_DATABASE)):
            Rooms(f"sqlite:///{path}")
    assert logged() == [ROOMS_FAILED % (f"sqlite:///{path}", cause)]


def test_a_server_that_begins_to_listen_to_the_database_reads_every_room_again(postgres_url: str):
    rooms, heard, stopped = Rooms(postgres_url), [], Event()
    listener = listen(rooms.engine, heard.append, stopped)
    wait_until(lambda: heard, 120, "the beginning")
    room, _ = rooms.open(LESSON, 4)
    rooms.join(room.code)
    wait_until(lambda: len(heard) > 1, 120, "a change")
    stopped.set()
    listener.join()
    rooms.dispose()
    assert heard[0] is None and set(heard[1:]) == {room.id}
