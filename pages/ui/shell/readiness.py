"""Load the default model in the background, and report its state to /api/ready and to the badge of every page.

This module must not import torch at its top: app.py imports it before the first page is sent.
"""

import gc
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

from tx_core.errors import ExplorerError
from tx_core.settings import host_settings

RETRY_SECONDS = 5.0
WARMUP_SENTENCE = "The cat sat on the mat."
LOAD_FAILED = "The default model could not be loaded. The server's log says why."


@dataclass(frozen=True)
class Status:
    """The state of the default model.

    Attributes:
        state: How far loading has come.
        model: Title of the model, once it is ready.
        device: The device that it runs on, once it is ready.
        reason: Why loading failed, as a sentence for visitors.
    """

    state: Literal["asleep", "warming up", "ready", "failed", "ending"]
    model: str = ""
    device: str = ""
    reason: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return the fields that are set, for a JSON response."""
        return {name: value for name, value in asdict(self).items() if value}


ENDING = Status("ending")
"""What a server says that was told to end."""


class Warmup:
    """Loads one engine in a daemon thread and records the outcome in `status`.

    tries_again: tells whether a failure is worth another attempt, until one succeeds.
    """

    def __init__(self, load: Callable[[], Status], tries_again: Callable[[], bool] = lambda: False):
        self.load, self.tries_again = load, tries_again
        self.status = Status("asleep")

    def start(self) -> threading.Thread:
        """Start loading, and return the thread so that a caller can join it."""
        self.status = Status("warming up")
        thread = threading.Thread(target=self.run, name="warmup", daemon=True)
        thread.start()
        return thread

    def run(self) -> None:
        """Attempt to load the engine, again and again where that may help."""
        self.attempt()
        while self.status.state == "failed" and self.tries_again():
            time.sleep(RETRY_SECONDS)
            self.attempt()

    def attempt(self) -> None:
        """Load the engine, freeze the garbage collector and set `status`, to "failed" after any error.

        The message of an ExplorerError becomes the reason, and one line of the log. Any other exception propagates, so that it
        is logged with its traceback, and visitors get a general sentence.
        """
        outcome = Status("failed", reason=LOAD_FAILED)
        try:
            outcome = self.load()
            gc.freeze()  # a collection first would hold the interpreter for 0.3 s, in which the first visitor waits
        except ExplorerError as error:
            if str(error) != self.status.reason:  # said once, however often it fails
                logging.getLogger(__name__).error("The default model could not be loaded: %s (%s)", error, error.__cause__)
            outcome = Status("failed", reason=str(error))
        finally:
            self.status = outcome


def load_default() -> Status:
    """Load the default model and run it once, so that a visitor's first run is fast."""
    # Imported here: it imports torch, which takes seconds, and app.py imports this module before it serves anything.
    from tx_core.engine import catalogue

    engine = catalogue.load(catalogue.DEFAULT)
    engine.trace(WARMUP_SENTENCE, None)
    catalogue.hub_reach.out_of_reach()  # asks in the background, before a visitor opens the list of models
    return Status("ready", model=engine.title, device=engine.device)


def models_may_come() -> bool:
    """Tell whether the default model runs on other machines, which may answer later."""
    return host_settings().engine == "ray"


default_engine = Warmup(load_default, models_may_come)
