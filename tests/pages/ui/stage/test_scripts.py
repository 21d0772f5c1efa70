"""The scripts of the stages: the committed bundle is that of the sources, and a browser may keep what it was served."""

import re
from hashlib import sha256

import pytest

from pages.ui.stage.scripts import STAGE_FILES
from tests.support.serving import ROOT, fetch

ASSETS = ROOT / "assets"
BUNDLES = sorted((ASSETS / "stage" / "dist").glob("*.js"))


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_a_bundle_is_of_the_sources_as_they_are(bundle):
    first = bundle.read_text("utf-8").partition("\n")[0]
    _, digest, *sources = first.split()
    made = sha256()
    for source in sources:
        made.update(f"{source}\0".encode() + (ASSETS / source).read_bytes() + b"\0")
    assert digest == made.hexdigest(), "run `node assets/stage/build.mjs` and commit what it writes"


def test_every_text_that_a_script_names_is_handed_to_it():
    start = STAGE_FILES.files["start-attention.js"]
    named = set()
    for path in (ASSETS / "stage").rglob("*.js"):
        if path.parent.name != "dist":
            named |= set(re.findall(r"TEXTS\.(\w+)", path.read_text("utf-8")))
    assert {name for name in named if f'"{name}":' not in start} == set()


def test_scripts_and_styles_are_served_below_their_version_only(server: str):
    for name, kind in (("attention.js", "text/javascript"), ("start-attention.js", "text/javascript"), ("stage.css", "text/css")):
        status, headers, body = fetch(f"{server}/{STAGE_FILES.address(name)}")
        assert (status, body.decode()) == (200, STAGE_FILES.files[name])
        assert headers["content-type"].startswith(kind)
        assert "immutable" in headers["cache-control"]
    for path in (f"{STAGE_FILES.version}/page.js", f"{'0' * 32}/attention.js"):
        status, headers, _ = fetch(f"{server}/stage/{path}")
        assert (status, headers["cache-control"]) == (404, "no-store")
