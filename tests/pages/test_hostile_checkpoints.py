"""A damaged or hostile checkpoint in the host's own directory never gives a traceback on a page."""

import shutil
from pathlib import Path

import pytest

from tests.support.drawings import problems
from tests.support.hostile_checkpoints import HARMLESS, HOSTILE, TEXT

pytestmark = pytest.mark.ci

CASES = [(family, name) for family in HARMLESS for name in HOSTILE if name != "no settings"]  # which is not even offered
PAGES = {"attention": TEXT, "fill_mask": f"{TEXT} ___"}


@pytest.fixture
def offered(checkpoint, tmp_path: Path, host):
    """Damage a copy of a family's checkpoint and offer it as local:odd."""

    def offer(family: str, name: str) -> None:
        directory = Path(shutil.copytree(checkpoint(family), tmp_path / "models" / "odd"))
        host(models_dir=tmp_path / "models")
        HOSTILE[name](directory)

    return offer


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("family", "name"), CASES)
def test_a_page_says_what_is_wrong_with_a_hostile_checkpoint(open_app, offered, page: str, family: str, name: str):
    offered(family, name)
    app = open_app(page, model="local:odd", text=PAGES[page])
    assert not app.exception
    assert (problems(app) != []) == (name not in HARMLESS[family])
