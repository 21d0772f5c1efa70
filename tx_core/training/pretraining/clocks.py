"""How long a run takes, and when what it does now and then is due."""

import time


class Clocks:
    """Several alarms on one clock, which goes on from the seconds of earlier sittings."""

    def __init__(self, seconds: float):
        self._began = time.monotonic() - seconds
        self._last: dict[str, float] = {}
        self._start = time.monotonic()

    def total(self) -> float:
        """Tell the seconds of all sittings together."""
        return time.monotonic() - self._began

    def since(self, name: str) -> float:
        """Tell the seconds since this was last asked, and begin to count anew."""
        now = time.monotonic()
        passed = now - self._last.get(name, self._start)
        self._last[name] = now
        return max(passed, 1e-9)

    def due(self, name: str, every: float) -> bool:
        """Tell whether so many seconds have passed since this was last due, and then begin to count anew."""
        now = time.monotonic()
        if now - self._last.get(name, self._start) < every:
            return False
        self._last[name] = now
        return True
