"""The scripts of the stages: one bundle for each entry, its style sheet and its texts, served below a hash of all of them.

The bundles are made by `assets/stage/build.mjs` and committed. A browser keeps them forever.
"""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.ui.canvas.component import FETCH, GONE, IMMUTABLE
from pages.ui.stage.texts import stage_texts

PATH = "stage"
STAGE = Path(__file__).parents[3] / "assets" / "stage"
START_MODULE = """import stage from "./BUNDLE";
Object.assign(stage.TEXTS, TEXTS);
export default stage.default;
"""
"""The module that a page starts: the bundle with its texts."""


@cache
def files() -> dict[str, str]:
    """Return what is served, by name: bundles, what starts each, and the style sheet."""
    bundles = {path.name: path.read_text("utf-8") for path in sorted((STAGE / "dist").glob("*.js"))}
    written = json.dumps(stage_texts(), ensure_ascii=False)
    starts = {f"start-{name}": START_MODULE.replace("BUNDLE", name).replace("TEXTS)", f"{written})", 1) for name in bundles}
    return bundles | starts | {"stage.css": (STAGE / "stage.css").read_text("utf-8")}


@cache
def stage_version() -> str:
    """Return a hash of the names and contents of all that is served."""
    return sha256(json.dumps(files()).encode()).hexdigest()[:32]


def start_script(entry: str) -> str:
    """Write the script that fetches a stage. All pages lie right below the base path, as it does."""
    names, styles = [f"{entry}.js", f"start-{entry}.js"], ["stage.css"]
    script = FETCH.replace("NAMES", json.dumps(names)).replace("STYLES", json.dumps(styles))
    return script.replace("PATH", PATH).replace("VERSION", stage_version())


async def answer(request: Request) -> Response:
    """Serve a file of this version; a suffix such as "-1" of the version marks a repeated request."""
    asked, _, _ = request.path_params["version"].partition("-")
    name = request.path_params["name"]
    if asked != stage_version() or name not in files():
        return Response(GONE, 404, {"Cache-Control": "no-store"}, "text/plain")
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return Response(files()[name], 200, {"Cache-Control": IMMUTABLE}, kind)


ROUTE = Route(f"/{PATH}/{{version}}/{{name}}", answer)
