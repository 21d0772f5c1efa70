"""The prefetch endpoint: pictures that a browser fetches when a control or a head is pressed, before the page has answered.

The page's own answer, which Streamlit hands to a component only after it has run the page, follows with the same picture.
Only data that somebody still holds can be fetched: the run of a page, or the views of a visitor's session. For everything
else the browser waits for the page.
"""

import hmac
import re
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st
from jaxtyping import Float32
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.canvas.packing import Cells, codes, pack
from pages.ui.shell.address import widget_key
from tx_core.engine.threads import slot_timeout, use_one_core
from tx_core.errors import ExplorerError

PATH = "prefetch"
MAX_VALUE_CHARACTERS = 2000
"""Of the value of a control: a painted mask has 1,024."""
MAX_SESSION_VIEWS = 3
"""Views of a component that a session keeps: a request about the last one may arrive when the next is shown."""
SLOT_TIMEOUT_SECONDS = 0.2
"""For a slot to compute in: after that, the page's own answer is there as soon."""
MISSING = {"Cache-Control": "no-store"}
HEAD_MAP_HEADERS = {"Cache-Control": "private, max-age=600"}
"""The same address always holds the same map; a browser keeps it to itself."""

Change = Mapping[str, object]
PackedPicture = tuple[Mapping[str, object], Cells]
"""The header and the numbers of a picture, as a canvas takes them."""


@dataclass(frozen=True)
class Prefetch:
    """What a view shows after a change of one of its controls. Nothing of it may read the session.

    Attributes:
        page: the key of the page.
        values: the values of the page's fields by name.
        controls: by the name of a field, reads what a browser sends of its control, the index of an option or a value, as a
            change of `values`; raises ValueError or IndexError for nonsense.
        draw: makes the picture of any values; raises ExplorerError where there is none.
    """

    page: str
    values: Mapping[str, object]
    controls: Mapping[str, Callable[[str], Change]]
    draw: Callable[[Mapping[str, object]], PackedPicture]

    def picture_after(self, control: str, value: str) -> PackedPicture:
        """Return the picture after a control, by its widget key, has a value. Raises KeyError for an unknown control."""
        fields = {widget_key(self.page, field): field for field in self.controls}
        return self.draw({**self.values, **self.controls[fields[control]](value)})


_secret = secrets.token_bytes(32)
_offers: WeakValueDictionary[str, Prefetch | np.ndarray] = WeakValueDictionary()
"""What can be fetched, by a name that only this server can make: whoever was not shown a view cannot find it."""


def read_option(name: str, options: Sequence[object]) -> Callable[[str], Change]:
    """Return a reader of a field whose control sends the index of an option, from 0."""
    return lambda value: {name: options[_whole_number(value)]}


def read_number(name: str, allowed: range) -> Callable[[str], Change]:
    """Return a reader of a field whose slider sends a whole number."""
    return lambda value: {name: allowed[allowed.index(_whole_number(value))]}


def offer_head_maps(identity: tuple, weights: Float32[np.ndarray, "layer head query key"]) -> str:
    """Return the path at which the map of each head is found, as long as somebody holds the weights.

    identity: everything that the weights depend on.
    """
    name = _name(identity)
    _offers[name] = weights
    return f"{PATH}/{name}"


def pack_with_prefetch(component: str, picture: PackedPicture, prefetch: Prefetch | None) -> bytes:
    """Pack what a component, by its key, draws; with a prefetch, its header says where the pictures after it are found."""
    if not prefetch:
        return pack(*picture)
    picture_id = _picture_id(picture)
    name = _name((prefetch.page, prefetch.values, picture_id))
    held = st.session_state.setdefault(f"{component}_prefetch", deque(maxlen=MAX_SESSION_VIEWS))
    held.append(_offers.setdefault(name, prefetch))  # who sees the very same view shares it
    controls = [widget_key(prefetch.page, field) for field in prefetch.controls]
    return _packed(picture, {"path": f"{PATH}/{name}", "controls": controls, "id": picture_id})


def answer(request: Request) -> Response:
    """Send the map of `?head=` or the picture after `?control=` has `&value=`; 204 where there is none, or no longer."""
    offer, query = _offers.get(request.path_params["name"]), request.query_params
    if isinstance(offer, Prefetch):
        message, headers = _control_picture(offer, query.get("control", ""), query.get("value", "")), MISSING
    else:
        message, headers = _head_map(offer, query.get("head", "")), HEAD_MAP_HEADERS
    if message is None:
        return Response(None, 204, MISSING)
    return Response(message, 200, headers, "application/octet-stream")


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


def _control_picture(prefetch: Prefetch, control: str, value: str) -> bytes | None:
    if len(value) > MAX_VALUE_CHARACTERS:
        return None
    use_one_core()
    try:
        with slot_timeout(SLOT_TIMEOUT_SECONDS):
            picture = prefetch.picture_after(control, value)
            return _packed(picture, {"id": _picture_id(picture)})
    except (ExplorerError, LookupError, ValueError):
        return None


def _name(identity: tuple) -> str:
    return hmac.new(_secret, repr(identity).encode(), "sha256").hexdigest()[:32]


def _picture_id(picture: PackedPicture) -> str:
    """Return a hash of a picture: the same one has the same id, whoever is sent it."""
    return blake2b(pack(*picture), digest_size=16).hexdigest()


def _packed(picture: PackedPicture, prefetch: Mapping[str, object]) -> bytes:
    header, cells = picture
    return pack({**header, "prefetch": prefetch}, cells)


def _whole_number(value: str) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) < 6):
        raise ValueError("must be a whole number")
    return int(value)
