"""Our own drawings as components of a page: their scripts and styles, and what a reader chose in them.

Streamlit sends the script of a component along with its data at every change. It is given a few lines here, which import
the drawing's modules from this server: a browser fetches them once.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache

import streamlit as st
from starlette.routing import Route

from pages.ui.canvas.modules import PATH, modules_of, read_style, version

FETCH = """const names = NAMES;
const address = (name, suffix) => new URL("PATH/VERSION" + suffix + "/" + name, document.baseURI).href;
const modules = (suffix) => Promise.all(names.map((name) => import(address(name, suffix))));
const rested = (count) => new Promise((done) => setTimeout(done, 250 * 2 ** count));
const again = (count) => rested(count).then(() => fetched(`-${count + 1}`, count + 1));
const fetched = (suffix, count) => modules(suffix).catch((gone) => count > 4 ? Promise.reject(gone) : again(count));
const given = (element) => Array.isArray(element.data) ? { ...element, data: element.data[0] } : element;
const drawing = { draw: null };
const ready = fetched("", 0).then((found) => { drawing.draw = found.at(-1).default; });
const drawLater = (element) => {
  const shown = { end: null, over: false };
  ready.then(() => { if (!shown.over) shown.end = drawing.draw(element); });
  return () => { shown.over = true; shown.end?.(); };
};
export default (element) => {
  element.parentElement.getRootNode().host.dataset.mounted = names.at(-1);
  return (drawing.draw ?? drawLater)(given(element));
};
"""
"""The script of every component. It asks for all modules of a drawing at once: one import after the other would cost a round
trip for each. A browser never asks again for an address that failed it once, hence the suffix. Streamlit makes room for the
drawing when this script has run, hence it does not wait for the modules; the start page looks for the mark."""


RING = "div:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }"
"""Around what a browser lets the keyboard scroll, where a drawing has no ring of its own."""


@cache
def component(name: str, box: str, module: str, *styles: str, height: int = 0) -> Callable[..., object]:
    """Make a component of a module, whose default export draws, and styles, by their paths below `assets/canvas`.

    box: the class of the element that it draws in. height: the pixels that are kept for a drawing until it is there.
    """
    style = "".join([*map(read_style, styles), RING, f".{box}:empty {{ min-height: {height}px; }}"])
    mount = st.components.v2.component(
        f"attention_explorer_{name}", html=f'<div class="{box}"></div>', css=style, js=import_script(module)
    )

    def show(*, data: object, **options: object) -> object:
        return mount(data=data if isinstance(data, bytes) else without_search(data), **options)

    return show


def without_search(data: object) -> list[object]:
    """Put what a drawing is given into a list of one.

    In a mapping Streamlit looks for data frames, for which it imports pandas: 0.8 s before the first page has its title.
    """
    return [data]


def import_script(module: str) -> str:
    """Write the script that imports a module and all that it needs. Every page lies right below the base path, as they do."""
    return FETCH.replace("NAMES", json.dumps(modules_of(module))).replace("PATH", PATH).replace("VERSION", version())


def below_base(route: Route) -> Route:
    """Move a route below the path of the whole app, if it has one (`server.baseUrlPath`)."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return Route(f"/{base}{route.path}", route.endpoint) if base else route


def component_value(key: str, name: str) -> object:
    """Return what the reader of the component `key` chose last; None before the first choice."""
    last = _last_value(key, name)
    return last.get("value") if isinstance(last, Mapping) else last


def value_timestamp(key: str, name: str) -> int | None:
    """Return the moment of that choice in milliseconds: no two choices share it, even where they choose the same."""
    last = _last_value(key, name)
    moment = last.get("at") if isinstance(last, Mapping) else None
    return moment if isinstance(moment, int) else None


def _last_value(key: str, name: str) -> object:
    state = st.session_state.get(key)
    return state.get(name) if isinstance(state, Mapping) else None
