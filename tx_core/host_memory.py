"""The memory that this process may use: that of the machine, or the lower limit of its container or service."""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

CONTROL_GROUPS = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")


def host_megabytes(groups: Path = CONTROL_GROUPS, own_group: Path = OWN_GROUP) -> float:
    """Return the minimum of the machine's memory and the limits of Linux's control groups; infinity if both are unknown."""
    known = "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {})
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else math.inf
    return min([machine, *_limits(groups, own_group)]) / 1e6


def _limits(groups: Path, own_group: Path) -> Iterator[int]:
    """Yield the limits that are set for this process's group and the groups around it."""
    with suppress(OSError):  # not Linux
        own = groups / own_group.read_text(encoding="utf-8").rpartition("::")[2].strip().lstrip("/")
        for group in (own, *own.parents):
            with suppress(OSError, ValueError):  # in a container, the path may be the host's; "max" is no limit
                if group.is_relative_to(groups):
                    yield int((group / "memory.max").read_text(encoding="utf-8"))
