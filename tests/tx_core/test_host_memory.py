"""The memory that a process may use is the least of the machine's and the limits around it."""

import os
from pathlib import Path

import pytest

from tx_core.host_memory import host_megabytes


@pytest.fixture
def limited(tmp_path: Path):
    """Write control groups: limited("0::/a/b", {"a/memory.max": "5"}) gives the arguments of `host_megabytes`."""

    def write(own: str, files: dict[str, str]) -> tuple[Path, Path]:
        (tmp_path / "own").write_text(f"{own}\n", encoding="utf-8")
        for name, content in files.items():
            (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "groups" / name).write_text(f"{content}\n", encoding="utf-8")
        return tmp_path / "groups", tmp_path / "own"

    return write


@pytest.mark.parametrize(
    ("own", "files", "megabytes"),
    [
        ("0::/", {"memory.max": "50000000"}, 50),
        ("0::/app/server", {"app/memory.max": "30000000", "app/server/memory.max": "max"}, 30),
        ("0::/app/server", {"app/memory.max": "30000000", "app/server/memory.max": "20000000"}, 20),
        ("0::/a/path/of/the/host", {"memory.max": "40000000"}, 40),
    ],
)
def test_the_least_limit_around_the_process_counts(limited, own: str, files: dict[str, str], megabytes: int):
    assert host_megabytes(*limited(own, files)) == megabytes


@pytest.mark.parametrize("limit", ["max", "9223372036854771712"])
def test_without_a_limit_it_is_what_the_machine_has(limited, limit: str):
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e6
    assert host_megabytes(*limited("0::/", {"memory.max": limit})) == machine
    assert host_megabytes(Path("/nowhere"), Path("/nowhere/cgroup")) == machine
