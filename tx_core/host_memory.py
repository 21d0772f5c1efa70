"""The memory that this process may use: that of the machine, or the lower limit of its container or service."""

import math
import os
from collections.abc import Iterator
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def host_megabytes(groups: Path = CONTROL_GROUPS, own_groups: Path = OWN_GROUPS) -> float:
    """Return the minimum of the machine's memory and the limits of Linux's control groups; infinity if both are unknown."""
    known = "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else math.inf
    return min([machine, *_limits(groups, own_groups)]) / 1e6


def _limits(groups: Path, own_groups: Path) -> Iterator[int]:
    """Yield the limits that are set for this process's group and the groups around it, in either version of control groups."""
    try:
        lines = own_groups.read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        number, kinds, path = line.split(":", 2)
        if number == "0":
            root, name = groups, "memory.max"
        elif "memory" in kinds.split(","):
            root, name = groups / "memory", "memory.limit_in_bytes"
        else:
            continue
        own = root / path.lstrip("/")
        for group in [own, *own.parents]:
            if group.is_relative_to(root):  # in a container, the path may be the host's, and only the root is there
                yield from _limit(group / name)


def _limit(file: Path) -> Iterator[int]:
    try:
        written = file.read_text(encoding="utf-8").strip()
    except OSError:
        return
    if written.isdecimal():  # "max" is no limit
        yield int(written)
