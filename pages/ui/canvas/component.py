"""Our own drawings in a page: the script of each, which a browser fetches once, and its style.

Streamlit sends the script of a component along with whatever it is to draw, at every change. So what it is given here is one
line that fetches the script from this server, under the hash of what is in it: a browser asks for it once, and keeps it.
"""

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PATH = "modules"
ASSETS = Path(__file__).parents[3] / "assets" / "attention_view"
"""Where the names of modules and styles begin; those of other drawings lead out of it."""
FOREVER = "public, max-age=31536000, immutable"

FETCH = """const address = new URL("NAME", document.baseURI).href;
const rested = (count) => new Promise((done) => setTimeout(done, 250 * 2 ** count));
const again = (count) => rested(count).then(() => fetched(`?again=${count}`, count + 1));
const fetched = (asked, count) => import(address + asked).catch((gone) => count > 4 ? Promise.reject(gone) : again(count));
export default (await fetched("", 0)).default;
"""
"""The module that stands for a script. A browser never asks again for an address that failed it once, hence `again`."""

_scripts: dict[str, str] = {}


@cache
def component(name: str, box: str, modules: tuple[str, ...], *styles: str) -> Callable[..., object]:
    """Make a component of modules and styles; `box` is the class of the element that it draws in."""
    style = "".join(read(file) for file in styles)
    return st.components.v2.component(
        f"attention_explorer_{name}", html=f'<div class="{box}"></div>', css=style, js=fetching(joined(modules))
    )


def fetching(script: str) -> str:
    """Serve a script; give the module that stands for it. Every page lies right below the start, and so do the scripts."""
    name = f"{sha256(script.encode()).hexdigest()[:32]}.js"
    _scripts[name] = script
    return FETCH.replace("NAME", f"{PATH}/{name}")


def below_base(route: Route) -> Route:
    """Give a route its place where the whole app is served below a path of its own (`server.baseUrlPath`)."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return Route(f"/{base}{route.path}", route.endpoint) if base else route


async def answer(request: Request) -> Response:
    """Serve a script by the hash of it, 404 for what is none: the same name is always the same script."""
    script = _scripts.get(request.path_params["name"])
    if script is None:
        return Response("There is no such script: load the page again.", 404, {"Cache-Control": "no-store"}, "text/plain")
    return Response(script, 200, {"Cache-Control": FOREVER}, "text/javascript")


ROUTE = Route(f"/{PATH}/{{name}}", answer)


@cache
def joined(modules: tuple[str, ...]) -> str:
    """Make one script of several modules: a stand-alone page has one file, readers prefer one concept a file."""
    source = "\n".join(read(module) for module in modules)
    without_imports = re.sub(r"^import .*;\n", "", source, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", without_imports, flags=re.MULTILINE)


def read(file: str) -> str:
    """Read a file of the assets."""
    return (ASSETS / file).read_text("utf-8")
