"""The JavaScript modules and styles of `assets/canvas`: as a server hands them out, and as one script for a file.

What a drawing consists of follows from its imports. The modules are served as they are, below a hash of all of them,
so an address holds the same content on every server and a browser may keep it forever. What every drawing may say comes
from Python as a module, too: core/texts.js.
"""

import gzip
import json
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from posixpath import join, normpath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.canvas import texts
from pages.ui.shell.start_page import COMPRESSION, IMMUTABLE

PATH = "modules"
CANVAS = Path(__file__).parents[3] / "assets" / "canvas"
GONE = "There is no such script: load the page again."
IMPORT = re.compile(r'^import \{([^}]+)\} from "(\.[^"]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (default )?((?:async )?function|const) (\w+)", re.MULTILINE)


@cache
def sources() -> dict[str, str]:
    """Return the source of every module by its path below `assets/canvas`; read once, so that it fits the version."""
    files = {path.relative_to(CANVAS).as_posix(): path.read_text("utf-8") for path in sorted(CANVAS.rglob("*.js"))}
    return files | {"core/texts.js": f"export const TEXTS = {json.dumps(texts.CORE, ensure_ascii=False)};\n"}


@cache
def version() -> str:
    """Return a hash of the names and contents of all modules."""
    digest = sha256()
    for name, source in sources().items():
        digest.update(f"{name}\0{source}\0".encode())
    return digest.hexdigest()[:32]


async def answer(request: Request) -> Response:
    """Serve a module of this version; a suffix such as "-1" of the version marks a repeated request."""
    asked, _, _ = request.path_params["version"].partition("-")
    name = request.path_params["name"]
    if asked != version() or name not in sources():
        return Response(GONE, 404, {"Cache-Control": "no-store"}, "text/plain")
    headers = {"Cache-Control": IMMUTABLE, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(compressed_module(name), 200, headers | {"Content-Encoding": "gzip"}, "text/javascript")
    return Response(sources()[name], 200, headers, "text/javascript")


@cache
def compressed_module(name: str) -> bytes:
    """Compress a module once for all browsers."""
    return gzip.compress(sources()[name].encode(), COMPRESSION)


ROUTE = Route(f"/{PATH}/{{version}}/{{name:path}}", answer)


def read_style(name: str) -> str:
    """Return a style sheet by its path below `assets/canvas`."""
    return (CANVAS / name).read_text("utf-8")


def imports_of(name: str) -> tuple[str, ...]:
    """Return the paths of the modules that a module imports. Raises KeyError for one that does not exist."""
    return tuple(_resolve(name, path) for _, path in IMPORT.findall(sources()[name]))


@cache
def modules_of(name: str) -> tuple[str, ...]:
    """Return a module and all that it imports, directly or not, each after those that it needs."""
    needed = [module for direct in imports_of(name) for module in modules_of(direct)]
    return (*dict.fromkeys(needed), name)


@cache
def single_script(name: str, starter: str) -> str:
    """Write a drawing as one script that calls the default export of `starter` with that of the module `name`.

    Each module becomes a function with a scope of its own.
    """
    needed = dict.fromkeys((*modules_of(name), *modules_of(starter)))
    start = f'modules["{starter}"].default(modules["{name}"].default);'
    return "\n".join(['"use strict";', "const modules = {};", *map(_as_function, needed), start, ""])


def _as_function(name: str) -> str:
    """Write a module as a call whose result is an object of its exports."""
    body = IMPORT.sub(lambda found: _as_constant(found[1], _resolve(name, found[2])), sources()[name])
    exports = [f"default: {local}" if default else local for default, _, local in EXPORT.findall(body)]
    body = EXPORT.sub(r"\2 \3", body)
    if unknown := re.search(r"^(?:import|export)\b.*", body, re.MULTILINE):
        raise ValueError(f"{name} has an import or export of a form that cannot be put into one script: {unknown[0]}")
    return f'modules["{name}"] = (() => {{\n{body}return {{ {", ".join(exports)} }};\n}})();'


def _as_constant(names: str, module: str) -> str:
    return f'const {{{names.replace(" as ", ": ")}}} = modules["{module}"];\n'


def _resolve(name: str, path: str) -> str:
    return normpath(join(name, "..", path))
