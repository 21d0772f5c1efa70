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

import numpy as np
import streamlit as st
from jaxtyping import Float32, UInt8, UInt16
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.shell import cache as run_cache
from tx_core.analysis.views import word_groups
from tx_core.engine.engine import Engine
from tx_core.errors import ExplorerError, ModelUnavailable, memory_checked
from tx_core.transformer.interventions import Head, Intervention, read_interventions, write_interventions
from tx_core.transformer.trace import AttentionStack, Encoding, Trace

WIDEST_THUMBNAIL = 24
LARGEST_CODE = 65535


def codes(weights: Float32[np.ndarray, "query key"]) -> UInt16[np.ndarray, "query key"]:
    """Return the square root of each weight as a whole number, so that small weights keep their digits.

    A decoded weight is at most 3.1e-5 away and prints the same three decimals as the tensor's own value.
    Weights are taken as 0 to 1; rounding errors beyond are cut off. Raises ValueError for NaN.
    """
    exact = _checked(weights).astype(np.float64)
    code = np.rint(np.sqrt(exact) * LARGEST_CODE)
    printed = np.rint((code / LARGEST_CODE) ** 2 * 1000)
    code += np.sign(np.rint(exact * 1000) - printed)  # at most one step: across a rounding border
    return code.astype(np.uint16)


def thumbnails(
    weights: Float32[np.ndarray, "layer head query key"],
) -> UInt8[np.ndarray, "layer head row column"]:
    """Shrink every head's map to at most 24 × 24 cells; each shows the strongest weight it stands for.

    The strongest, not the mean: a diagonal stays visible however long the sentence. Cells hold the square root, 0 to 255.
    """
    strongest = _strongest(_strongest(_checked(weights), axis=2), axis=3)
    return np.rint(np.sqrt(strongest) * 255).astype(np.uint8)


def _checked(weights: np.ndarray) -> np.ndarray:
    if np.isnan(weights.sum(dtype=np.float64)):
        raise ValueError("attention weights must be numbers, got NaN")
    return np.clip(weights, 0, 1)


def _strongest(weights: np.ndarray, axis: int) -> np.ndarray:
    size = weights.shape[axis]
    if size <= WIDEST_THUMBNAIL:
        return weights
    starts = np.arange(WIDEST_THUMBNAIL) * size // WIDEST_THUMBNAIL
    return np.maximum.reduceat(weights, starts, axis=axis)


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

    Attributes:
        model, text, pair: the name of the model and the sentences.
        bare: whether it read them without special tokens.
        changes: the interventions of the run.
        seed: 0 for the model as it was trained, else the seed of its random weights.
        written: tokens that the model wrote behind the text.
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
    size = sum(2 * stack.weights.size for _, run in runs.values() for stack in run.stacks)
    whole = size <= WHOLE_BYTES
    every = [(number, layer) for number, stack in enumerate(trace.stacks) for layer in range(len(stack.weights))]
    included = [place for place in every if whole or place in shown]
    described, cells = _describe_runs(runs, {key: included for key in runs}, whole=whole)
    small = [] if whole else [thumbnails(stack.weights) for stack in trace.stacks]
    stacks = [stack_header(stack) for stack in trace.stacks]
    told = {"before": None, **header, **described, "stacks": stacks, "whole": whole, "thumbnails": bool(small)}
    return join(told, [*cells, *small])


def pack_sides(
    header: Mapping[str, object], runs: Mapping[str, tuple[RunName, Trace]], shown: Mapping[str, Collection[int]]
) -> bytes:
    """Pack two runs of different texts or models, "before" and "run", each with its first attention only.

    shown: layers that are on the screen, of each run. What both share is sent once.
    """
    firsts = {key: (runs[key][0], replace(runs[key][1], stacks=(runs[key][1].attention,))) for key in ("run", "before")}
    whole = sum(2 * trace.attention.weights.size for _, trace in firsts.values()) <= WHOLE_BYTES
    included: dict[str, list[tuple[int, int]]] = {"run": [], "before": []}
    for key in included:
        layers = range(len(firsts[key][1].attention.weights))
        sent = included["run"] if key == "before" and firsts["run"][0] == firsts["before"][0] else []
        included[key] = [(0, layer) for layer in layers if (whole or layer in shown[key]) and (0, layer) not in sent]
    described, cells = _describe_runs(firsts, included, whole=whole)
    stacks = {key: [stack_header(trace.attention)] for key, (_, trace) in firsts.items()}
    if stacks["run"] != stacks["before"]:
        described["run"]["stacks"] = stacks["run"]
    return join({**header, **described, "stacks": stacks["before"], "whole": whole, "thumbnails": False}, cells)


def _describe_runs(
    runs: Mapping[str, tuple[RunName, Trace]], included: Mapping[str, Sequence[tuple[int, int]]], *, whole: bool
) -> tuple[dict[str, dict[str, object]], list[np.ndarray]]:
    """Describe runs for the browser; return that with the codes of the layers that go along, in the order of reading."""
    described = {key: _describe(name, run, included[key], whole=whole) for key, (name, run) in runs.items()}
    sent = [runs[key][1].stacks[number].weights[layer] for key in runs for number, layer in included[key]]
    return described, [codes(weights).astype("<u2") for weights in sent]


def pack_moments(header: Mapping[str, object], moments: Sequence[tuple[Mapping[str, object], Trace]]) -> bytes:
    """Pack runs of a model at moments of its training, each with what else is told of it.

    All go whole with the answer, since no server can compute them again; of many large ones, some, the last one always.
    """
    size = 2 * max(sum(stack.weights.size for stack in trace.stacks) for _, trace in moments)
    step = -(-size * len(moments) // MOMENTS_BYTES)
    described, cells, axes = [], [], {}
    for about, trace in [*moments[:-1:step], moments[-1]]:
        included = [(number, layer) for number, stack in enumerate(trace.stacks) for layer in range(len(stack.weights))]
        parts = [codes(trace.stacks[number].weights[layer]).astype("<u2") for number, layer in included]
        identity = sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]
        stacks = [stack_header(stack) for stack in trace.stacks]
        for stack in stacks:  # most moments have the same axes
            stack |= {name: axes.setdefault(json.dumps(stack[name]), len(axes)) for name in ("queries", "keys")}
        described.append({**about, "id": identity, "path": "", "included": included, "stacks": stacks})
        cells += parts
    told = {
        **header,
        "run": {},
        "before": None,
        "stacks": [],
        "moments": described,
        "axes": [json.loads(axis) for axis in axes],
        "whole": True,
        "thumbnails": False,
    }
    return join(told, cells)


def pack_whole(header: Mapping[str, object], runs: Mapping[str, tuple[str, AttentionStack]]) -> bytes:
    """Pack runs of a text that no address names, whole. runs: "run", and "before" where there is one, each with an identity."""
    ((_, first), *_) = runs.values()
    included = [(0, layer) for layer in range(len(first.weights))]
    described = {
        key: {"id": sha256(identity.encode()).hexdigest()[:16], "path": "", "included": included}
        for key, (identity, _) in runs.items()
    }
    told = {"before": None, **header, **described, "stacks": [stack_header(first)], "whole": True, "thumbnails": False}
    return join(told, [codes(layer).astype("<u2") for _, stack in runs.values() for layer in stack.weights])


def join(header: Mapping[str, object], parts: Sequence[np.ndarray]) -> bytes:
    """Return the header length (4 bytes, little endian), the header (JSON), and arrays."""
    words = json.dumps(header, separators=(",", ":")).encode()
    return b"".join([len(words).to_bytes(4, "little"), words, *(part.tobytes() for part in parts)])


def _describe(name: RunName, trace: Trace, included: Sequence[tuple[int, int]], *, whole: bool) -> dict[str, object]:
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
    try:
        stacks = name.run().stacks
    except ExplorerError:
        return Response(None, 503, NOT_KEPT)
    if not (0 <= number < len(stacks) and 0 <= layer < len(stacks[number].weights)):
        return Response(None, 404, NOT_KEPT)
    cells = codes(stacks[number].weights[layer]).astype("<u2").tobytes()
    return Response(cells, 200, KEPT_FOREVER, "application/octet-stream")


ROUTE = Route(f"/{PATH}/{{name}}", send_layer)
