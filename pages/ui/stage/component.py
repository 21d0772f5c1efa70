"""Our own drawings as components of a page: their scripts and styles, and what a reader chose in them.

Streamlit sends script and styles of a component along with its data at every change. It is given a few lines, which have
assets/shell/drawing.js fetch the drawing's modules and style sheets: a browser does so once. What a drawing consists of follows
from its imports. The files are served as they are, below a hash of all of them, so an address holds the same content on every
server and a browser may keep it forever. What every drawing may say comes from Python as a module, too: core/texts.js.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from posixpath import join, normpath

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.shell.served import GONE, IMMUTABLE
from pages.ui.shell.start_page import drawing_script
from pages.ui.stage import texts

PATH = "modules"
CANVAS = Path(__file__).parents[3] / "assets" / "canvas"
IMPORT = re.compile(r'^import \{([^}]+)\} from "(\.[^"]+\.js)";\n', re.MULTILINE)


@cache
def sources() -> dict[str, str]:
    """Return the source of every module by its path below `assets/canvas`; read once, so that it fits the version."""
    files = {path.relative_to(CANVAS).as_posix(): path.read_text("utf-8") for path in sorted(CANVAS.rglob("*.js"))}
    return files | {"core/texts.js": f"export const TEXTS = {json.dumps(texts.CORE, ensure_ascii=False)};\n"}


@cache
def style_sheets() -> dict[str, str]:
    """Return the source of every style sheet by its path below `assets/canvas`."""
    return {path.relative_to(CANVAS).as_posix(): path.read_text("utf-8") for path in sorted(CANVAS.rglob("*.css"))}


@cache
def version() -> str:
    """Return a hash of the names and contents of all modules and style sheets."""
    digest = sha256()
    for name, source in (sources() | style_sheets()).items():
        digest.update(f"{name}\0{source}\0".encode())
    return digest.hexdigest()[:32]


async def answer(request: Request) -> Response:
    """Serve a module or a style sheet of this version; a suffix such as "-1" of the version marks a repeated request."""
    asked, _, _ = request.path_params["version"].partition("-")
    name = request.path_params["name"]
    source = (sources() | style_sheets()).get(name)
    if asked != version() or source is None:
        return Response(GONE, 404, {"Cache-Control": "no-store"}, "text/plain")
    kind = "text/css" if name in style_sheets() else "text/javascript"
    return Response(source, 200, {"Cache-Control": IMMUTABLE}, kind)


ROUTE = Route(f"/{PATH}/{{version}}/{{name:path}}", answer)


def imports_of(name: str) -> tuple[str, ...]:
    """Return the paths of the modules that a module imports. Raises KeyError for one that does not exist."""
    return tuple(normpath(join(name, "..", path)) for _, path in IMPORT.findall(sources()[name]))


@cache
def modules_of(name: str) -> tuple[str, ...]:
    """Return a module and all that it imports, directly or not, each after those that it needs."""
    needed = [module for direct in imports_of(name) for module in modules_of(direct)]
    return (*dict.fromkeys(needed), name)


RING = "div:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }"
"""Around what a browser lets the keyboard scroll, where a drawing has no ring of its own."""


@cache
def component(name: str, box: str, module: str, *styles: str, height: int = 0) -> Callable[..., object]:
    """Make a component of a module, whose default export draws, and styles, by their paths below `assets/canvas`.

    box: the class of the element that it draws in. height: the pixels that are kept for a drawing until it is there.
    """
    space = f"{RING} .{box}:empty {{ min-height: {height}px; }}"
    mount = st.components.v2.component(
        f"attention_explorer_{name}", html=f'<div class="{box}"></div>', css=space, js=import_script(module, styles)
    )

    def show(*, data: object, **options: object) -> object:
        return mount(data=data if isinstance(data, bytes) else without_search(data), **options)

    return show


def without_search(data: object) -> list[object]:
    """Wrap a drawing's data in a list of one.

    In a mapping Streamlit looks for data frames, for which it imports pandas: 0.8 s before the first page has its title.
    """
    return [data]


def import_script(module: str, styles: Sequence[str] = ()) -> str:
    """Write the script that fetches a module, what it needs, and styles."""
    return drawing_script(f"{PATH}/{version()}", modules_of(module), styles)


def below_base(route: Route) -> Route:
    """Move a route below the path of the whole app, if it has one (`server.baseUrlPath`)."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return Route(f"/{base}{route.path}", route.endpoint) if base else route


def component_value(key: str, name: str) -> object:
    """Return what the reader of the component `key` chose last; None before the first choice."""
    state = st.session_state.get(key)
    last = state.get(name) if isinstance(state, Mapping) else None
    return last.get("value") if isinstance(last, Mapping) else last
