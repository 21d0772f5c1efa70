"""Arcs of a stage of routes, for the page's answer and for the route by which the stage asks for more of them."""

from dataclasses import replace
from threading import BoundedSemaphore

import numpy as np
from jaxtyping import Float
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pages.ui.shell import cache
from pages.ui.stage.packing import KEPT_FOREVER, NOT_KEPT, read_signed, sign
from tx_core.causal.cut_effects import CutEffects, cut_effects, head_cut_effects
from tx_core.engine.catalogue import DEFAULT
from tx_core.engine.engine import Engine
from tx_core.engine.threads import use_one_core
from tx_core.errors import ChangeProblem, ExplorerError, memory_checked
from tx_core.transformer.interventions import Intervention, read_interventions, write_interventions

PATH = "stage-arcs"
AT_ONCE, PATIENCE = BoundedSemaphore(2), 20.0
"""Requests that measure at once, and the seconds that another one waits for them: each takes many runs."""


def read_word(engine: Engine, entry: int) -> str:
    """Return an entry of the vocabulary as a reader knows it."""
    return engine.tokenizer.readable(entry) or engine.tokenizer.word(entry)


def arcs_path(text: str, changes: tuple[Intervention, ...]) -> str:
    """Return where the arcs of a run are asked for; only a server of this host can name one."""
    return f"{PATH}/{sign([text, write_interventions(changes)])}"


def arcs_into(engine: Engine, text: str, changes: tuple[Intervention, ...], query: int) -> CutEffects:
    """Return what the first blank loses with each arc into one token cut, cached; the only query is that token."""
    key = ("arcs", cache.engine_key(engine), text, changes, query)

    def measure() -> CutEffects:
        found = cut_effects(engine, text, interventions=changes, queries=[query])
        # Of the other tokens there is nothing to keep.
        one = {name: getattr(found, name)[:, [query]].copy() for name in ("effect", "after", "first")}
        return replace(found, **one)

    return cache.get_or_compute(key, measure)


def written_arcs(engine: Engine, effects: CutEffects, query: int) -> dict[str, object]:
    """Return the arcs into one token as the stage takes them: by layer and key."""
    firsts = effects.first[:, 0].tolist()
    return {
        "query": query,
        "effect": np.round(effects.effect[:, 0], 4).tolist(),
        "after": np.round(effects.after[:, 0], 5).tolist(),
        "first": [[read_word(engine, entry) for entry in row] for row in firsts],
    }


def _mixed(engine: Engine, text: str, changes: tuple[Intervention, ...]) -> Float[np.ndarray, "layer query key"]:
    """Return each key's share of what enters a token in a layer, cached. engine: with its weights in this process."""
    from tx_core.analysis.mixing import mixed_in  # which imports torch: most servers' pages never ask

    def measure() -> Float[np.ndarray, "layer query key"]:
        mixed = mixed_in(engine.model, engine.trace(text, keep=("weights", "value", "hidden"), interventions=changes))
        return mixed / mixed.sum(axis=-1, keepdims=True)

    return cache.get_or_compute(("mixed in", cache.engine_key(engine), text, changes), measure)


def send_arcs(request: Request) -> Response:
    """Send the arcs into one token, the effect of each head of one arc, or what is mixed in; 404 for what no page has named."""
    try:
        text, written = read_signed(request.path_params["name"])
        changes = read_interventions(written)
        is_mixed = "mixed" in request.query_params
        query = 0 if is_mixed else int(request.query_params["query"])
        arc = [int(request.query_params[name]) for name in ("layer", "key")] if "layer" in request.query_params else None
    except (KeyError, ValueError):
        return Response(None, 404, NOT_KEPT)
    use_one_core()
    if not AT_ONCE.acquire(timeout=PATIENCE):
        return Response(None, 503, NOT_KEPT)
    try:
        with memory_checked():
            engine = cache.engine(DEFAULT, weights=is_mixed)
            if is_mixed:
                sent = {"mixed": _mixed(engine, text, changes).round(4).tolist()}
            elif arc is None:
                sent = written_arcs(engine, arcs_into(engine, text, changes, query), query)
            else:
                sent = {"heads": np.round(_heads_of(engine, text, changes, (arc[0], query, arc[1])), 4).tolist()}
    except (ChangeProblem, ValueError):  # a token or a layer that the run does not have
        return Response(None, 404, NOT_KEPT)
    except ExplorerError:
        return Response(None, 503, NOT_KEPT)
    finally:
        AT_ONCE.release()
    return JSONResponse(sent, headers=KEPT_FOREVER)


def _heads_of(
    engine: Engine, text: str, changes: tuple[Intervention, ...], arc: tuple[int, int, int]
) -> Float[np.ndarray, "head"]:
    """Return the effect of each head of an arc, cached."""
    key = ("arc heads", cache.engine_key(engine), text, changes, arc)
    return cache.get_or_compute(key, lambda: head_cut_effects(engine, text, *arc, interventions=changes))


ROUTE = Route(f"/{PATH}/{{name}}", send_arcs)
