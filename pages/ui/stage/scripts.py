"""Our own drawings as components of a page: a bundle for each, its style sheet and texts, served below a hash of all of them.

The bundles are made by `assets/stage/build.mjs` and committed; a browser keeps them forever. Streamlit sends a component's script
along with its data at every change: it is given a few lines, which have assets/shell/drawing.js fetch the rest.
"""

import json
from collections.abc import Callable
from functools import cache

import streamlit as st

from pages.ui.shell.served import ServedFiles
from pages.ui.shell.start_page import SHELL, without_search
from pages.ui.shell.texts import PART_NOT_LOADED
from pages.ui.stage.browser_texts import stage_texts
from pages.ui.stage.charts import PAPER
from pages.ui.stage.texts import STACK_LABELS
from tx_core.settings import ASSETS

NOTEBOOK = ASSETS / "stage" / "dist" / "notebook.json"
"""What is the same in every header, for `tx_core/notebook.py`; `python -m pages.ui.stage.scripts` writes it."""
STYLE = "stage.css"
"""The style sheet of the stages."""
START_MODULE = """import drawing from "./BUNDLE";
import texts from "./texts.js";
Object.assign(drawing.TEXTS, texts);
export default drawing.default;
"""
"""The module that a page starts: a bundle with its texts."""
FETCH_SCRIPT = """const drawing = import(new URL("FETCHING", document.baseURI).href).then(
  ({ fetchDrawing }) => fetchDrawing("PATH", NAMES, STYLES, FAILED));
export default (element) => {
  const shown = { over: false, end: null };
  drawing.then((draw) => draw(element, shown));
  return () => { shown.over = true; shown.end?.(); };
};
"""


def read_files() -> dict[str, str]:
    """Return what is served, by name: bundles, what starts each, style sheets and texts."""
    bundles = {path.name: path.read_text("utf-8") for path in sorted((ASSETS / "stage" / "dist").glob("*.js"))}
    sheets = [ASSETS / "stage" / STYLE, *sorted((ASSETS / "canvas").rglob("*.css"))]
    starts = {f"start-{name}": START_MODULE.replace("BUNDLE", name) for name in bundles}
    texts = f"export default {json.dumps(stage_texts(), ensure_ascii=False)};\n"
    return bundles | starts | {path.name: path.read_text("utf-8") for path in sheets} | {"texts.js": texts}


def notebook_header() -> str:
    """Return what is the same in every header, as JSON for a notebook."""
    return json.dumps({"paper": PAPER, "kinds": STACK_LABELS}, ensure_ascii=False, indent=1) + "\n"


STAGE_FILES = ServedFiles("stage", read_files)


def modules(entry: str) -> list[str]:
    """Return the names of the modules of a drawing, by the name of its bundle; the last one draws it."""
    return ["texts.js", f"{entry}.js", f"start-{entry}.js"]


def stage_files(script: str) -> list[str]:
    """Return the addresses of what draws a stage, by the name of its bundle."""
    return [STAGE_FILES.address(name) for name in (*modules(script), STYLE)]


@cache
def component(name: str, entry: str, box: str, style: str = STYLE, heights: tuple[int, int] = (0, 0)) -> Callable[..., object]:
    """Make a component of a bundle. name: tells components apart, of which several may have the same bundle.

    box: the class of the element that it draws in. heights: pixels kept for it, on a wide and on a narrow screen, until it
    has drawn.
    """
    wide, narrow = heights
    space = f".{box}:empty {{ min-height: {wide}px; }} @media (max-width: 640px) {{ .{box}:empty {{ min-height: {narrow}px; }} }}"
    script = FETCH_SCRIPT.replace("FETCHING", SHELL.address("drawing.js")).replace("PATH", STAGE_FILES.address().rstrip("/"))
    for word, value in (("NAMES", modules(entry)), ("STYLES", [style]), ("FAILED", PART_NOT_LOADED)):
        script = script.replace(word, json.dumps(value))
    mounted = st.components.v2.component(f"attention_explorer_{name}", html=f'<div class="{box}"></div>', css=space, js=script)

    def show(*, data: object, **options: object) -> object:
        return mounted(data=data if isinstance(data, bytes) else without_search(data), **options)

    return show


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook_header(), "utf-8")
