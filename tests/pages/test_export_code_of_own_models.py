"""The Python that pages offer for models that only this host has: it says first what it needs, and then runs."""

import re
from collections.abc import Callable
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.support.exports import exported_code
from tx_core.engine import catalogue
from tx_core.errors import ModelUnavailable

Open = Callable[..., AppTest]
LOCAL = {"model": "local:own bert", "text": "A cat sat on the mat."}


def test_code_of_a_hosts_own_model_says_what_it_needs_and_runs_with_it(open_app: Open, offer, tmp_path: Path, host):
    offer("bert", "own bert")
    app = open_app("attention", **LOCAL, heads="1-2")
    code = exported_code(app, "attention")
    weights = catalogue.load(LOCAL["model"]).trace(LOCAL["text"]).attention.weights[0, 1]
    title, _origin, comment = code.splitlines()[:3]
    assert title.startswith("# ")
    assert comment.startswith("# ")
    assert "TX_MODELS_DIR" in comment
    assert "'own bert'" in comment
    (tmp_path / "code.py").write_text(code, "utf-8")
    np.testing.assert_allclose(run_path(str(tmp_path / "code.py"))["weights"], weights, atol=1e-5, rtol=0)
    host(models_dir="")
    with pytest.raises(ModelUnavailable, match=re.escape(catalogue.NEEDS_DIRECTORY.format(folder="own bert"))):
        run_path(str(tmp_path / "code.py"))


def test_code_of_a_model_beyond_the_catalogue_says_what_it_needs(open_app: Open, host, checkpoint, monkeypatch):
    host(any_model=1)
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint("bert"))
    any_model, known = (open_app("attention", model=name, text="A cat sat.") for name in ("someone/model", "embedded"))
    assert f"# {catalogue.NEEDS_ANY_MODEL}" in exported_code(any_model, "attention")
    assert "TX_" not in exported_code(known, "attention")
