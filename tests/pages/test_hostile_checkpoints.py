"""A damaged or hostile checkpoint in the host's own directory never gives a traceback on a page."""

import shutil
from pathlib import Path

import pytest

from tests.support.drawings import problems
from tests.support.hostile_checkpoints import HARMLESS, HOSTILE, TEXT

pytestmark = pytest.mark.ci

CASES = ("weights cut in half", "a tokenizer's normaliser that panics", "labels that are none")
"""Of all kinds, which are put to the core: one that is refused, one that brings a library down, one that does no harm."""


@pytest.fixture
def offered(checkpoint, tmp_path: Path, host):
    """Damage a copy of a checkpoint and offer it as local:odd."""

    def offer(name: str) -> None:
        directory = Path(shutil.copytree(checkpoint("bert"), tmp_path / "models" / "odd"))
        host(models_dir=tmp_path / "models")
        HOSTILE[name](directory)

    return offer


@pytest.mark.parametrize("name", CASES)
def test_a_page_says_what_is_wrong_with_a_hostile_checkpoint(open_app, offered, name: str):
    offered(name)
    app = open_app("fill_mask", model="local:odd", text=f"{TEXT} ___")
    assert not app.exception
    assert (problems(app) != []) == (name not in HARMLESS["bert"])
