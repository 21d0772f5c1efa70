"""Models that compute elsewhere: an engine whose answers come from a Ray Serve application, and what travels in between.

Begin with `remote_engine`: with TX_ENGINE=ray the catalogue gives such engines; `ray_serve` answers them. This side needs no
package of Ray. It sends requests over HTTP; both sides write frozen records and arrays with pickle, and of what comes over
the wire only the few names that `_Reader` knows are looked up, so that a forged message runs nothing.
"""

import dataclasses
import io
import pickle
import struct
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from importlib import import_module
from threading import Lock
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np
from cachetools import LRUCache, cached
from jaxtyping import Float

from tx_core.engine.engine import BlankLogits, Engine, ModelInfo, Result, ScoreGradients, WeightMeasure, read_text
from tx_core.engine.threads import BUSY, patience
from tx_core.engine.tokenizer import Tokenizer
from tx_core.errors import Busy, ExplorerError, ModelUnavailable
from tx_core.settings import host_settings
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import Encoding, Trace

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
BACKPRESSURE, FAILURE_HEADER = 429, "X-Failure"
_ALIGNMENT = 64
_FRAME = struct.Struct("<Q")

METHODS = ("trace", "blank_logits", "over_weights", "output_projection", "early_scores", "embed", "gradients")
"""The methods of an engine that can be asked for; "describe" and "missing" are asked of the other side itself."""


@dataclass(frozen=True)
class Request:
    """What one side asks the other.

    Attributes:
        method: One of METHODS, or "describe" for the `ModelDescription`, or "missing" for models that cannot be had there.
        model: The name of the model.
        special_tokens: Whether it reads texts with the model's special tokens.
        arguments: Of the method.
        seconds: How long to wait for a compute slot.
        background: Whether it is long work that no page waits for.
    """

    method: str
    model: str
    special_tokens: bool
    arguments: dict[str, Any]
    seconds: float
    background: bool


@dataclass(frozen=True)
class ModelDescription:
    """What an engine tells of itself before it computes."""

    title: str
    device: str
    info: ModelInfo
    tokenizer: Tokenizer
    bfloat16: bool


@dataclass(frozen=True)
class RemoteEngine:
    """An engine that computes nothing itself: it reads texts with the model's own tokenizer, and asks for all else."""

    name: str
    title: str
    device: str
    info: ModelInfo
    tokenizer: Tokenizer
    bfloat16: bool

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """Read the text; raise TextProblem when it is empty or too long for the model."""
        return read_text(self.tokenizer, self.info, text, pair)

    def trace(
        self,
        text: str,
        pair: str | None = None,
        *,
        keep: Collection[str] = ("weights",),
        interventions: Sequence[Intervention] = (),
    ) -> Trace:
        """Have the model run once and keep the parts asked for (`trace.ALL_PARTS`)."""
        return self._ask("trace", text=text, pair=pair, keep=frozenset(keep), interventions=tuple(interventions))

    def blank_logits(self, rows: Sequence[Encoding], *, interventions: Sequence[Sequence[Intervention]] = ()) -> BlankLogits:
        """Have the whole vocabulary scored at every blank of every row, in one batch."""
        return self._ask("blank_logits", rows=list(rows), interventions=[tuple(row) for row in interventions])

    def over_weights(self, rows: Sequence[Encoding], measure: WeightMeasure, *, half: bool = False) -> Result:
        """Have the rows run, and give what `measure` makes of their weights where they are computed.

        measure: a record that can be called. Raises ValueError for a function.
        """
        return self._ask("over_weights", rows=list(rows), measure=measure, half=half)

    def output_projection(self, layer: int) -> Float[np.ndarray, "head head_dim hidden"]:
        """Ask for each head's part of a layer's output projection."""
        return self._ask("output_projection", layer=layer)

    def early_scores(
        self, states: Float[np.ndarray, "layer_and_embeddings hidden"]
    ) -> Float[np.ndarray, "layer_and_embeddings vocab"]:
        """Have the model's head read one token's vectors of a run."""
        return self._ask("early_scores", states=states)

    def embed(self, ids: Sequence[int]) -> Float[np.ndarray, "token embedding"]:
        """Ask for word vectors, before positions and segments are added."""
        return self._ask("embed", ids=list(ids))

    def gradients(
        self, encoding: Encoding, inputs_embeds: Float[np.ndarray, "step token embedding"], position: int, word: int
    ) -> ScoreGradients:
        """Have a log-probability differentiated with respect to word vectors."""
        return self._ask("gradients", encoding=encoding, inputs_embeds=inputs_embeds, position=position, word=word)

    def _ask(self, method: str, **arguments: Any) -> Any:
        return ask(self.name, method, special_tokens=self.tokenizer.special_tokens, **arguments)


@cached(LRUCache(MAX_ENGINES), lock=Lock())
def remote_engine(model: str) -> RemoteEngine:
    """Return the engine of a model that runs elsewhere, asking once what it is.

    Raises what loading it there raises, and ModelUnavailable where nobody answers.
    """
    told = ask(model, "describe")
    return RemoteEngine(model, told.title, told.device, told.info, told.tokenizer, told.bfloat16)


def describe(engine: Engine) -> ModelDescription:
    """Describe an engine of this process to another."""
    return ModelDescription(engine.title, engine.device, engine.info, engine.tokenizer, engine.bfloat16)


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


def write_message(value: object) -> bytes:
    """Write records and arrays as bytes; raise ValueError for anything that `read_message` would not read."""
    pieces: list[memoryview] = []
    head = io.BytesIO()
    _Writer(head, protocol=5, buffer_callback=lambda buffer: pieces.append(buffer.raw())).dump(value)
    pieces.insert(0, head.getbuffer())
    sizes = [len(pieces), *map(len, pieces)]
    parts = [_padded(b"".join(map(_FRAME.pack, sizes))), *map(_padded, pieces)]
    return b"".join(parts)


def read_message(message: bytes) -> Any:
    """Read what `write_message` wrote. Arrays are views of the message, hence read-only.

    Raises ValueError for a message that holds anything else than records and arrays, or is cut off.
    """
    view = memoryview(message)
    try:
        (count,) = _FRAME.unpack_from(view)
        sizes = struct.unpack_from(f"<{count}Q", view, _FRAME.size)
        start, pieces = _aligned(_FRAME.size * (count + 1)), []
        for size in sizes:
            pieces.append(view[start : start + size])
            start = _aligned(start + size)
        return _Reader(io.BytesIO(pieces[0]), buffers=pieces[1:]).load()
    except Exception as damaged:  # whatever a forged message can raise
        raise ValueError("the message is damaged or holds something else than records and arrays") from damaged


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def _padded(piece: bytes | memoryview) -> bytes:
    return b"".join([piece, b"\0" * (_aligned(len(piece)) - len(piece))])


_PARTS_OF_RECORDS = {
    ("builtins", "ValueError"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}
_FILLED = (np.ndarray, np.dtype, ValueError)
"""What a message fills after it has made it, beside records."""
_CALLED = (type, FunctionType, BuiltinFunctionType)


class _Writer(pickle.Pickler):
    """Refuses functions, and so whatever is made by one: a tensor, too."""

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, _CALLED) and not isinstance(value, type) and _name(value) not in _PARTS_OF_RECORDS:
            raise ValueError(f"only records and arrays can be sent, got {value!r}")
        return NotImplemented


class _Reader(pickle._Unpickler):
    """Looks up frozen records and errors of the core, and the few names that arrays need; nothing else, ever.

    Python's own reader and not that in C, which would also change a class or a function that it found, for the whole process:
    here only what a message made itself is filled, and only what makes records and arrays is called. Arrays are not read byte by
    byte: they are views of the message.
    """

    dispatch: ClassVar = dict(pickle._Unpickler.dispatch)

    def find_class(self, module: str, name: str) -> Any:
        known = (module, name) in _PARTS_OF_RECORDS
        if not known and not (module.startswith("tx_core.") and name.isidentifier()):
            raise pickle.UnpicklingError(f"{module}.{name} is no record")
        found = getattr(import_module(module), name)
        if not known and not _is_record(found, module):
            raise pickle.UnpicklingError(f"{module}.{name} is no record")
        return found

    def get_extension(self, code: int) -> None:
        raise pickle.UnpicklingError("no message has extensions")

    def _instantiate(self, klass: object, args: object) -> None:
        raise pickle.UnpicklingError("no message has instances as they were written before protocol 2")

    def load_build(self) -> None:
        target = self.stack[-2]
        if not (_is_record(type(target), type(target).__module__) or isinstance(target, _FILLED)):
            raise pickle.UnpicklingError(f"a {type(target).__name__} is not to be changed")
        super().load_build()

    def load_reduce(self) -> None:
        function = self.stack[-2]
        is_error = isinstance(function, type) and issubclass(function, ExplorerError)
        if not is_error and (not isinstance(function, _CALLED) or _name(function) not in _PARTS_OF_RECORDS):
            raise pickle.UnpicklingError("only what makes records and arrays is called")
        super().load_reduce()

    def load_newobj(self) -> None:
        if not isinstance(self.stack[-2], type):
            raise pickle.UnpicklingError("only a record can be new")
        super().load_newobj()

    def load_newobj_ex(self) -> None:
        raise pickle.UnpicklingError("no message has instances with named arguments")

    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.NEWOBJ_EX[0]] = load_newobj_ex


def _name(value: Callable) -> tuple[str, str]:
    return getattr(value, "__module__", ""), getattr(value, "__qualname__", "")


def _is_record(found: object, module: str) -> bool:
    if not isinstance(found, type) or found.__module__ != module:
        return False
    return dataclasses.is_dataclass(found) or issubclass(found, ExplorerError | Tokenizer)
