"""What the browser is sent of a run: labels and word groups in a JSON header, then weights, and thumbnails of a long run.

A short run goes whole with the page's answer. Of a longer one go thumbnails of all heads and the layers that are shown; the
rest follows by layer from an address that says what was run, signed, so that any server can compute it again.
"""

import base64
import hmac
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Self

import numpy as np
import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.canvas.packing import codes, thumbnails
from pages.ui.shell import cache as run_cache
from tx_core.analysis.views import word_groups
from tx_core.engine.threads import use_one_core
from tx_core.errors import ExplorerError, memory_checked
from tx_core.transformer.interventions import Head, Intervention, read_interventions, write_interventions
from tx_core.transformer.trace import AttentionStack, Encoding, Trace

PATH = "stage-run"
WHOLE_BYTES = 100_000
"""Up to so many bytes of weights, a run is sent whole with the page's answer."""
KEPT_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
NOT_KEPT = {"Cache-Control": "no-store"}


@dataclass(frozen=True)
class RunName:
    """What was run: enough for any server to run it again.

    Attributes:
        model, text, pair: the name of the model and the sentences.
        bare: whether it read them without special tokens.
        changes: the interventions of the run.
    """

    model: str
    text: str
    pair: str
    bare: bool
    changes: tuple[Intervention, ...] = ()

    def unchanged(self) -> Self:
        """Return the run without its interventions."""
        return type(self)(self.model, self.text, self.pair, self.bare)

    def signed(self) -> str:
        """Write the name for an address; only a server of this host can."""
        return sign([self.model, self.text, self.pair, int(self.bare), write_interventions(self.changes)])

    @classmethod
    def read(cls, name: str) -> Self:
        """Read a name; raise ValueError for one that was not signed here."""
        model, text, pair, bare, changes = read_signed(name)
        return cls(model, text, pair, bool(bare), read_interventions(changes))

    def run(self) -> Trace:
        """Run it, or return the cached run; raise ExplorerError where that cannot be."""
        with memory_checked():
            engine = run_cache.engine(self.model, special_tokens=not self.bare)
            return run_cache.trace_with(engine, self.text, self.pair, interventions=self.changes)


def sign(fields: Sequence[str | int]) -> str:
    """Write fields for an address; only a server of this host can."""
    written = base64.urlsafe_b64encode(json.dumps(fields, ensure_ascii=False).encode()).decode().rstrip("=")
    return f"{written}.{_signature(written)}"


def read_signed(name: str) -> list[str | int]:
    """Read what `sign` wrote; raise ValueError for anything else."""
    written, _, signature = name.partition(".")
    if not hmac.compare_digest(signature.encode(), _signature(written).encode()):
        raise ValueError("not a name of this server")
    return json.loads(base64.urlsafe_b64decode(written + "=" * (-len(written) % 4)))


@cache
def _secret() -> bytes:
    """Return the key of the signatures: servers that share their visitors share `server.cookieSecret` (HOSTING.md)."""
    return sha256(f"stage {st.get_option('server.cookieSecret')}".encode()).digest()


def _signature(written: str) -> str:
    return hmac.new(_secret(), written.encode(), "sha256").hexdigest()[:32]


def pack_runs(
    header: Mapping[str, object], name: RunName, trace: Trace, unchanged: Trace | None, shown: Collection[tuple[int, int]]
) -> bytes:
    """Pack a run, and the one without its changes, for a stage.

    header: what else the stage is told. shown: stacks and layers that are on the screen, sent first where not all are.
    """
    runs = {"run": (name, trace)} | ({"before": (name.unchanged(), unchanged)} if unchanged else {})
    size = sum(2 * stack.weights.size for _, run in runs.values() for stack in run.stacks)
    whole = size <= WHOLE_BYTES
    every = [(number, layer) for number, stack in enumerate(trace.stacks) for layer in range(len(stack.weights))]
    included = [place for place in every if whole or place in shown]
    described = {key: _describe(one, run, included, whole=whole) for key, (one, run) in runs.items()}
    cells = [codes(run.stacks[number].weights[layer]) for _, run in runs.values() for number, layer in included]
    small = [] if whole else [thumbnails(stack.weights) for stack in trace.stacks]
    stacks = [stack_header(stack) for stack in trace.stacks]
    told = {"before": None, **header, **described, "stacks": stacks, "whole": whole, "thumbnails": bool(small)}
    return join(told, [*(part.astype("<u2") for part in cells), *small])


def join(header: Mapping[str, object], parts: Sequence[np.ndarray]) -> bytes:
    """Return the header length (4 bytes, little endian), the header (JSON), and arrays."""
    words = json.dumps(header, separators=(",", ":")).encode()
    return b"".join([len(words).to_bytes(4, "little"), words, *(part.tobytes() for part in parts)])


def _describe(name: RunName, trace: Trace, included: list[tuple[int, int]], *, whole: bool) -> dict[str, object]:
    signed = name.signed()
    identity = sha256(f"{signed} {trace.device}".encode()).hexdigest()[:16]
    return {"id": identity, "path": "" if whole else f"{PATH}/{signed}", "included": included}


def stack_header(stack: AttentionStack) -> dict[str, object]:
    """Describe a stack for the browser: its sizes and the labels of both axes."""
    layers, heads = stack.weights.shape[:2]
    return {
        "kind": stack.kind,
        "layers": layers,
        "heads": heads,
        "queries": _axis(stack.query_tokens),
        "keys": _axis(stack.key_tokens),
    }


def _axis(encoding: Encoding) -> dict[str, object]:
    """Describe the tokens of an axis, and the words that they are pieces of."""
    groups = word_groups(encoding)
    numbers = [encoding.words[group[0]] for group in groups]
    words = [
        encoding.tokens[group[0]] if number is None else encoding.word_texts[number] or encoding.tokens[group[0]]
        for group, number in zip(groups, numbers, strict=True)
    ]
    return {
        "tokens": encoding.tokens,
        "special": [int(special) for special in encoding.special],
        "groups": groups,
        "words": words,
        "blanks": encoding.blanks,
    }


def shown_layers(trace: Trace, kind: str, heads: Collection[Head]) -> list[tuple[int, int]]:
    """Return the layers of the chosen heads, each with the number of its stack."""
    number = next((number for number, stack in enumerate(trace.stacks) if stack.kind == kind), 0)
    layers = len(trace.stacks[number].weights)
    return sorted({(number, layer if layer < layers else 0) for layer, _ in heads})


def send_layer(request: Request) -> Response:
    """Send one layer of a run that this host has named: 404 for another name, 503 where it cannot be run now."""
    try:
        name = RunName.read(request.path_params["name"])
        number, layer = int(request.query_params["stack"]), int(request.query_params["layer"])
    except (KeyError, ValueError):
        return Response(None, 404, NOT_KEPT)
    use_one_core()
    try:
        stacks = name.run().stacks
    except ExplorerError:
        return Response(None, 503, NOT_KEPT)
    if not (0 <= number < len(stacks) and 0 <= layer < len(stacks[number].weights)):
        return Response(None, 404, NOT_KEPT)
    cells = codes(stacks[number].weights[layer]).astype("<u2").tobytes()
    return Response(cells, 200, KEPT_FOREVER, "application/octet-stream")


ROUTE = Route(f"/{PATH}/{{name}}", send_layer)
