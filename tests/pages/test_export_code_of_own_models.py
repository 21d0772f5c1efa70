"""The Python that pages offer for models that only this host has: it says first what it needs, and then runs."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.support.exports import exported_code
from tests.support.snippets import computed
from tx_core.engine import catalogue

pytestmark = pytest.mark.ci

Open = Callable[..., AppTest]
LOCAL = {"model": "local:own bert", "text": "A cat sat on the mat."}


@pytest.fixture
def models_dir(tmp_path: Path, checkpoint: Callable[[str], Path], host: Callable[..., None]) -> Path:
    """A host's directory with one model."""
    root = tmp_path / "models"
    shutil.copytree(checkpoint("bert"), root / "own bert")
    host(models_dir=root)
    return root


def test_code_of_a_hosts_own_model_says_what_it_needs_and_runs_with_it(open_app: Open, models_dir: Path, tmp_path: Path):
    app = open_app("attention", **LOCAL, heads="1-2")
    project, transformers = (exported_code(app, "attention", "", kind) for kind in ("project", "transformers"))
    weights = catalogue.load(LOCAL["model"]).trace(LOCAL["text"]).attention.weights[0, 1]
    for code, needed in ((project, "TX_MODELS_DIR"), (transformers, "models/")):
        title, _origin, comment = code.splitlines()[:3]
        assert title.startswith("# ")
        assert comment.startswith("# ")
        assert needed in comment
        assert "'own bert'" in comment
    with_transformers = transformers.replace('"models/own bert"', repr(str(models_dir / "own bert")))
    asked = [(code, ["weights"]) for code in (project, with_transformers)]
    for (found,) in computed(asked, tmp_path, TX_MODELS_DIR=str(models_dir)):
        np.testing.assert_allclose(found, weights, atol=1e-5, rtol=0)
    with pytest.raises(AssertionError, match=re.escape(catalogue.NEEDS_DIRECTORY.format(folder="own bert"))):
        computed(asked[:1], tmp_path)


def test_code_of_a_hosts_own_difference_reads_the_model_that_it_is_a_difference_from(open_app: Open, models_dir: Path, tmp_path):
    for name in ("film_reviews", "embedded"):
        shutil.copytree(catalogue.MODELS / name, models_dir / name)
    view = LOCAL | {"model": "local:film_reviews"}
    code = exported_code(open_app("attention", **view, heads="1-2"), "attention", "", "transformers")
    for name in ("film_reviews", "embedded"):
        code = code.replace(f'"models/{name}', f'"{models_dir / name}')
    weights = catalogue.load(view["model"]).trace(view["text"]).attention.weights[0, 1]
    ((found,),) = computed([(code, ["weights"])], tmp_path)
    np.testing.assert_allclose(found, weights, atol=1e-5, rtol=0)


def test_code_of_a_model_beyond_the_catalogue_says_what_it_needs(open_app: Open, host, checkpoint, monkeypatch):
    host(any_model=1)
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint("bert"))
    any_model, known = (open_app("attention", model=name, text="A cat sat.") for name in ("someone/model", "embedded"))
    assert f"# {catalogue.NEEDS_ANY_MODEL}" in exported_code(any_model, "attention", "", "project")
    assert "TX_" not in exported_code(known, "attention", "", "project")
