"""A PostgreSQL of a test's own: in a folder and on a port of its own, from Debian's packages, and gone afterwards."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.serving import free_port, wait_until

PLACES = ("/usr/lib/postgresql", "/usr/local/lib/postgresql")
MISSING = "PostgreSQL is not installed: the rooms of several servers are not tested (on Debian: apt-get install postgresql)"
SETTINGS = ("fsync=off", "listen_addresses=127.0.0.1", "max_connections=60")


def find_programs() -> Path | None:
    """Find the folder of initdb and postgres: on the search path, or the newest of Debian's."""
    found = [Path(shutil.which("initdb")).resolve().parent] if shutil.which("initdb") else []
    found += sorted((path for place in PLACES for path in Path(place).glob("*/bin")), key=lambda path: int(path.parent.name))
    return next((folder for folder in reversed(found) if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def run_as() -> dict[str, object]:
    """Choose the user to run as: PostgreSQL refuses to be run by root."""
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.name == "posix" and os.geteuid() == 0 else {}


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server and give the address of its database; skip the test where none is installed."""
    programs = find_programs()
    if programs is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    folder, port, options = Path(tempfile.mkdtemp(prefix="rooms-")), free_port(), run_as()
    if options:
        shutil.chown(folder, options["user"], options["group"])
    data = str(folder / "data")
    make = [str(programs / "initdb"), "-D", data, "-U", "rooms", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"]
    subprocess.run(make, check=True, capture_output=True, cwd=folder, **options)
    settings = [part for setting in (*SETTINGS, f"unix_socket_directories={folder}") for part in ("-c", setting)]
    command = [str(programs / "postgres"), "-D", data, "-p", str(port), *settings]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **options)
    try:
        wait_until(lambda: b"ready to accept connections" in (folder / "log").read_bytes(), 120, "a PostgreSQL that answers")
        yield f"postgresql://rooms@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(folder)
