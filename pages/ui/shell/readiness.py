"""Is the default model loaded yet? Asked by /api/ready and by the badge of every page, without waiting."""

import gc
import logging
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

from tx_core.errors import ExplorerError

FIRST_SENTENCE = "The cat sat on the mat."


@dataclass(frozen=True)
class Status:
    """What can be said about the default model at this moment."""

    state: Literal["asleep", "warming up", "ready", "failed"]
    model: str = ""
    device: str = ""
    reason: str = ""

    def as_dict(self) -> dict[str, str]:
        """Give the parts that are known, for an answer in JSON."""
        return {name: value for name, value in asdict(self).items() if value}


class Warmup:
    """Loads one engine in a daemon thread and remembers how that went."""

    def __init__(self, load: Callable[[], Status]):
        self.load = load
        self.status = Status("asleep")

    def start(self) -> threading.Thread:
        """Begin loading; the thread is handed back for a caller who wants to wait."""
        self.status = Status("warming up")
        thread = threading.Thread(target=self.run, name="warmup", daemon=True)
        thread.start()
        return thread

    def run(self) -> None:
        """Load, then settle the garbage collector; whatever goes wrong, the status ends up saying so.

        An error that nobody foresaw goes on to the log with its traceback; visitors get one sentence.
        """
        outcome = Status("failed", reason="The default model could not be loaded; the server's log says why.")
        try:
            outcome = self.load()
            settle()
        except ExplorerError as error:
            logging.getLogger(__name__).exception("The default model could not be loaded")
            outcome = Status("failed", reason=str(error))
        finally:
            self.status = outcome


def settle() -> None:
    """Take everything now in memory out of garbage collection; call it after a heavy import or model load.

    Streamlit collects garbage in full after every script run: 226 ms with torch loaded, holding up every visitor.
    """
    gc.collect()
    gc.freeze()


def load_default() -> Status:
    """Load the default model and let it read one sentence, so that a visitor's first one is already fast."""
    from tx_core.engine import catalogue

    engine = catalogue.load(catalogue.DEFAULT)
    engine.trace(FIRST_SENTENCE, None)
    return Status("ready", model=engine.title, device=engine.device)


default_engine = Warmup(load_default)
