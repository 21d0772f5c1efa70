"""Sentences for the reader on how a result came about, such as on another device than usual: from the engine to the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

_thread = local()


def add_notice(sentence: str) -> None:
    """Report a notice to whoever collects those of this thread, once for each sentence; "" for none."""
    collected = getattr(_thread, "collected", None)
    if sentence and collected is not None and sentence not in collected:
        collected.append(sentence)


@contextmanager
def collected_notices() -> Iterator[list[str]]:
    """Collect the notices that this thread gives within the block; whoever collects around it gets them, too."""
    outer, own = getattr(_thread, "collected", None), []
    _thread.collected = own
    try:
        yield own
    finally:
        _thread.collected = outer
        for sentence in own:
            add_notice(sentence)
