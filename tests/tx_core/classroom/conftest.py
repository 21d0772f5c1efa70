"""Rooms in either database, empty at the beginning of each test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.postgres import postgres
from tx_core.classroom.room_database import TABLES, connect
from tx_core.classroom.rooms import Rooms
from tx_core.settings import Settings


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    with postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/rooms.sqlite"
    url = request.getfixturevalue("postgres_url")
    engine = connect(url)
    TABLES.drop_all(engine)
    engine.dispose()
    return url


@pytest.fixture
def open_rooms(database: str) -> Iterator[Callable[..., Rooms]]:
    opened: list[Rooms] = []

    def another(settings: Settings | None = None, **options: Callable[[], float]) -> Rooms:
        opened.append(Rooms(database, settings, **options))
        return opened[-1]

    yield another
    for rooms in opened:
        rooms.dispose()
