"""The prefetch endpoint: the map of a head that a browser fetches when it is pressed, before the page has answered.

The page's own answer follows with the same map. Only the weights of a run that somebody still holds can be fetched: else the
browser waits for the page.
"""

import hmac
import re
import secrets
from weakref import WeakValueDictionary

import numpy as np
from jaxtyping import Float32
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.canvas.packing import codes, pack

PATH = "prefetch"
MISSING = {"Cache-Control": "no-store"}
HEAD_MAP_HEADERS = {"Cache-Control": "private, max-age=600"}
"""The same address always holds the same map; a browser keeps it to itself."""

_secret = secrets.token_bytes(32)
_offers: WeakValueDictionary[str, np.ndarray] = WeakValueDictionary()
"""What can be fetched, by a name that only this server can make: whoever was not shown a view cannot find it."""


def offer_head_maps(identity: tuple, weights: Float32[np.ndarray, "layer head query key"]) -> str:
    """Return the path at which the map of each head is found, as long as somebody holds the weights.

    identity: everything that the weights depend on.
    """
    name = _name(identity)
    _offers[name] = weights
    return f"{PATH}/{name}"


def answer(request: Request) -> Response:
    """Send the map of `?head=`; 204 where there is none, or no longer."""
    message = _head_map(_offers.get(request.path_params["name"]), request.query_params.get("head", ""))
    if message is None:
        return Response(None, 204, MISSING)
    return Response(message, 200, HEAD_MAP_HEADERS, "application/octet-stream")


ROUTE = Route(f"/{PATH}/{{name}}", answer)


def _head_map(weights: Float32[np.ndarray, "layer head query key"] | None, written: str) -> bytes | None:
    """Pack the map of the head "‹layer›-‹head›", counted from 0."""
    place = re.fullmatch("([0-9]{1,4})-([0-9]{1,4})", written, re.ASCII)
    if weights is None or not place:
        return None
    layer, head = map(int, place.groups())
    if layer >= weights.shape[0] or head >= weights.shape[1]:
        return None
    return pack({}, codes(weights[layer, head]))


def _name(identity: tuple) -> str:
    return hmac.new(_secret, repr(identity).encode(), "sha256").hexdigest()[:32]
