"""Components are sent where their script and styles are found, never these; what comes back from a reader is read with care."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from starlette.requests import Request
from starlette.responses import Response

from pages.ui.shell.texts import PART_NOT_LOADED
from pages.ui.stage import component
from tests.support.apart import run_apart

FETCHED = re.compile(r"fetchDrawing\((.*)\)\);$", re.MULTILINE)


def test_no_drawing_is_sent_its_script_or_styles(open_app):
    drawings = [element.proto for element in open_app("learn", lesson="path").get("bidi_component")]
    ours = [drawing for drawing in drawings if drawing.component_name.startswith("attention_explorer_")]
    assert ours
    for drawing in ours:
        path, names, styles, failed = json.loads(f"[{FETCHED.search(drawing.js_content)[1]}]")
        assert names == list(component.modules_of(names[-1]))
        assert styles
        assert set(styles) < set(component.style_sheets())
        assert path == f"{component.PATH}/{component.version()}"
        assert failed == PART_NOT_LOADED
        assert len(drawing.js_content + drawing.css_content) < 1_000


DRAWINGS = [name for name, source in component.sources().items() if re.search("^export default", source, re.MULTILINE)]
EXPORT = re.compile(r"^export (default )?((?:async )?function|const) (\w+)", re.MULTILINE)
MARKUP = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
LOADING = ("http:", "https:", "@import", 'url("', "url('", "url(/", "url(h")


def test_a_choice_is_read_and_nonsense_is_none(monkeypatch):
    sent = (
        {"map": {"focus": {"value": 3, "at": 17}}},
        {},
        {"map": None},
        {"map": 3},
        {"map": {}},
        {"map": {"focus": {"at": "x"}}},
    )
    found = []
    for state in sent:
        monkeypatch.setattr(st, "session_state", state)
        found.append(component.component_value("map", "focus"))
    assert found == [3] + [None] * 5


def answered(version: str, name: str, *headers: tuple[bytes, bytes]) -> Response:
    scope = {"type": "http", "path_params": {"version": version, "name": name}, "headers": [*headers]}
    return run_apart(component.answer(Request(scope)))


@pytest.fixture
def changed(tmp_path: Path, monkeypatch) -> Iterator[Path]:
    """A copy of the drawings that a test may change."""
    monkeypatch.setattr(component, "CANVAS", shutil.copytree(component.CANVAS, tmp_path / "canvas"))
    forget()
    yield component.CANVAS
    forget()


def forget() -> None:
    for cached in (
        component.sources,
        component.version,
        component.modules_of,
        component.style_sheets,
    ):
        cached.cache_clear()


@pytest.mark.parametrize(("name", "kind"), [("core/bytes.js", "javascript"), ("question/question.css", "css")])
@pytest.mark.parametrize("suffix", ["", "-5"])
def test_a_file_is_served_as_it_is_below_the_version_and_kept_for_good(name: str, kind: str, suffix: str):
    answer = answered(component.version() + suffix, name)
    assert answer.body == (component.CANVAS / name).read_bytes()
    assert answer.headers["content-type"].startswith(f"text/{kind}")
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("name", ["", "x.js", "../../../app.py", "core/../core/bytes.js", "core", "x.css", "a" * 10_000])
def test_any_other_name_or_version_is_answered_with_what_to_do_and_not_kept(name: str):
    answer = answered(component.version(), name)
    assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")
    assert answer.body.decode() == component.GONE
    assert [answered(version, "core/bytes.js").status_code for version in ("", "-1", "0" * 32)] == [404] * 3


@pytest.mark.parametrize("name", ["core/bytes.js", "question/question.css"])
def test_the_version_depends_on_every_file_and_nothing_else(changed: Path, name: str):
    before = component.version()
    forget()
    assert component.version() == before
    (changed / name).write_text("/* another */\n", encoding="utf-8")
    forget()
    assert component.version() != before


@pytest.mark.parametrize("name", component.sources())
def test_a_module_imports_what_another_one_exports_and_uses_all_of_it(name: str):
    source = component.sources()[name]
    for names, _ in component.IMPORT.findall(source):
        for imported in names.split(","):
            assert len(re.findall(rf"\b{imported.split(' as ')[-1].strip()}\b", source)) > 1
    for (names, _), needed in zip(component.IMPORT.findall(source), component.imports_of(name), strict=True):
        exported = {local for default, _, local in EXPORT.findall(component.sources()[needed]) if not default}
        assert {imported.split(" as ")[0].strip() for imported in names.split(",")} <= exported


def test_every_module_is_part_of_a_drawing_or_of_a_stage():
    bundles = [path.read_text("utf-8").partition("\n")[0] for path in (component.CANVAS.parent / "stage" / "dist").glob("*.js")]
    staged = {source.removeprefix("canvas/") for line in bundles for source in line.split() if source.startswith("canvas/")}
    assert staged | {module for name in DRAWINGS for module in component.modules_of(name)} == set(component.sources())


def test_no_drawing_makes_markup_from_text_or_loads_from_elsewhere():
    texts = {
        path: path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        for path in component.CANVAS.rglob("*")
        if path.is_file()
    }
    assert [(path.name, word) for path, text in texts.items() for word in (*MARKUP, *LOADING) if word in text] == []
