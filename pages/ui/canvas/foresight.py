"""Pictures that a control is about to lead to, which the browser fetches and draws by itself when the control is used.

The page's own answer, which Streamlit hands to a component only after it has gone through every part of the page, follows with
the same picture. Nothing is kept here but how to make pictures of a view, as long as the visitor's session lasts.
"""

import hmac
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from weakref import WeakValueDictionary

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.canvas.packing import Cells, pack
from pages.ui.shell.address import widget_key
from tx_core.errors import ExplorerError

PATH = "pictures"
MAX_REQUEST_CHARACTERS = 2000
"""Characters of what a control tells: a painted mask has 1,024."""
KEPT = 3
"""Views of a place whose pictures are made: a question about the last one may still be on its way when the next is shown."""
PATIENCE_SECONDS = 0.2
"""For a place to compute in: after that, the page's own answer is there as soon."""
HEADERS = {"Cache-Control": "no-store"}

Change = Mapping[str, object]
Drawn = tuple[Mapping[str, object], Cells]
"""The header and the numbers of a picture, as a canvas takes them."""


@dataclass(frozen=True)
class Foresight:
    """What a view would be after a change of one of its controls.

    values: what the page holds by the names of its fields. controls: by the name of a field, reads what the browser says of its
    control, the place of an option or a value, as a change of values; ValueError or IndexError for nonsense. draw: makes
    the picture of any values; ExplorerError where there is none. Nothing of it may ask the session.
    """

    page: str
    values: Mapping[str, object]
    controls: Mapping[str, Callable[[str], Change]]
    draw: Callable[[Mapping[str, object]], Drawn]

    def after(self, name: str, told: str) -> Drawn:
        """Give the picture after a change that the browser tells of; KeyError for a control that is not among these."""
        names = {widget_key(self.page, field): field for field in self.controls}
        return self.draw({**self.values, **self.controls[names[name]](told)})


_secret = secrets.token_bytes(32)
_offered: WeakValueDictionary[str, Foresight] = WeakValueDictionary()


def by_place(name: str, options: Sequence[object]) -> Callable[[str], Change]:
    """Read the place of an option, from 0, as the field's value."""
    return lambda told: {name: options[_number(told)]}


def by_number(name: str, allowed: range) -> Callable[[str], Change]:
    """Read a whole number that a slider may take."""
    return lambda told: {name: allowed[allowed.index(_number(told))]}


def pack_seen(name: str, picture: Drawn, foresight: Foresight | None) -> bytes:
    """Pack what the component `name` draws; with foresight, it says where the pictures after it are fetched from.

    Only this server can make that path: whoever has not been shown the view cannot find it, not even by guessing the text.
    """
    if not foresight:
        return pack(*picture)
    digest = _digest(picture)
    seen = hmac.new(_secret, repr((foresight.page, foresight.values, digest)).encode(), "sha256").hexdigest()[:32]
    kept = st.session_state.setdefault(f"{name}_foresight", deque(maxlen=KEPT))
    kept.append(_offered.setdefault(seen, foresight))  # who sees the very same view shares it
    controls = [widget_key(foresight.page, field) for field in foresight.controls]
    return _packed(picture, {"path": f"{PATH}/{seen}", "controls": controls, "is": digest})


def answer(request: Request) -> Response:
    """Send the picture that a control leads to; 204 where that cannot be told, or no longer."""
    foresight, asked = _offered.get(request.path_params["name"]), request.query_params
    told = asked.get("told", "")
    if foresight is None or len(told) > MAX_REQUEST_CHARACTERS:
        return Response(None, 204, HEADERS)
    from tx_core.engine.device import in_haste, use_one_core

    use_one_core()
    try:
        with in_haste(PATIENCE_SECONDS):
            picture = foresight.after(asked.get("control", ""), told)
            message = _packed(picture, {"is": _digest(picture)})
    except (ExplorerError, LookupError, ValueError):
        return Response(None, 204, HEADERS)
    return Response(message, 200, HEADERS, "application/octet-stream")


ROUTE = Route(f"/{PATH}/{{name}}", answer)


def _digest(picture: Drawn) -> str:
    """Name a picture by what it is: the same one has the same name, whoever is sent it."""
    return blake2b(pack(*picture), digest_size=16).hexdigest()


def _packed(picture: Drawn, known: Mapping[str, object]) -> bytes:
    header, cells = picture
    return pack({**header, "foresight": known}, cells)


def _number(told: str) -> int:
    if not (told.isascii() and told.isdecimal() and len(told) < 6):
        raise ValueError("must be a whole number")
    return int(told)
