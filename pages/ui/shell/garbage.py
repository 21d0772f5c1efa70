"""Cyclic garbage is collected between the runs of pages.

Streamlit would collect in full after every run of a script, which holds the interpreter for 30 to 80 ms with a model loaded and
blocks every visitor. `runner.postScriptGC` is off, and a thread of this module collects instead, in quiet moments.
"""

import ctypes
import gc
import sys
import threading
import time
from collections.abc import Callable

from streamlit.runtime import Runtime, RuntimeState

SECONDS_BETWEEN = 20.0
"""From one collection to the next."""
QUIET_SECONDS, QUIET_SHARE = 0.1, 0.3
"""A moment is quiet if the process used less than this share of one core for this long."""
MAX_QUIET_WAIT_SECONDS = 20.0


def freeze() -> None:
    """Exempt all objects now in memory from collection. Call it after a heavy import or model load."""
    gc.collect()
    gc.freeze()


def collect_garbage(nobody_is_here: bool) -> None:
    """Collect garbage: what has come since the last freeze, or everything, and freeze anew, while nobody would wait for it."""
    if nobody_is_here:
        gc.unfreeze()
        freeze()
    else:
        gc.collect()


def return_memory() -> None:
    """Return free memory to the system; glibc keeps what lies below something that is in use, by default."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim:
        trim(0)


def wait_for_quiet(stop: threading.Event) -> None:
    """Return once the process is nearly idle, after MAX_QUIET_WAIT_SECONDS at the latest, or when told to stop."""
    end = time.monotonic() + MAX_QUIET_WAIT_SECONDS
    while time.monotonic() < end:
        used = time.process_time()
        if stop.wait(QUIET_SECONDS) or time.process_time() - used < QUIET_SHARE * QUIET_SECONDS:
            return


def nobody_is_connected() -> bool:
    """Tell whether the server has no visitor at the moment."""
    return Runtime.instance().state == RuntimeState.NO_SESSIONS_CONNECTED


def collect_regularly(stop: threading.Event, nobody_is_here: Callable[[], bool] = nobody_is_connected) -> None:
    """Collect every SECONDS_BETWEEN seconds, each time in the first quiet moment, until told to stop."""
    while not stop.wait(SECONDS_BETWEEN):
        wait_for_quiet(stop)
        collect_garbage(nobody_is_here())
        return_memory()


def start_collecting() -> threading.Event:
    """Start collecting in a daemon thread. Set the event that comes back to stop it."""
    stop = threading.Event()
    threading.Thread(target=collect_regularly, args=[stop], name="garbage", daemon=True).start()
    return stop
