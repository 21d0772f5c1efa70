"""The picture of a first view that is kept beside the model: equal to what a run sends, and in the first HTML of its page."""

import json
from pathlib import Path

import numpy as np
import pytest

from pages import contents
from pages.ui.shell.level import ADVANCED, BASIC
from pages.ui.stage import first_picture
from tests.support.serving import fetch
from tests.support.staged import matrices_of, pictures_of, staged

STORED = first_picture.FIRST_PICTURES / "attention-advanced.bin"


@pytest.fixture(autouse=True)
def read_anew():
    first_picture.read.cache_clear()
    yield
    first_picture.read.cache_clear()


def differences(one: dict, other: dict) -> list[str]:
    """Return where two headers differ, numbers by more than processors do."""
    leaves = leaves_of(one), leaves_of(other)
    return [name for name in leaves[0] | leaves[1] if leaves[0].get(name) != pytest.approx(leaves[1].get(name), abs=5e-3)]


def leaves_of(header: dict) -> dict[str, object]:
    """Return the leaves of a header by where they stand, so that numbers are compared as numbers."""
    leaves = {}

    def walk(where: str, value: object) -> None:
        if isinstance(value, dict | list):
            for name, one in value.items() if isinstance(value, dict) else enumerate(value):
                walk(f"{where}/{name}", one)
        else:
            leaves[where] = value

    walk("", header)
    return leaves


@pytest.mark.parametrize("level", [BASIC, ADVANCED])
@pytest.mark.parametrize("page", first_picture.BOXES)
def test_what_is_stored_is_what_a_run_sends(page: str, level: str):
    """To one of 65,536 steps, of matrices to a thousandth: processors round differently."""
    stored = first_picture.split_message((first_picture.FIRST_PICTURES / f"{page}-{level}.bin").read_bytes())
    sent = first_picture.split_message(first_picture.run(page, level))
    assert differences(stored[0], sent[0]) == [], "run `python -m pages.ui.stage.first_picture` and commit what it writes"
    if "pictures" in stored[0]:
        for found, expected in zip(pictures_of(*stored), pictures_of(*sent), strict=True):
            for name in found["values"] if isinstance(found["values"], dict) else [...]:
                np.testing.assert_allclose(found["values"][name], expected["values"][name], rtol=1e-3, atol=2e-3)
        return
    one, other = (np.frombuffer(numbers, "<u2").astype(int) for numbers in (stored[1], sent[1]))
    assert np.abs(one - other).max(initial=0) <= 1


@pytest.mark.parametrize("page", first_picture.BOXES)
def test_a_visitor_is_told_at_once_what_the_first_run_tells(page: str, open_app):
    early = early_view(page)
    app = open_app(page)
    sent = staged(app)
    told = json.loads(json.dumps(early.header))
    for name in ("run", "before"):  # the identity of a run is of the server that ran it
        for header in (told, sent):
            if isinstance(header.get(name), dict):
                header[name].pop("id")
    told.pop("arcs", None)
    assert differences(told, sent) == []
    assert list(early.texts.values()) == [app.session_state[f"{page}_{name}"] for name in first_picture.BOXES[page]]


def early_view(page: str, **asked: str):
    return first_picture.early_view(contents.page(page), asked, "")


def test_a_link_that_only_looks_shows_its_view_and_one_that_computes_a_frame_with_its_sentence():
    looks = early_view("attention", heads="1-1_4-2", focus="2")
    assert looks.header["view"]["heads"] == [(0, 0), (3, 1)] and looks.header["view"]["focus"] == 1
    assert early_view("attention").header["view"]["heads"] != looks.header["view"]["heads"]
    assert early_view("attention", utm_source="mail").header == early_view("attention").header
    first = early_view("self_attention").header
    own = {name: value for name, value in first["address"]["own"].items() if isinstance(value, str)}
    assert early_view("self_attention", **own, cell="matches-5-8").header == first
    for page, asked in (
        ("attention", {"text": "A cat."}),
        ("start", {"changes": "off~5"}),
        ("self_attention", {"cell": "scores-1-1"}),
        ("masks", {"kind": "padding"}),
        ("compare", {"text_b": "A cat."}),
    ):
        view = early_view(page, **asked)
        assert view.header is None, page
        assert set(asked.values()) & {"A cat."} <= set(view.texts.values())


def test_what_streamlits_page_has_to_explain_first_is_left_to_it():
    assert early_view("attention", heads="none") is None
    assert early_view("vectors") is None


@pytest.mark.parametrize(
    ("asked", "remembered", "level"),
    [({}, "", BASIC), ({}, ADVANCED, ADVANCED), ({"level": BASIC}, ADVANCED, BASIC), ({"level": "x"}, "x", BASIC)],
)
def test_the_level_is_that_of_the_link_then_that_of_the_last_visit(asked, remembered, level):
    view = first_picture.early_view(contents.page("start"), asked, remembered)
    assert (view.level, view.header["level"]) == (level, level)


def test_numbers_that_only_serve_in_sums_come_behind_the_picture(server):
    header, numbers = first_picture.read("self_attention", BASIC)
    early = early_view("self_attention", level=BASIC)
    drawn, whole = (matrices_of(header["pictures"][0]["chart"], one) for one in (early.numbers, numbers))
    forms = {one["name"]: one["form"] for one in header["pictures"][0]["chart"]["matrices"]}
    assert {name for name in whole if not np.array_equal(drawn[name], whole[name])} == {
        name for name in forms if forms[name] == "short"
    }
    assert fetch(f"{server}/{early.rest}")[2] == numbers
    assert early_view("attention").rest == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_bytes(STORED.read_bytes().replace(b'"checkpoint":"', b'"checkpoint":"0')),
        lambda file: file.write_bytes(STORED.read_bytes()[:100]),
        lambda file: file.write_bytes(b""),
        lambda file: file,
    ],
    ids=["another checkpoint", "cut short", "empty", "missing"],
)
def test_a_picture_of_another_checkpoint_or_a_damaged_one_is_left_alone(change, tmp_path: Path, monkeypatch):
    change(tmp_path / STORED.name)
    monkeypatch.setattr(first_picture, "FIRST_PICTURES", tmp_path)
    assert first_picture.read("attention", ADVANCED) is None
