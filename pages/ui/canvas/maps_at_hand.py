"""Single maps of a run, which the browser fetches by itself when a head is pressed on the wall.

They are drawn before the page has answered the click. Nothing is kept here: what can be fetched is what the cache of runs,
or a page being drawn, still holds. For anything else the page's own answer is waited for.
"""

import hmac
import re
import secrets
from collections.abc import Mapping
from weakref import WeakValueDictionary

import numpy as np
from jaxtyping import Float32
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.canvas.packing import codes, pack

PATH = "maps"
HEADERS = {"Cache-Control": "private, max-age=600"}
"""The same path always holds the same numbers; a browser keeps them to itself."""

_secret = secrets.token_bytes(32)
_offered: WeakValueDictionary[str, np.ndarray] = WeakValueDictionary()


def offer(identity: tuple, weights: Float32[np.ndarray, "layer head query key"]) -> str:
    """Give the path below which the maps of a view are found, as long as somebody holds its weights.

    identity: all that the weights depend on. Only this server can make the path of it: whoever has not been shown the view
    cannot find its maps, not even by guessing the text.
    """
    name = hmac.new(_secret, repr(identity).encode(), "sha256").hexdigest()[:32]
    _offered[name] = weights
    return f"{PATH}/{name}"


def answer(request: Request) -> Response:
    """Send one head's map, packed as for the canvas; 404 where there is none, or no longer."""
    cells = find(request.path_params)
    if cells is None:
        return Response("There is no such map, or no longer.", 404, {"Cache-Control": "no-store"}, "text/plain")
    return Response(pack({}, codes(cells)), 200, HEADERS, "application/octet-stream")


def find(asked: Mapping[str, str]) -> Float32[np.ndarray, "query key"] | None:
    """Give the map of the head "‹layer›-‹head›", counted from 0, of a view by its name; None where there is none."""
    weights, place = _offered.get(asked["name"]), re.fullmatch("([0-9]{1,4})-([0-9]{1,4})", asked["head"], re.ASCII)
    if weights is None or not place:
        return None
    layer, head = map(int, place.groups())
    return weights[layer, head] if layer < weights.shape[0] and head < weights.shape[1] else None


ROUTE = Route(f"/{PATH}/{{name}}/{{head}}", answer)
