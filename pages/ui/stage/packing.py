"""What the browser is sent of a run: labels and word groups in a JSON header, then weights, and thumbnails of a long run.

A short run goes whole with the page's answer. Of a longer one go thumbnails of all heads and the layers that are shown; the
rest follows by layer from an address that says what was run, signed, so that any server can compute it again.
"""

import base64
import hmac
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import Self

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.shell import cache as run_cache
from tx_core.analysis.packing import describe_run, every_layer, join, layer_codes, stack_header, thumbnails
from tx_core.engine.engine import Engine
from tx_core.errors import ExplorerError, ModelUnavailable, memory_checked
from tx_core.transformer.interventions import Head, Intervention, read_interventions, write_interventions
from tx_core.transformer.trace import Trace

PATH = "stage-run"
WHOLE_BYTES = 100_000
"""Up to so many bytes of weights, a run is sent whole with the page's answer."""
MOMENTS_BYTES = 400_000
"""Of a model in training, so many bytes of weights are sent at most, beside those of the last moment."""
KEPT_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
NOT_KEPT = {"Cache-Control": "no-store"}
RANDOM_WEIGHTS_NEED_BERT = "Random weights are available for BERT models only here: choose a BERT, or the trained weights."


@dataclass(frozen=True)
class RunName:
    """What was run: enough for any server to run it again.

    model, text, pair: the name of the model and the sentences. bare: whether it read them without special tokens. seed: 0 for
    the model as it was trained, else the seed of its random weights. written: tokens that the model wrote behind the text.
    """

    model: str
    text: str
    pair: str
    bare: bool
    changes: tuple[Intervention, ...] = ()
    seed: int = 0
    written: tuple[int, ...] = ()

    def unchanged(self) -> Self:
        """Return the run without its interventions."""
        return replace(self, changes=())

    def signed(self) -> str:
        """Write the name for an address; only a server of this host can."""
        return sign(
            [self.model, self.text, self.pair, int(self.bare), write_interventions(self.changes), self.seed, *self.written]
        )

    @classmethod
    def read(cls, name: str) -> Self:
        """Read a name; raise ValueError for one that was not signed here."""
        model, text, pair, bare, changes, seed, *written = read_signed(name)
        return cls(model, text, pair, bool(bare), read_interventions(changes), seed, tuple(written))

    def run(self, keep: Collection[str] = ("weights",)) -> Trace:
        """Run it, or return the cached run; raise ExplorerError where that cannot be. keep: as of `Engine.trace`."""
        with memory_checked():
            engine = run_cache.engine(self.model, special_tokens=not self.bare, weights=bool(self.seed))
            if not self.seed:
                return run_cache.trace_with(
                    engine, self.text, self.pair, keep=keep, interventions=self.changes, written=self.written
                )
            key = ("untrained", run_cache.engine_key(engine), frozenset(keep), self)
            return run_cache.get_or_compute(key, lambda: self._run_untrained(engine, keep))

    def _run_untrained(self, trained: Engine, keep: Collection[str]) -> Trace:
        """Run it with random weights; only our own models can be given any."""
        # Imported here: they import torch, which only this run needs.
        from tx_core.engine.bert_engine import OwnEngine
        from tx_core.lessons.untrained import untrained_engine

        if not isinstance(trained, OwnEngine) or trained.info.predicts_next:
            raise ModelUnavailable(RANDOM_WEIGHTS_NEED_BERT)
        engine = untrained_engine(trained, self.seed)
        return engine.trace(self.text, self.pair or None, keep=keep, interventions=self.changes)


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
    whole = sum(2 * stack.weights.size for _, run in runs.values() for stack in run.stacks) <= WHOLE_BYTES
    included = [place for place in every_layer(trace.stacks) if whole or place in shown]
    told = {key: _named(*run, included, whole=whole) for key, run in runs.items()}
    small = [] if whole else [thumbnails(stack.weights) for stack in trace.stacks]
    cells = [part for _, run in runs.values() for part in layer_codes(run.stacks, included)]
    told |= {"stacks": [stack_header(stack) for stack in trace.stacks], "whole": whole, "thumbnails": bool(small)}
    return join({"before": None, **header, **told}, [*cells, *small])


def pack_sides(
    header: Mapping[str, object], runs: Mapping[str, tuple[RunName, Trace]], shown: Mapping[str, Collection[int]]
) -> bytes:
    """Pack two runs of different texts or models, "before" and "run", each with its first attention only.

    shown: layers that are on the screen, of each run. What both share is sent once.
    """
    whole = sum(2 * trace.attention.weights.size for _, trace in runs.values()) <= WHOLE_BYTES
    stacks = {key: [stack_header(trace.attention)] for key, (_, trace) in runs.items()}
    told: dict[str, object] = {"stacks": stacks["before"], "whole": whole, "thumbnails": False}
    sent: set[tuple[RunName, int]] = set()
    cells = []
    for key in ("run", "before"):
        name, trace = runs[key]
        layers = [layer for layer in range(len(trace.attention.weights)) if whole or layer in shown[key]]
        included = [(0, layer) for layer in layers if (name, layer) not in sent]
        sent |= {(name, layer) for layer in layers}
        told[key] = _named(name, trace, included, whole=whole) | (
            {"stacks": stacks[key]} if stacks[key] != stacks["before"] else {}
        )
        cells += layer_codes(trace.stacks, included)
    return join({**header, **told}, cells)


def pack_moments(header: Mapping[str, object], moments: Sequence[tuple[Mapping[str, object], Trace]]) -> bytes:
    """Pack runs of a model at moments of its training, each with what else is told of it.

    All go whole with the answer, since no server can compute them again; of many large ones, some, the last one always.
    """
    size = 2 * max(sum(stack.weights.size for stack in trace.stacks) for _, trace in moments)
    step = -(-size * len(moments) // MOMENTS_BYTES)
    described, cells, axes = [], [], {}
    for about, trace in [*moments[:-1:step], moments[-1]]:
        parts = layer_codes(trace.stacks, every_layer(trace.stacks))
        stacks = [stack_header(stack) for stack in trace.stacks]
        for stack in stacks:  # most moments have the same axes
            stack |= {name: axes.setdefault(json.dumps(stack[name]), len(axes)) for name in ("queries", "keys")}
        identity = b"".join(part.tobytes() for part in parts)
        described.append({**about, **describe_run(identity, every_layer(trace.stacks)), "stacks": stacks})
        cells += parts
    told = {"run": {}, "before": None, "stacks": [], "moments": described, "axes": [json.loads(axis) for axis in axes]}
    return join({**header, **told, "whole": True, "thumbnails": False}, cells)


def _named(name: RunName, trace: Trace, included: Sequence[tuple[int, int]], *, whole: bool) -> dict[str, object]:
    """Describe a run of which a browser may ask for the layers that do not go along."""
    signed = name.signed()
    return describe_run(f"{signed} {trace.device}".encode(), included) | {"path": "" if whole else f"{PATH}/{signed}"}


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
    try:
        stacks = name.run().stacks
    except ExplorerError:
        return Response(None, 503, NOT_KEPT)
    if not (0 <= number < len(stacks) and 0 <= layer < len(stacks[number].weights)):
        return Response(None, 404, NOT_KEPT)
    cells = layer_codes(stacks, [(number, layer)])[0].tobytes()
    return Response(cells, 200, KEPT_FOREVER, "application/octet-stream")


ROUTE = Route(f"/{PATH}/{{name}}", send_layer)
