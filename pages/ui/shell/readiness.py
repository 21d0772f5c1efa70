"""The default model is loaded beside the pages; its state is what /api/ready and the badge of every page report.

This module must not import torch at its top: app.py imports it before the first page is sent.
"""

import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

from tx_core.errors import Attempt, Busy, ExplorerError
from tx_core.settings import host_settings

RETRY_SECONDS = 5.0
WARMUP_SENTENCE = "The cat sat on the mat."
NOTICE_SECONDS, CLOSING_SECONDS = 2.0, 1.5
"""How long a server that ends still serves, in which a proxy notices; how long connections may then take to close."""
LOAD_FAILED = "The default model could not be loaded. The server's log says why."


@dataclass(frozen=True)
class Status:
    """The state of the default model. model, device: known once it is ready. reason: why loading failed. notice: why the CPU
    computes although there is a graphics card.
    """

    state: Literal["asleep", "warming up", "ready", "failed", "ending"]
    model: str = ""
    device: str = ""
    reason: str = ""
    notice: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return the fields that are set, for a JSON response."""
        return {name: value for name, value in asdict(self).items() if value}


ENDING = Status("ending")
"""What a server says that was told to end."""
_ending = threading.Event()


class Warmup:
    """Loads one engine in a daemon thread and records the outcome in `status`.

    watches: returns whether to load again every RETRY_SECONDS: a failed model may have recovered, and a ready one may be gone.
    """

    def __init__(self, load: Callable[[], Status], watches: Callable[[], bool] = lambda: False):
        self.load, self.watches = load, watches
        self.status = Status("asleep")
        self._logged = ""

    def start(self) -> threading.Thread:
        """Start loading, and return the thread so that a caller can join it."""
        self.status = Status("warming up")
        thread = threading.Thread(target=self.run, name="warmup", daemon=True)
        thread.start()
        return thread

    def run(self) -> None:
        """Try to load the engine; start a polling thread where the outcome may change.

        Garbage collection is off meanwhile: imported objects stay, and collecting takes a quarter of an import's time.
        """
        gc.disable()
        try:
            self.attempt()
        finally:
            gc.enable()
        if self.watches():
            threading.Thread(target=self.watch, name="model-watch", daemon=True).start()

    def watch(self) -> None:
        """Load again every RETRY_SECONDS while `watches` returns true."""
        while self.watches():
            time.sleep(RETRY_SECONDS)
            self.attempt()

    def attempt(self) -> None:
        """Load the engine and set `status`, to "failed" after any error; one that answered and is only busy stays "ready"."""
        loading = Attempt()
        with loading:
            outcome = self.load()
            if self.status.state != "ready":
                gc.freeze()  # a collection first would hold the interpreter for 0.3 s, in which the first visitor waits
            self.status, self._logged = outcome, ""
        problem = loading.problem
        if problem is not None and not (isinstance(problem, Busy) and self.status.state == "ready"):
            self._log(problem)
            self.status = Status("failed", reason=str(problem) if isinstance(problem, ExplorerError) else LOAD_FAILED)

    def _log(self, problem: Exception) -> None:
        """Write one line for an ExplorerError, the traceback of anything else; once, however often it happens."""
        if (text := f"{type(problem).__name__}: {problem}") == self._logged:
            return
        self._logged = text
        unexpected = None if isinstance(problem, ExplorerError) else problem
        words = "The default model could not be loaded: %s (%s)"
        logging.getLogger(__name__).error(words, problem, problem.__cause__, exc_info=unexpected)


def load_default() -> Status:
    """Load the default model and run it once, so that a visitor's first run is fast."""
    # Imported here: app.py imports this module before it serves anything.
    from tx_core.engine import catalogue
    from tx_core.engine.threads import one_core

    engine = catalogue.load(catalogue.DEFAULT)
    with one_core():
        engine.trace(WARMUP_SENTENCE, None)
    catalogue.hub_reach.out_of_reach()  # asks in the background, before a visitor opens the list of models
    return Status("ready", model=engine.title, device=engine.device, notice="" if models_may_come() else _unused_card())


def _unused_card() -> str:
    # Imported here: it imports torch, which the model has brought by now.
    from tx_core.engine.device import unused_card

    return unused_card()


def state() -> Status:
    """Return the state of the default model, or that the server is shutting down."""
    return ENDING if _ending.is_set() else default_engine.status


def end_at_sigterm(end_streams: Callable[[], None]) -> None:
    """Shut down after SIGTERM: answer 503, so that a proxy sends nobody here, and stop the server NOTICE_SECONDS later.

    Call it once the server has set its own handler. Nothing is done where that is not one that can be called later, or outside
    the main thread. end_streams: ends the answers that would go on for ever, for which the server would wait.
    """
    usual = signal.getsignal(signal.SIGTERM)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        return

    def end(number: int, frame: object) -> None:
        time.sleep(NOTICE_SECONDS)
        end_streams()
        usual(number, frame)
        time.sleep(CLOSING_SECONDS)
        os._exit(128 + number)  # a connection that never closes would keep the process alive

    def begin_or_end(number: int, frame: object) -> None:
        if _ending.is_set():
            usual(number, frame)
        else:
            _ending.set()
            threading.Thread(target=end, args=[number, frame], name="end", daemon=True).start()

    signal.signal(signal.SIGTERM, begin_or_end)


def models_may_come() -> bool:
    """Return whether the default model runs on other machines, which may become reachable later."""
    return host_settings().engine == "ray"


default_engine = Warmup(load_default, models_may_come)


def is_awaited() -> bool:
    """Return whether this process is still loading the default model."""
    return default_engine.status.state == "warming up" and not models_may_come()
