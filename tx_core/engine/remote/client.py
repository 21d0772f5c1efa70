"""The engine of a model that computes elsewhere, in a Ray Serve application: begin with `remote_engine`.

It needs no package of Ray: it sends a message over HTTP for every run.
"""

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from cachetools import LRUCache, cached

from tx_core.engine.engine import Engine, ModelInfo
from tx_core.engine.remote.messages import BACKPRESSURE, FAILURE_HEADER, Request, read_message, write_message
from tx_core.engine.threads import BUSY, patience
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import Busy, ExplorerError, ModelUnavailable
from tx_core.settings import host_settings

NOT_REACHED = "The machines that run the models do not answer now. Try again in a minute."
"""For a page; the log of the server names the address."""
NOT_FOUND = "{address} answers, but serves no models."
FAILED = "The model server failed with {kind}; its log says where."
MAX_ENGINES = 16
ATTEMPTS = 3
PAUSE_SECONDS = 0.25
"""Before the second attempt; twice as long before the third."""
CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 300.0
"""How long a computation may take, waiting for a slot not counted."""


def _remote_method(method: str) -> Callable[..., Any]:
    """Return a method of `Engine` that has it computed elsewhere: it sends its arguments by their names."""
    signature = inspect.signature(getattr(Engine, method))

    def ask_for(engine: "RemoteEngine", *given: Any, **named: Any) -> Any:
        arguments = signature.bind(engine, *given, **named).arguments
        return engine._ask(method, **{name: value for name, value in arguments.items() if name != "self"})

    return ask_for


@dataclass(frozen=True)
class RemoteEngine(Engine):
    """An engine that computes nothing itself: it reads texts with the model's own tokenizer, and asks for all else.

    The measure of `over_weights` must be a record that can be called: ValueError for a function.
    """

    name: str
    title: str
    device: str
    info: ModelInfo
    tokenizer: Tokenizer
    bfloat16: bool

    def _ask(self, method: str, **arguments: Any) -> Any:
        return ask(self.name, method, special_tokens=self.tokenizer.special_tokens, **arguments)

    trace = _remote_method("trace")
    blank_logits = _remote_method("blank_logits")
    vectors = _remote_method("vectors")
    over_weights = _remote_method("over_weights")
    output_projection = _remote_method("output_projection")
    early_scores = _remote_method("early_scores")
    embed = _remote_method("embed")
    gradients = _remote_method("gradients")


@cached(LRUCache(MAX_ENGINES), lock=Lock())
def remote_engine(model: str) -> RemoteEngine:
    """Return the engine of a model that runs elsewhere, asking once what it is.

    Raises what loading it there raises, and ModelUnavailable where nobody answers.
    """
    description = ask(model, "describe")
    return RemoteEngine(**description | {"tokenizer": Tokenizer.from_json(description["tokenizer"])})


def ask(model: str, method: str, *, special_tokens: bool = True, **arguments: Any) -> Any:
    """Ask for one computation; repeat it where what computed it died: nothing that is asked leaves anything behind.

    Raises the error that the computation raised, Busy while too many others wait, and ModelUnavailable where nobody answers.
    """
    seconds, background = patience()
    message = write_message(Request(method, model, special_tokens, arguments, seconds, background))
    problem = ""
    for attempt in range(ATTEMPTS):
        time.sleep(PAUSE_SECONDS * attempt)
        for address in host_settings().ray_address.split():
            try:
                status, failure, answer = _post(address, message, seconds + ANSWER_SECONDS)
            except (OSError, HTTPException) as broken:
                problem = f"{address}: {broken}"
                continue
            if status == 200:
                return _value(answer)
            if status == BACKPRESSURE:
                raise Busy(BUSY)
            if failure:  # of our own code: it would fail again
                raise RuntimeError(FAILED.format(kind=failure))
            problem = NOT_FOUND.format(address=address) if status == 404 else f"{address}: HTTP {status}"
    raise ModelUnavailable(NOT_REACHED) from ConnectionError(problem)


def _post(address: str, message: bytes, seconds: float) -> tuple[int, str, bytes]:
    """Send a message; give the status of the answer, the kind of a failure that has a name, and the answer."""
    parts = urlsplit(address)
    connection_class = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connection_class(parts.hostname, parts.port, timeout=CONNECT_SECONDS)
    try:
        connection.connect()
        connection.sock.settimeout(seconds)
        connection.request("POST", parts.path or "/", message, {"Content-Type": "application/octet-stream"})
        response = connection.getresponse()
        return response.status, response.getheader(FAILURE_HEADER, ""), response.read()
    except TimeoutError as late:
        if connection.sock is None:  # not connected: another address may be
            raise
        # It may be computing still: to ask again would make it slower.
        raise ModelUnavailable(NOT_REACHED) from TimeoutError(f"{address}: {late}")
    finally:
        connection.close()


def _value(answer: bytes) -> Any:
    value = read_message(answer)
    if isinstance(value, ExplorerError | ValueError):
        raise value
    return value
