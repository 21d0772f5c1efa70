"""The database of rooms: its tables, its connections, and notification of changes between servers."""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import quote

import psycopg
from cachetools import TTLCache, cached
from sqlalchemy import (
    JSON,
    URL,
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    func,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, TimeoutError
from sqlalchemy.pool import NullPool

from tx_core.errors import RoomProblem
from tx_core.settings import state_folder

CODE_LETTERS = 6
MAX_NICKNAME_CHARACTERS = 30
CHANNEL = "classroom"
"""The channel of PostgreSQL's notifications."""
BUSY_SECONDS = 10
"""Time that a writer to SQLite waits for another process."""
CONNECT_SECONDS, STATEMENT_SECONDS, SPARE_SECONDS, FREE_SECONDS = 3, 5, 1, 3
"""Limits for PostgreSQL: until a connection is open, until a statement has its answer, for how much longer a server is waited for
that does not keep to that, and until a connection of the pool is free."""
RECONNECT_SECONDS = 2.0
LOG_AGAIN_SECONDS = 600
"""The interval at which a persistent failure of the database is logged."""
NO_DATABASE = (
    "The rooms of this server cannot be used just now, and what is sent now is not kept. Try again in a moment. If it stays so, "
    "tell whoever runs the server: its log names the cause."
)
ROOMS_FAILED = "The rooms cannot be used. Where they are kept: %s. The cause: %s."
NOT_THERE = "the file is not there; if it was there before, it was deleted or moved while the server runs"
LOCKS = {"tables": 17, "rooms": 18}
"""PostgreSQL's advisory locks: of making the tables, of counting the rooms."""

TABLES = MetaData()
ROOMS = Table(
    "classrooms",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("code", String(CODE_LETTERS), unique=True, nullable=False),
    Column("teacher", String(64), unique=True, nullable=False),
    Column("source", Text, nullable=False),
    Column("state", JSON, nullable=False),
    Column("opened", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    sqlite_autoincrement=True,  # the id of a deleted room is never reused
)
"""The rooms: the hash of the teacher's token, the lesson's file, and what a teacher changes, by the fields of `rooms.Room`."""
STUDENTS = Table(
    "members",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("room", Integer, ForeignKey("classrooms.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("token", String(64), unique=True, nullable=False),
    Column("nickname", String(MAX_NICKNAME_CHARACTERS), nullable=False),
    Column("step", Integer, nullable=False),
    sqlite_autoincrement=True,
)
ENTRIES = Table(
    "entries",
    TABLES,
    Column("student", Integer, ForeignKey("members.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("step", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(10), primary_key=True),
    Column("room", Integer, nullable=False, index=True),
    Column("text", Text, nullable=False),
)
"""What students sent: a guess, the first vote of a step that the class discussed, or a sentence."""
LAUNCHES = Table(
    "launches",
    TABLES,
    Column("student", Integer, primary_key=True, autoincrement=False),
    Column("room", Integer, nullable=False, index=True),
    Column("platform", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("lineitem", Text, nullable=False),
    Column("share", Float),
    Column("due", Integer),
    Column("tries", Integer, nullable=False),
)
"""Where the grade of a student goes who came from a learning platform, from when on (NULL: not yet); outlives the room."""
NONCES = Table("nonces", TABLES, Column("nonce", String(64), primary_key=True), Column("until", Integer, nullable=False))
"""Of launches, each of which counts once."""
FORMER = ("answers", "first_votes", "sentences", "locked", "alone", "discussed", "hidden_words", "revealed", "students", "rooms")
"""Tables of older versions, dropped at the start: their rooms, which last a day at most, end with the update."""


def default_file() -> Path:
    """Return the default file of the rooms."""
    return state_folder() / "rooms.sqlite"


def connect(url: str | URL) -> Engine:
    """Open the database at a SQLAlchemy URL: a file of SQLite, or PostgreSQL."""
    address = make_url(url)
    if address.get_backend_name() == "postgresql":
        return connect_shared(address.set(drivername="postgresql+psycopg"))
    # A connection for each transaction takes up to a millisecond, and notices a file that was deleted or replaced meanwhile.
    engine = create_engine(address, creator=file_opener(address.database), poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def set_up(connection: object, _record: object) -> None:
        connection.isolation_level = None  # disables the transactions of sqlite3; see `begin` below
        # With WAL, commits survive a crash of the process also under NORMAL; a power cut can lose the last ones.
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer locks before it reads: upgrading a read transaction fails at once instead of waiting.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")

    return engine


class BoundedConnection(psycopg.Connection):
    """A connection that is closed where no answer comes in time: a server that hangs keeps to no limit of its own."""

    def wait(self, *work: Any, timeout: float | None = None) -> Any:
        """Wait for an answer. Raises OperationalError."""
        try:
            return super().wait(*work, timeout=STATEMENT_SECONDS + SPARE_SECONDS if timeout is None else timeout)
        except psycopg.OperationalError as problem:
            if problem.sqlstate is None:  # else the server has said why
                self.close()
            raise


def connect_shared(address: URL) -> Engine:
    """Open PostgreSQL. After a server did not answer it is left alone for a moment, so that not everybody waits for it."""
    limits = {"pool_timeout": FREE_SECONDS, "connect_args": {"connect_timeout": CONNECT_SECONDS}}
    engine = create_engine(address, pool_pre_ping=True, pool_size=8, max_overflow=8, **limits)
    failures: TTLCache[str, str] = TTLCache(1, RECONNECT_SECONDS)

    @event.listens_for(engine, "do_connect")
    def open_connection(_dialect: object, _record: object, names: tuple[str, ...], options: dict[str, Any]) -> BoundedConnection:
        if said := failures.get("last"):
            raise psycopg.OperationalError(said)
        try:
            return BoundedConnection.connect(*names, **options)
        except psycopg.OperationalError as problem:
            failures["last"] = str(problem)
            raise

    @event.listens_for(engine, "connect")
    def limit(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
        connection.commit()

    return engine


def file_opener(path: str) -> Callable[[], sqlite3.Connection]:
    """Return a function that connects to a SQLite file. Only the first connection may create it; later ones fail without it."""
    modes = chain(["rwc"], repeat("rw"))

    def open_file() -> sqlite3.Connection:
        address = f"file:{quote(path)}?mode={next(modes)}"
        return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)

    return open_file


def make_tables(connection: Connection) -> None:
    """Create the tables, and drop those of older versions; of two servers that start at the same time, one does."""
    take_lock(connection, "tables")
    if {"rooms", "students", "answers", "sentences", "revealed"} <= set(inspect(connection).get_table_names()):  # all are ours
        for name in FORMER:
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")
    TABLES.create_all(connection)


@contextmanager
def explained_failures(engine: Engine) -> Iterator[None]:
    """Raise RoomProblem and log the cause if the database fails within; IntegrityError passes through."""
    try:
        yield
    except IntegrityError:
        raise
    except (DBAPIError, TimeoutError) as problem:
        log_failure(engine.url.render_as_string(), failure_cause(engine, problem))
        raise RoomProblem(NO_DATABASE) from None


def failure_cause(engine: Engine, problem: DBAPIError | TimeoutError) -> str:
    """Return one line for the log on why the database failed, without visitors' texts."""
    if not is_shared(engine) and engine.url.database and not Path(engine.url.database).exists():
        return NOT_THERE
    if isinstance(problem, DataError):  # its message quotes the value
        return "a value of a wrong type"
    said = str(problem.orig if isinstance(problem, DBAPIError) else problem).strip()
    return said.partition("\n")[0].rstrip(".") or type(problem).__name__


@cached(TTLCache(16, LOG_AGAIN_SECONDS), lock=Lock())
def log_failure(place: str, cause: str) -> None:
    """Log why the rooms cannot be used, at most once in LOG_AGAIN_SECONDS: a class sends many requests a second."""
    logging.getLogger(__name__).error(ROOMS_FAILED, place, cause)


def empty_log(engine: Engine) -> None:
    """Truncate SQLite's write-ahead log, which still holds deleted rows while another connection is open."""
    if not is_shared(engine):
        autocommit = engine.execution_options(isolation_level="AUTOCOMMIT")
        with explained_failures(engine), autocommit.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def is_shared(engine: Engine) -> bool:
    """Return whether several servers may use the database."""
    return engine.dialect.name == "postgresql"


def take_lock(connection: Connection, name: str) -> None:
    """Hold an advisory lock across servers until the transaction ends; SQLite has a single writer anyway."""
    if is_shared(connection.engine):
        connection.execute(select(func.pg_advisory_xact_lock(LOCKS[name])))


def notify(connection: Connection, room: int) -> None:
    """Notify the other servers of a change of a room once the transaction is committed."""
    if is_shared(connection.engine):
        connection.execute(select(func.pg_notify(CHANNEL, str(room))))


def listen(engine: Engine, changed: Callable[[int | None], None], stopped: Event) -> Thread:
    """Call `changed` with the id of every room that any server changes, in a thread, until `stopped` is set.

    After every (re)connection it is called with None, because changes before that were missed.
    """
    address = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def run() -> None:
        while not stopped.is_set():
            try:
                with psycopg.connect(address, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    changed(None)
                    while not stopped.is_set():
                        for notification in connection.notifies(timeout=1):
                            changed(int(notification.payload))
            except psycopg.Error:  # the database is unreachable
                stopped.wait(RECONNECT_SECONDS)

    thread = Thread(target=run, name="rooms", daemon=True)
    thread.start()
    return thread
