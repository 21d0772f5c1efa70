"""The picture of a page's first view, kept beside the model, and drawn while that is being loaded.

Importing torch is the slowest part of a start, and a first visitor need not wait for it. `python -m pages.ui.stage.first_picture`
stores the pictures again, after a change of the model or of what a stage is told; tests hold them equal to what a run sends.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import streamlit as st

from pages.ui.shell import readiness
from pages.ui.shell.address import LEAD, LESSON, PLACE, ROOM, shows_step, widget_key
from pages.ui.shell.fields import StageFields
from pages.ui.shell.level import ADVANCED, BASIC, LEVEL, LEVEL_NOW
from pages.ui.stage.mount import Reported, mount, origin
from pages.ui.stage.packing import RunName
from tx_core.analysis.packing import join
from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import MANIFEST, read_json
from tx_core.errors import CheckpointProblem

PAGES = ("start", "attention", "fill_mask", "self_attention")
DEFAULT_MODEL = catalogue.MODELS / catalogue.DEFAULT
FIRST_PICTURES = DEFAULT_MODEL / "first_pictures"
MAIN = Path(__file__).parents[2] / "main.py"
ANY_RUN = "first picture"
"""The identity of a stored run: that of a real one depends on the server."""
LIVE = ("page", "home", "arrival", "hidden", "level", "alone", "linkProblem", "awaited", "follows", "origin")
"""What a stage is told that depends on the server or the visitor: it is not stored."""


def show_first_picture(page: str, fields: StageFields, take: Callable[[Reported], None]) -> None:
    """Draw the stored picture and end the run, where `draw_first_picture` does; else do nothing."""
    if draw_first_picture(page, fields, take):
        st.stop()


def draw_first_picture(page: str, fields: StageFields, take: Callable[[Reported], None]) -> bool:
    """Draw the stored picture where the model is being loaded and the first view is asked for; return whether it did.

    The page runs again once the model is there. fields, take: as of `mount`, where `take` is `on_change`.
    """
    level = st.session_state.get(LEVEL_NOW, ADVANCED)
    if not readiness.is_awaited() or not _is_first_view(page, fields) or (stored := read(page, level)) is None:
        return False
    header, rest = stored

    def pack(told: Mapping[str, object]) -> bytes:
        live = {name: told[name] for name in LIVE if name in told}
        address = {**header["address"], "level": told["address"]["level"]}
        told = {**header, **live, "address": address, "origin": origin(catalogue.DEFAULT), "isStored": True}
        return join(told, [np.frombuffer(rest, np.uint8)])

    mount(page, fields, pack, take)
    return True


def _is_first_view(page: str, fields: StageFields) -> bool:
    """Return whether every control is as on a first visit, and no lesson or class is taken."""
    if {LESSON, ROOM, LEAD} & st.query_params.keys() or PLACE in st.session_state or shows_step():
        return False
    values = {field.name: st.session_state.get(widget_key(page, field.name), field.default) for field in fields.all}
    return values == {field.name: fields.first.get(field.name, field.default) for field in fields.all}


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

    from pages.ui.stage.arcs import reached_arcs

    app = AppTest.from_file(MAIN, default_timeout=240)
    app.query_params[LEVEL] = level
    app.run()
    app.switch_page(f"{page}/page.py").run()
    messages = [one.proto.bytes for one in app.get("bidi_component") if "_stage_" in one.proto.component_name]
    header, rest = split_message(messages[0])
    header = {name: value for name, value in header.items() if name not in LIVE} | {"checkpoint": _checkpoint_hash()}
    header["address"].pop("level")
    if isinstance(header.get("run"), dict):
        header["run"]["id"] = ANY_RUN
    if page == "start":
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
    for page in PAGES:
        for level in (BASIC, ADVANCED):
            (FIRST_PICTURES / f"{page}-{level}.bin").write_bytes(run(page, level))
    print(f"{FIRST_PICTURES.name} were written.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
