"""Pictures that the browser draws before the page has answered: the very ones of the page's own answer, for nobody else."""

import gc
import threading
import time
from urllib.parse import urlencode

import pytest
from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response
from streamlit.testing.v1 import AppTest

from pages.ui.canvas import foresight
from pages.ui.canvas.mask_grid import mask_to_link, parse_mask
from pages.ui.shell import cache
from tests.support.drawings import sent_to, unpacked
from tx_core.engine import device

COMPONENTS = {"masks": "matrices", "positions": "matrices", "heads_and_blocks": "matrix_row", "self_attention": "matrix_row"}
KINDS = ("causal", "padding", "combined", "window", "none", "painted")
WAYS = ("sinusoidal", "learned", "shaw", "t5", "rotary", "alibi")
BITS = "1101" * 20 + "1"


def drawn(app: AppTest, page: str) -> tuple[dict, bytes]:
    """Give what the first picture of a page was sent, and where what it leads to is found."""
    assert not app.exception
    header, cells = sent_to(app, COMPONENTS[page])[0]
    return header, cells


def asked(path: str, control: str, told: str) -> Response:
    name = path.removeprefix(f"{foresight.PATH}/")
    query = urlencode({"control": control, "told": told}).encode()
    return foresight.answer(Request({"type": "http", "path_params": {"name": name}, "query_string": query}))


CHANGES = [
    *(
        ("masks", "kind", str(place), {"kind": kind} | ({"padding": "3"} if kind in ("padding", "combined") else {}))
        for place, kind in enumerate(KINDS)
    ),
    ("masks", "painted", BITS, {"kind": "painted", "mask": mask_to_link(parse_mask(BITS, 9))}),
    ("masks", "padding", "4", {"padding": "4"}),
    *(("positions", "scheme", str(place), {"scheme": way}) for place, way in enumerate(WAYS)),
    ("positions", "length", "128", {"length": "128"}),
    ("positions", "width", "6", {"width": "6"}),
    *(("heads_and_blocks", "layer", str(place), {"layer": str(place + 1)}) for place in range(4)),
    *(
        ("self_attention", "normalise", str(place), {"normalise": name})
        for place, name in enumerate(("softmax", "sparsemax", "hardmax"))
    ),
    *(("self_attention", "weights", str(place), {"weights": name}) for place, name in enumerate(("trained", "random", "none"))),
    ("self_attention", "layer", "3", {"layer": "4"}),
    ("self_attention", "head", "0", {"head": "1"}),
]


@pytest.mark.parametrize(("page", "control", "told", "link"), CHANGES)
def test_what_a_control_leads_to_is_what_the_page_then_shows(open_app, page, control, told, link):
    before = open_app(page)
    header, _ = drawn(before, page)
    assert f"{page}_{control}" in header["foresight"]["controls"]
    answer = asked(header["foresight"]["path"], f"{page}_{control}", told)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    seen, cells = unpacked(answer.body)
    shown, numbers = drawn(open_app(page, **link), page)
    assert cells == numbers
    assert seen["foresight"] == {"is": shown["foresight"]["is"]}
    assert {**seen, "foresight": None} == {**shown, "foresight": None}


@pytest.mark.parametrize(
    ("part", "control", "told", "link"),
    [
        ("feed", "bend", "1", {"bend": "relu"}),
        ("feed", "layer", "2", {"layer": "3"}),
        ("norm", "norm", "2", {"norm": "embeddings"}),
        ("norm", "layer", "1", {"layer": "2"}),
    ],
)
def test_so_it_is_in_the_other_parts_of_a_block(open_app, part, control, told, link):
    before = open_app("heads_and_blocks", part=part)
    answer = asked(drawn(before, "heads_and_blocks")[0]["foresight"]["path"], f"heads_and_blocks_{control}", told)
    then = open_app("heads_and_blocks", part=part, **link)
    assert unpacked(answer.body)[0]["foresight"]["is"] == drawn(then, "heads_and_blocks")[0]["foresight"]["is"]


def test_another_mask_is_foreseen_of_the_sentence_that_is_shown(open_app):
    app = open_app("masks", text="She wants a car.", layer="3", head="5")
    answer = asked(drawn(app, "masks")[0]["foresight"]["path"], "masks_kind", "4")
    then = open_app("masks", text="She wants a car.", layer="3", head="5", kind="none")
    assert unpacked(answer.body)[1] == drawn(then, "masks")[1]


@pytest.mark.parametrize(
    ("control", "told"),
    [
        ("masks_kind", "6"),
        ("masks_kind", "-1"),
        ("masks_kind", ""),
        ("masks_kind", "1٣"),
        ("masks_kind", "1" * 3000),
        ("masks_painted", "01"),
        ("masks_painted", "1" * 1999),
        ("masks_padding", "9"),
        ("masks_text", "hello"),
        ("kind", "1"),
        ("", ""),
    ],
)
def test_nonsense_leads_nowhere(open_app, control, told):
    app = open_app("masks")
    answer = asked(drawn(app, "masks")[0]["foresight"]["path"], control, told)
    assert (answer.status_code, answer.body) == (204, b"")


def test_what_has_no_room_for_padding_is_not_foreseen(open_app):
    app = open_app("masks", text=" ".join(["cat"] * 124))
    assert asked(drawn(app, "masks")[0]["foresight"]["path"], "masks_padding", "8").status_code == 204


def test_a_path_is_of_one_view_and_cannot_be_made_elsewhere(open_app, monkeypatch):
    one, other = (drawn(open_app("masks", text=text), "masks")[0]["foresight"]["path"] for text in ("a secret", "another"))
    assert one != other
    assert "secret" not in one
    monkeypatch.setattr(foresight, "_secret", b"of another server")
    assert drawn(open_app("masks", text="a secret"), "masks")[0]["foresight"]["path"] != one


def test_nothing_is_foreseen_any_more_when_nobody_looks_at_it(open_app):
    app = open_app("masks", text="Nobody else types this sentence.")
    path = drawn(app, "masks")[0]["foresight"]["path"]
    assert asked(path, "masks_kind", "3").status_code == 200
    del app
    gc.collect()
    assert asked(path, "masks_kind", "3").status_code == 204


def test_where_all_places_to_compute_in_are_taken_nothing_is_foreseen_and_nobody_waits(open_app, monkeypatch):
    path = drawn(open_app("self_attention", text="Nobody has read this sentence."), "self_attention")[0]["foresight"]["path"]
    monkeypatch.setattr(cache, "_kept", LRUCache(1))  # so that the model has to be run again
    monkeypatch.setattr(device, "_slots", slots := threading.BoundedSemaphore(1))
    with slots:
        began = time.monotonic()
        assert asked(path, "self_attention_layer", "1").status_code == 204
        assert time.monotonic() - began < 5
    assert asked(path, "self_attention_layer", "1").status_code == 200


def test_a_view_is_kept_for_questions_that_are_on_their_way(open_app):
    app = open_app("masks", text="On its way.")
    path = drawn(app, "masks")[0]["foresight"]["path"]
    app.segmented_control(key="masks_kind").set_value("window").run()
    assert drawn(app, "masks")[0]["foresight"]["path"] != path
    assert asked(path, "masks_kind", "4").status_code == 200
