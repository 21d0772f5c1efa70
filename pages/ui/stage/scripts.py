"""The scripts of the stages: one bundle for each entry, its style sheet and its texts, served below a hash of all of them.

The bundles are made by `assets/stage/build.mjs` and committed. A browser keeps them forever.
"""

import json
from pathlib import Path

from pages.ui.shell.served import ServedFiles
from pages.ui.shell.start_page import drawing_script
from pages.ui.stage.browser_texts import stage_texts

STAGE = Path(__file__).parents[3] / "assets" / "stage"
START_MODULE = """import stage from "./BUNDLE";
Object.assign(stage.TEXTS, TEXTS);
export default stage.default;
"""
"""The module that a page starts: the bundle with its texts."""


def read_files() -> dict[str, str]:
    """Return what is served, by name: bundles, what starts each, and the style sheet."""
    bundles = {path.name: path.read_text("utf-8") for path in sorted((STAGE / "dist").glob("*.js"))}
    written = json.dumps(stage_texts(), ensure_ascii=False)
    starts = {f"start-{name}": START_MODULE.replace("BUNDLE", name).replace("TEXTS)", f"{written})", 1) for name in bundles}
    return bundles | starts | {"stage.css": (STAGE / "stage.css").read_text("utf-8")}


STAGE_FILES = ServedFiles("stage", read_files)


def start_script(entry: str) -> str:
    """Write the script that fetches a stage."""
    return drawing_script(STAGE_FILES.address().rstrip("/"), [f"{entry}.js", f"start-{entry}.js"], ["stage.css"])
