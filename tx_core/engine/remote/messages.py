"""What travels between the app and the models in Ray: records in one line of JSON, and the bytes of their arrays after it.

    {"class": "ScoreGradients", "scores": {"class": "array", "dtype": "<f4", "shape": [20], "bytes": [0, 80]}, "gradients": …}

A record or an error has the name of its class, out of the tables below: of a message no other name is ever looked up, and
nothing is called but these classes, with the fields that the message gives. "class" is a word of Python's, which names no field
and no argument. Sequences are read as tuples, numbers of numpy as Python's.
"""

import json
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

import numpy as np

from tx_core.errors import Busy, ChangeProblem, CheckpointProblem, ExplorerError, ModelUnavailable, OutOfMemory, TextProblem

DAMAGED = "The message is damaged, or holds something else than records and arrays ({kind})."
METHODS = ("trace", "blank_logits", "vectors", "over_weights", "output_projection", "early_scores", "embed", "gradients")
"""The methods of an engine that can be asked for; "describe" and "missing" are asked of the other side itself."""
DESCRIPTION = ("name", "title", "device", "info", "bfloat16")
"""What is described of an engine, beside its tokenizer, which is as `Tokenizer.to_json` returns it."""
BACKPRESSURE, FAILURE_HEADER = 429, "X-Failure"
"""The status of an answer while the queue is full, and the header that names what the code of the other side failed with."""

_MODULES = {
    "Request": __name__,
    "ModelInfo": "tx_core.engine.engine",
    "ScoreGradients": "tx_core.engine.engine",
    "Encoding": "tx_core.transformer.trace",
    "AttentionStack": "tx_core.transformer.trace",
    "Trace": "tx_core.transformer.trace",
    "Intervention": "tx_core.transformer.interventions",
    "Vectors": "tx_core.transformer.interventions",
    # A `WeightMeasure` and its result: of a folder above this one, hence not imported at the top.
    "BatchTargets": "tx_core.corpus.batches",
    "BatchMeasures": "tx_core.corpus.batches",
}
"""Where the class of each record is."""
_ERRORS = {
    error.__name__: error
    for error in (Busy, ChangeProblem, CheckpointProblem, ModelUnavailable, OutOfMemory, TextProblem, ExplorerError, ValueError)
}
"""An error of another class is sent as the first of these that it is a kind of."""
_DTYPES = {np.dtype(code).str: np.dtype(code) for code in f"?efd{np.typecodes['AllInteger']}"}
_ALIGNMENT = 64


@dataclass(frozen=True)
class Request:
    """What one side asks the other.

    method: one of METHODS, or "describe" for DESCRIPTION, or "missing" for models that cannot be had there. seconds: how long to
    wait for a compute slot. background: whether it is long work that no page waits for.
    """

    method: str
    model: str
    special_tokens: bool
    arguments: dict[str, Any]
    seconds: float
    background: bool


def write_message(value: object) -> bytes:
    """Return records, arrays and plain values as bytes. Raises ValueError for anything that `read_message` would not read."""
    parts: list[bytes | np.ndarray] = [b""]
    size = 0

    def described(value: object) -> object:
        nonlocal size
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray) and value.dtype.str in _DTYPES:
            start = _aligned(size)
            parts.extend((bytes(start - size), np.ascontiguousarray(value)))
            size = start + value.nbytes
            return {"class": "array", "dtype": value.dtype.str, "shape": value.shape, "bytes": (start, size)}
        name = type(value).__name__
        for error_name, error in _ERRORS.items():
            if isinstance(value, error):
                return {"class": error_name, "words": str(value)}
        if _MODULES.get(name) == type(value).__module__:
            return {"class": name} | {field.name: getattr(value, field.name) for field in fields(value)}
        raise ValueError(f"only records of the table and arrays can be sent, got {name}")

    line = json.dumps(value, default=described).encode("ascii")
    parts[0] = line.ljust(_aligned(len(line) + 1) - 1) + b"\n"
    return b"".join(parts)


def read_message(message: bytes) -> Any:
    """Read what `write_message` wrote. Arrays are views of the message, hence read-only.

    Raises ValueError, which quotes nothing of it, for a message that holds anything else than records and arrays, or is cut off.
    """

    def made(description: dict[str, Any]) -> object:
        values = {name: _as_tuples(value) for name, value in description.items()}
        name = values.pop("class", None)
        if name is None:
            return values
        if name == "array":
            start, stop = values["bytes"]
            # Not np.ndarray(shape, dtype, buffer, offset): it does not check the offset, and would read other memory.
            return np.frombuffer(data[start:stop], _DTYPES[values["dtype"]]).reshape(values["shape"])
        if name in _ERRORS:
            return _ERRORS[name](values["words"])
        return getattr(import_module(_MODULES[name]), name)(**values)

    try:
        end = message.index(b"\n") + 1
        data = memoryview(message)[end:]
        return _as_tuples(json.loads(message[:end], object_hook=made))
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as problem:
        raise ValueError(DAMAGED.format(kind=type(problem).__name__)) from None


def _aligned(position: int) -> int:
    return -(-position // _ALIGNMENT) * _ALIGNMENT


def _as_tuples(value: object) -> object:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
