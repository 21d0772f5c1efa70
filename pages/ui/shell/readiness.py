"""Load the default model in the background, and report its state to /api/ready and to the badge of every page.

This module must not import torch at its top: app.py imports it before the first page is sent.
"""

import gc
import logging
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

from tx_core.errors import ExplorerError

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
    """Loads one engine in a daemon thread and records the outcome in `status`."""

    def __init__(self, load: Callable[[], Status]):
        self.load = load
        self.status = Status("asleep")

    def start(self) -> threading.Thread:
        """Start loading, and return the thread so that a caller can join it."""
        self.status = Status("warming up")
        thread = threading.Thread(target=self.run, name="warmup", daemon=True)
        thread.start()
        return thread

    def run(self) -> None:
        """Load the engine, freeze the garbage collector and set `status`, to "failed" after any error.

        The message of an ExplorerError becomes the reason. Any other exception propagates, so that it is logged with
        its traceback, and visitors get a general sentence.
        """
        outcome = Status("failed", reason=LOAD_FAILED)
        try:
            outcome = self.load()
            gc.freeze()  # a collection first would hold the interpreter for 0.3 s, in which the first visitor waits
        except ExplorerError as error:
            logging.getLogger(__name__).exception("The default model could not be loaded")
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


default_engine = Warmup(load_default)
