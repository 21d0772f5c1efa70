"""What a picture of routes shows of a prediction: each layer's guess so far, and arcs, by what the prediction loses without them.

The first page tells its stage the guesses with its answer; a view of another page asks for them here, when it is looked at. Arcs
take a run each and are asked for by token, of a large model by token and layer, once the rest is painted.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.ui.shell import cache
from pages.ui.shell.admission import Turns, counted_address
from pages.ui.stage.packing import KEPT_FOREVER, NOT_KEPT, RunName
from tx_core.analysis.probabilities import largest, probabilities
from tx_core.analysis.value_weighted import mixed_in
from tx_core.causal.cut_effects import CutEffects, cut_effects, head_effects, read_prediction
from tx_core.engine.engine import Engine
from tx_core.errors import ChangeProblem, ExplorerError, memory_checked

PATH = "stage-arcs"
TURNS = Turns(slots=2, most_waiting=2, patience=20.0)
"""Of requests that measure: each takes many runs. Whoever sends more than may wait asks again later."""
ASK_AGAIN = {"Retry-After": "1"}
MOST_LIKELY = 5
REQUEST_COST, UNASKED_COST = 2e10, 2e11
"""Multiplications of one request for arcs, and of all arcs into one token where these are measured without being asked for."""


def open_engine(name: RunName) -> Engine:
    """Return the engine of a run."""
    return cache.engine(name.model, special_tokens=not name.bare)


def read_word(engine: Engine, entry: int) -> str:
    """Return an entry of the vocabulary as a reader knows it."""
    return engine.tokenizer.readable(entry) or engine.tokenizer.word(entry)


def arcs_path(name: RunName, blank: int = 0) -> str:
    """Return where the routes of a run are asked for; only a server of this host can name one. blank: which of its blanks."""
    return f"{PATH}/{name.signed()}?blank={blank}"


def describe_routes(name: RunName, blank: int = 0) -> dict[str, object]:
    """Return what a picture of routes is told beside its arcs: tokens, the guesses of each layer, and the most likely words.

    Raises ExplorerError where the text has no such prediction, or the model no parts that are known.
    """
    engine = open_engine(name)
    encoding = read_prediction(engine, name.text, blank, name.written)
    shares, plain = (_layer_shares(one, blank) for one in (name, name.unchanged()))
    likely, was = largest(shares[-1], MOST_LIKELY).tolist(), int(plain[-1].argmax())
    found = likely if was in likely else [*likely[:-1], was]
    layers, tokens = engine.info.num_layers, len(encoding)
    cost = 12 * engine.info.hidden_size**2 * layers * tokens**2
    return {
        "tokens": encoding.tokens,
        "special": [int(special) for special in encoding.special],
        "place": encoding.blanks[0],
        "layers": layers,
        "next": engine.info.predicts_next,
        "word": read_word(engine, likely[0]),
        "probability": round(float(shares[-1, likely[0]]), 5),
        "guesses": _guesses(engine, shares),
        "plainGuesses": _guesses(engine, plain),
        "likely": [
            {
                "word": read_word(engine, entry),
                "before": float(plain[-1, entry].round(6)),
                "after": float(shares[-1, entry].round(6)),
            }
            for entry in found
        ],
        "atOnce": int(np.clip(REQUEST_COST // cost, 1, layers)),
        "asksAlone": cost * layers <= UNASKED_COST,
        "mixes": _mixes(engine),
    }


def _mixes(engine: Engine) -> bool:
    """Return whether it is known what a head mixes in: of our own BERT. The library runs some, too, with other activations."""
    return engine.info.family == "bert" and engine.info.is_own


def _layer_shares(name: RunName, blank: int) -> Float[np.ndarray, "layer_and_embeddings vocab"]:
    """Return the probabilities of the whole vocabulary after the embeddings and each layer (logit lens; nostalgebraist 2020)."""
    engine = open_engine(name)
    place = read_prediction(engine, name.text, blank, name.written).blanks[0]
    trace = cache.trace_with(engine, name.text, keep=("hidden",), interventions=name.changes, written=name.written)
    return probabilities(engine.early_scores(trace.hidden[:, place]))


def _guesses(engine: Engine, shares: Float[np.ndarray, "layer_and_embeddings vocab"]) -> list[list[list[object]]]:
    """List the most likely words of each layer with their probabilities."""
    best = largest(shares, MOST_LIKELY).tolist()
    return [
        [[read_word(engine, entry), round(float(row[entry]), 5)] for entry in entries]
        for entries, row in zip(best, shares, strict=True)
    ]


def arcs_into(name: RunName, blank: int, query: int, layers: range) -> dict[str, object]:
    """Return the arcs into one token in some layers, by layer and key, as the stage takes them. Raises as `cut_effects` does."""
    engine = open_engine(name)

    def measure() -> CutEffects:
        found = cut_effects(engine, name.text, queries=[query], layers=layers, **_arguments(name, blank))
        # Of the other tokens there is nothing to keep.
        rows = np.ix_(layers, [query])
        return replace(found, **{part: getattr(found, part)[rows] for part in ("effect", "after", "first")})

    found = cache.get_or_compute(("arcs", cache.engine_key(engine), name, blank, query, layers), measure)
    return {
        "query": query,
        "layers": list(layers),
        "effect": np.round(found.effect[:, 0], 4).tolist(),
        "after": np.round(found.after[:, 0], 5).tolist(),
        "first": [[read_word(engine, entry) for entry in row] for row in found.first[:, 0].tolist()],
    }


def reached_arcs(name: RunName, least: float) -> list[dict[str, object]]:
    """Return the arcs into the first blank, and into every token that an arc of at least that effect leads to, by token."""
    engine = open_engine(name)
    reached, found = [read_prediction(engine, name.text).blanks[0]], []
    for query in reached:
        found.append(arcs_into(name, 0, query, range(engine.info.num_layers)))
        strong = np.abs(found[-1]["effect"]).max(axis=0) >= least
        reached += [key for key in np.flatnonzero(strong).tolist() if key not in reached]
    return found


def _arguments(name: RunName, blank: int) -> dict[str, Any]:
    """Return what the measures of a run take beside its text."""
    return {"blank": blank, "interventions": name.changes, "written": name.written}


def _heads(name: RunName, blank: int, layer: int, arc: tuple[int, int] | None) -> dict[str, object]:
    """Return the effect of each head of a layer: of an arc (query, key) cut in it alone, or of switching it off."""
    engine, arguments = open_engine(name), _arguments(name, blank)
    return {"heads": np.round(cache.call(head_effects, engine, name.text, layer, arc, **arguments), 4).tolist()}


def _mixed(name: RunName) -> dict[str, object]:
    """Return each key's share of what enters a token in a layer."""
    engine = cache.engine(name.model, special_tokens=not name.bare, weights=True)

    def measure() -> Float[np.ndarray, "layer query key"]:
        trace = engine.trace(name.text, keep=("weights", "value", "hidden"), interventions=name.changes)
        mixed = mixed_in(engine, trace)
        return mixed / mixed.sum(axis=-1, keepdims=True)

    return {"mixed": cache.get_or_compute(("mixed in", cache.engine_key(engine), name), measure).round(4).tolist()}


def _answer(name: RunName, asked: QueryParams) -> dict[str, object]:
    """Return what a request asks for; raise ValueError for what no run has, and ExplorerError as the runs do."""
    numbers = {part: int(value) for part, value in asked.items() if part != "mixed"}
    blank, query, layer = numbers.pop("blank", 0), numbers.pop("query", None), numbers.pop("layer", None)
    if "mixed" in asked and not _mixes(open_engine(name)):
        raise ValueError("what is mixed in is known of our own BERT only")
    if "mixed" in asked:
        return _mixed(name)
    if layer is not None:
        if not 0 <= layer < open_engine(name).info.num_layers:
            raise ValueError(f"there is no layer {layer}")
        return _heads(name, blank, layer, None if query is None else (query, numbers["key"]))
    if query is None:
        return describe_routes(name, blank)
    layers = range(numbers.get("from", 0), numbers.get("to", open_engine(name).info.num_layers))
    return arcs_into(name, blank, query, layers)


async def send_arcs(request: Request) -> Response:
    """Send the guesses of a run, arcs into one token, the heads of an arc or a layer, or what is mixed in.

    404 for what no page has named, 503 where it cannot be computed now, with Retry-After where others have to be answered first.
    """
    try:
        name = RunName.read(request.path_params["name"])
    except ValueError:
        return Response(None, 404, NOT_KEPT)
    async with TURNS.turn(counted_address(request.client.host if request.client else "local")) as has_come:
        if not has_come:
            return Response(None, 503, NOT_KEPT | ASK_AGAIN)
        try:
            return JSONResponse(await run_in_threadpool(_measured, name, request.query_params), headers=KEPT_FOREVER)
        except (ChangeProblem, KeyError, ValueError):  # a token or a layer that the run does not have
            return Response(None, 404, NOT_KEPT)
        except ExplorerError:
            return Response(None, 503, NOT_KEPT)


def _measured(name: RunName, asked: QueryParams) -> dict[str, object]:
    with memory_checked():
        return _answer(name, asked)


ROUTE = Route(f"/{PATH}/{{name}}", send_arcs)
