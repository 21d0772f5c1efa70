"""The export menu of a page, opened as its reader opens it; and the Python that it offers, run as its reader would run it."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from pages.ui.export.texts import FIGURE
from tests.support.serving import ROOT

KEEP = "\nimport numpy\nnumpy.save({!r}, numpy.asarray({}))\n"


def opened(app: AppTest, page: str, view: str = "", form: str = FIGURE) -> AppTest:
    """A page with one of its views open for export, in one form."""
    app.session_state[f"{page}_export"] = True
    app.session_state[f"{page}_export_form"] = form
    if view:
        app.session_state[f"{page}_export_view"] = view
    app.run()
    assert not app.exception
    return app


def computed(snippets: Sequence[tuple[str, Sequence[str]]], folder: Path, **settings: str) -> list[list[np.ndarray]]:
    """Run pieces of code one after the other as they stand; give what the expressions named with each are in its end.

    They run in a process of their own, in the root folder, without a network.
    """
    files = [
        [(expression, folder / f"{number}-{place}.npy") for place, expression in enumerate(expressions)]
        for number, (_, expressions) in enumerate(snippets)
    ]
    code = "\n".join(
        snippet + "".join(KEEP.format(str(file), expression) for expression, file in kept)
        for (snippet, _), kept in zip(snippets, files, strict=True)
    )
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TX_"))}
    run = subprocess.run(
        [sys.executable, "-"],
        input=code,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        encoding="utf-8",
        env=own | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"} | settings,
    )
    assert run.returncode == 0, run.stderr
    return [[np.load(file) for _, file in kept] for kept in files]
