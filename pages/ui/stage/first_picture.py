"""The picture of a page's first view, kept beside the model: the first HTML of the page has it, before any script has run.

`python -m pages.ui.stage.first_picture` stores the pictures again, after a change of the model or of what a stage is told; tests
hold them equal to what a run sends.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np

from pages.contents import HOME, Page
from pages.ui.shell.early_page import EarlyView
from pages.ui.shell.fields import StageFields, parse_view
from pages.ui.shell.level import ADVANCED, BASIC, LEVEL, level_at_first, level_to_link
from pages.ui.shell.served import ServedFiles
from pages.ui.stage.arcs import arcs_path
from pages.ui.stage.packing import RunName
from pages.ui.stage.scripts import STAGE_FILES, modules
from tx_core.analysis.packing import join
from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import MANIFEST, read_json
from tx_core.errors import CheckpointProblem
from tx_core.transformer.interventions import read_interventions

BOXES: Mapping[str, tuple[str, ...]] = {
    "start": ("text",),
    "attention": ("text",),
    "fill_mask": ("text",),
    "next_word": ("text",),
    "compare": ("text", "text_b"),
    "self_attention": ("text",),
    "masks": ("text",),
    "positions": ("text",),
}
"""The pages that have a stored picture, each with the texts that it asks for."""
WITHOUT_TORCH = ("start", "attention", "fill_mask", "next_word", "compare", "self_attention")
"""Pages whose fields can be read without waiting for torch: a link to one that only looks otherwise shows its view at once."""
DEFAULT_MODEL = catalogue.MODELS / catalogue.DEFAULT
FIRST_PICTURES = DEFAULT_MODEL / "first_pictures"
MAIN = Path(__file__).parents[2] / "main.py"
NUMBER_BYTES = {"made": 0, "derived": 0, "short": 2, "float": 4}
"""Bytes of a number of a matrix, by its form (pages/ui/stage/matrices.py)."""
ANY_RUN = "first picture"
"""The identity of a stored run: that of a real one depends on the server."""


def early_view(page: Page, asked: Mapping[str, str], remembered: str) -> EarlyView | None:
    """Return what the first HTML of a page shows: its stored picture, or a frame for a view that has to be computed first.

    asked: the parameters of the link. remembered: the level of the visitor's cookie. Returns None for a page without a stored
    picture, and for a link that Streamlit's page has to explain first.
    """
    level = level_at_first(page.key, asked.get(LEVEL), remembered)
    if page.key not in BOXES or (stored := read(page.key, level)) is None:
        return None
    header, numbers = stored
    named = {name: value for name, value in asked.items() if name not in (LEVEL, "embed")}
    texts = {name: named.get(name, header["texts"][name]) for name in BOXES[page.key]}
    level_link = level_to_link(level, named=asked.get(LEVEL) == level)
    told: dict[str, object] | None = live_header(header, level_link)
    if named and page.key not in WITHOUT_TORCH:
        told = None
    elif named:
        fields: StageFields = import_module(f"pages.{page.key}.inputs").FIELDS
        values, unknown = parse_view(fields.all, named)
        if unknown:
            return None
        if named.keys() & {one.name for one in fields.all}:
            told = _looked_at(told, fields, values)
    drawn = drawn_numbers(header, numbers)
    rest = LATER_NUMBERS.address(f"{page.key}-{level}.bin") if drawn != numbers else ""
    return EarlyView(
        level=level,
        level_link=level_link,
        is_framed=asked.get("embed") == "true",
        texts=texts,
        modules=modules(page.script),
        address=STAGE_FILES.address().rstrip("/"),
        header=told,
        numbers=drawn,
        rest=rest,
    )


def drawn_numbers(header: Mapping, numbers: bytes) -> bytes:
    """Return the numbers of a stored picture with zeros for those that only serve in sums: the first HTML goes without them."""
    found, at = bytearray(numbers), 0
    for picture in header.get("pictures", ()):
        chart = picture["chart"]
        if chart["kind"] != "matrices":
            at += 4 * len(header["names"][picture["rows"]]) * len(header["names"][picture["columns"]])
            continue
        for matrix in chart["matrices"]:
            size = NUMBER_BYTES[matrix["form"]] * matrix["rows"] * matrix["columns"]
            if matrix["form"] == "short":
                found[at : at + size] = bytes(size)
            at += size
    return bytes(found)


def _read_later_numbers() -> dict[str, bytes]:
    stored = {(page, level): read(page, level) for page in BOXES for level in (BASIC, ADVANCED)}
    return {
        f"{page}-{level}.bin": found[1] for (page, level), found in stored.items() if found and drawn_numbers(*found) != found[1]
    }


LATER_NUMBERS = ServedFiles("first-picture", _read_later_numbers)
"""All numbers of the pictures of which the first HTML has only those that are drawn."""


def _looked_at(header: dict[str, object], fields: StageFields, values: Mapping[str, object]) -> dict[str, object] | None:
    """Return the header of a stored picture for another view of it; None where that has to be computed."""
    first = fields.first_values
    looks = {one.name for one in fields.looks}
    others = {name for name, value in values.items() if value != first[name]}
    if not others:
        return header
    if others - looks or "pictures" in header:  # of pictures, only what is looked at first is stored
        return None
    return {**header, "view": header["view"] | {fields.names.get(name, name): values[name] for name in looks}}


def live_header(stored: Mapping, level: Mapping[str, str]) -> dict[str, object]:
    """Return a stored header as this server sends it. level: as links of the page name it."""
    header = {name: value for name, value in stored.items() if name != "texts"}
    header |= {"home": STAGE_FILES.address(), "view": dict(stored["view"])}
    header["address"] = {**stored["address"], "level": dict(level)}
    if "path" in header:
        header["path"] = _signed_path(stored)
    if "routes" in header:
        header["routes"] = {**stored["routes"], "path": _signed_path(stored["routes"])}
    return header


def _signed_path(routes: Mapping) -> str:
    """Return where the arcs of a stored picture are asked for."""
    model, text, bare, changes, *written, blank = routes["id"]
    return arcs_path(RunName(model, text, "", bare, read_interventions(changes), written=tuple(written)), blank)


@cache
def read(page: str, level: str) -> tuple[dict, bytes] | None:
    """Return header and numbers of a stored picture; None if it is missing, or of another checkpoint."""
    try:
        header, rest = split_message((FIRST_PICTURES / f"{page}-{level}.bin").read_bytes())
        return (header, rest) if header.pop("checkpoint") == _checkpoint_hash() else None
    except (OSError, ValueError, KeyError, CheckpointProblem):
        return None


def split_message(message: bytes) -> tuple[dict, bytes]:
    """Return header and numbers of a message to a stage; raise ValueError for what is none."""
    end = 4 + int.from_bytes(message[:4], "little")
    return json.loads(message[4:end]), message[end:]


def _checkpoint_hash() -> str:
    """Return the identity of the checkpoint: a hash of the hashes of its files."""
    files = {name: entry["sha256"] for name, entry in read_json(DEFAULT_MODEL / MANIFEST)["files"].items()}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def run(page: str, level: str) -> bytes:
    """Run the first view of a page, and return its picture as it is stored."""
    from streamlit.testing.v1 import AppTest  # imported here: no page needs these

    from pages.ui.shell.address import widget_key
    from pages.ui.stage.arcs import reached_arcs

    app = AppTest.from_file(MAIN, default_timeout=240)
    app.query_params[LEVEL] = level
    app.run()
    app.switch_page(f"{page}/page.py").run()
    messages = [one.proto.bytes for one in app.get("bidi_component") if "_stage_" in one.proto.component_name]
    header, rest = split_message(messages[0])
    header |= {"home": "", "checkpoint": _checkpoint_hash()}
    header["texts"] = {name: app.session_state[widget_key(page, name)] for name in BOXES[page]}
    header["address"].pop("level")
    for run in ("run", "before"):
        if isinstance(header.get(run), dict):
            header[run]["id"] = f"{ANY_RUN} {run}"
    if page == HOME:
        header["arcs"] = reached_arcs(RunName(catalogue.DEFAULT, header["text"], "", False), float(header["usualLeast"]))
    for signed in (header, header.get("routes", {})):  # by one server, for itself
        if "path" in signed:
            signed["path"] = ""
    return join(header, [np.frombuffer(rest, np.uint8)])


def main(arguments: list[str]) -> int:
    """Write all pictures; return the exit status: 2 for wrong usage."""
    if arguments:
        print("usage: python -m pages.ui.stage.first_picture")
        return 2
    FIRST_PICTURES.mkdir(exist_ok=True)
    for page in BOXES:
        for level in (BASIC, ADVANCED):
            (FIRST_PICTURES / f"{page}-{level}.bin").write_bytes(run(page, level))
    print(f"{FIRST_PICTURES.name} were written.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
