"""Where rooms are kept when a host says nothing, which is nobody else's place; and what is said of a file that is gone."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import inspect

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
