"""The scripts of our drawings: the committed bundles are those of the sources, and a browser may keep what it was served."""

import json
import re
from hashlib import sha256

import pytest

from pages.ui.shell.texts import PART_NOT_LOADED
from pages.ui.stage.scripts import NOTEBOOK, STAGE_FILES, notebook_header
from tests.support.serving import ROOT, fetch

ASSETS = ROOT / "assets"
BUNDLES = sorted((ASSETS / "stage" / "dist").glob("*.js"))
SOURCES = [path for folder in ("stage", "canvas") for path in (ASSETS / folder).rglob("*.js") if path.parent.name != "dist"]
MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
LOADING = ("http:", "https:", "@import", 'url("', "url('", "url(/", "url(h")


def test_bundles_are_of_the_sources_as_they_are_and_every_source_is_in_one():
    bundled = set()
    for bundle in BUNDLES:
        _, digest, *sources = bundle.read_text("utf-8").partition("\n")[0].split()
        made = sha256()
        for source in sources:
            made.update(f"{source}\0".encode() + (ASSETS / source).read_bytes() + b"\0")
        assert digest == made.hexdigest(), f"{bundle.name}: run `node assets/stage/build.mjs` and commit what it writes"
        bundled |= set(sources)
    assert bundled == {path.relative_to(ASSETS).as_posix() for path in SOURCES}


def test_a_notebook_has_the_header_as_it_is():
    assert NOTEBOOK.read_text("utf-8") == notebook_header(), "run `python -m pages.ui.stage.scripts`, and commit what it writes"


def test_every_text_that_a_script_names_is_handed_to_it():
    named = {name for path in SOURCES for name in re.findall(r"TEXTS\.(\w+)", path.read_text("utf-8"))}
    assert {name for name in named if f'"{name}":' not in STAGE_FILES.files["texts.js"]} == set()


def test_no_drawing_makes_markup_from_text_or_loads_from_elsewhere():
    texts = {
        path: path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "") for path in (*SOURCES, *ASSETS.rglob("*.css"))
    }
    assert [(path.name, word) for path, text in texts.items() for word in (*MARKUP, *LOADING) if word in text] == []


@pytest.mark.parametrize(("name", "kind"), [("attention.js", "javascript"), ("texts.js", "javascript"), ("question.css", "css")])
def test_scripts_and_styles_are_served_below_their_version_and_kept_for_good(server: str, name: str, kind: str):
    for repeated in ("", "-5"):  # a browser never asks again for an address that failed it once
        status, headers, body = fetch(f"{server}/stage/{STAGE_FILES.version}{repeated}/{name}")
        assert (status, body.decode()) == (200, STAGE_FILES.files[name])
        assert headers["content-type"].startswith(f"text/{kind}")
        assert "immutable" in headers["cache-control"]


@pytest.mark.parametrize("path", ["VERSION/page.js", f"{'0' * 32}/attention.js", "-1/attention.js"])
def test_any_other_address_is_answered_with_what_to_do_and_not_kept(server: str, path: str):
    status, headers, _ = fetch(f"{server}/stage/{path.replace('VERSION', STAGE_FILES.version)}")
    assert (status, headers["cache-control"]) == (404, "no-store")


def test_no_drawing_is_sent_its_script_or_styles(open_app):
    sent = [element.proto for element in open_app("learn", lesson="path").get("bidi_component")]
    drawings = [one for one in sent if one.component_name.startswith("attention_explorer_")]
    assert drawings
    for drawing in drawings:
        arguments = re.search(r"fetchDrawing\((.*)\)\);", drawing.js_content)[1]
        path, names, styles, failed = json.loads(f"[{arguments}]")
        assert {*names, *styles} < STAGE_FILES.files.keys()
        assert (path, failed) == (STAGE_FILES.address().rstrip("/"), PART_NOT_LOADED)
        assert len(drawing.js_content + drawing.css_content) < 1_000
