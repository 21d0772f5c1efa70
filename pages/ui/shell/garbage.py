"""Collect cyclic garbage by a timer, not after every run of a page.

Streamlit collects in full after each run: with a model loaded that blocks every visitor for 30 to 80 ms.
`runner.postScriptGC` turns that off; what is in memory once a model is loaded is left out of every collection.
"""

import ctypes
import gc
import sys
import threading

SECONDS_BETWEEN = 20.0
"""From one collection to the next."""


def freeze() -> None:
    """Exclude all objects now in memory from collections. Call it after a heavy import or model load, whose files it frees."""
    gc.collect()
    gc.freeze()
    return_memory()


def return_memory() -> None:
    """Return free memory to the system: by default, glibc keeps free memory below a block in use."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim:
        trim(0)


def start_collecting() -> threading.Event:
    """Collect regularly in a daemon thread. Set the event that comes back to stop it."""
    stop = threading.Event()

    def collect() -> None:
        while not stop.wait(SECONDS_BETWEEN):
            gc.collect()
            return_memory()

    threading.Thread(target=collect, name="garbage", daemon=True).start()
    return stop
