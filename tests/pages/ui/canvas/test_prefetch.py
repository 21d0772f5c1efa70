"""Prefetched pictures and head maps are those of the page's own answer, for nobody else, as long as somebody holds them."""

import gc
import threading
import time
from urllib.parse import urlencode

import numpy as np
import pytest
from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response
from streamlit.testing.v1 import AppTest

from pages.ui.canvas import prefetch
from pages.ui.canvas.packing import codes, pack
from pages.ui.shell import cache
from tests.support.drawings import sent_to, unpacked
from tx_core.engine import threads
from tx_core.engine.catalogue import DEFAULT
from tx_core.settings import host_settings

COMPONENTS = {"heads_and_blocks": "matrix_row"}


def drawn(app: AppTest, page: str) -> tuple[dict, bytes]:
    """Return what the first picture of a page was sent, and where what it leads to is found."""
    assert not app.exception
    header, cells = sent_to(app, COMPONENTS[page])[0]
    return header, cells


def picture_after(path: str, control: str, value: str) -> Response:
    name = path.removeprefix(f"{prefetch.PATH}/")
    query = urlencode({"control": control, "value": value}).encode()
    return prefetch.answer(Request({"type": "http", "path_params": {"name": name}, "query_string": query}))


CHANGES = [
    ("heads_and_blocks", {}, "layer", "3", {"layer": "4"}),
    ("heads_and_blocks", {"part": "feed"}, "bend", "1", {"bend": "relu"}),
    ("heads_and_blocks", {"part": "norm"}, "norm", "2", {"norm": "embeddings"}),
]
"""A page, the view from which a control of it is used, its value, and the link of the view that it leads to."""


@pytest.mark.parametrize(("page", "begin", "control", "value", "link"), CHANGES)
def test_what_a_control_leads_to_is_what_the_page_then_shows(open_app, page, begin, control, value, link):
    header, _ = drawn(open_app(page, **begin), page)
    assert f"{page}_{control}" in header["prefetch"]["controls"]
    answer = picture_after(header["prefetch"]["path"], f"{page}_{control}", value)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    seen, cells = unpacked(answer.body)
    shown, numbers = drawn(open_app(page, **begin | link), page)
    assert cells == numbers
    assert seen["prefetch"] == {"id": shown["prefetch"]["id"]}
    assert {**seen, "prefetch": None} == {**shown, "prefetch": None}


@pytest.mark.parametrize(
    ("part", "control", "value", "link"),
    [
        ("feed", "bend", "1", {"bend": "relu"}),
        ("feed", "layer", "2", {"layer": "3"}),
        ("norm", "norm", "2", {"norm": "embeddings"}),
        ("norm", "layer", "1", {"layer": "2"}),
    ],
)
def test_so_it_is_in_the_other_parts_of_a_block(open_app, part, control, value, link):
    before = open_app("heads_and_blocks", part=part)
    answer = picture_after(drawn(before, "heads_and_blocks")[0]["prefetch"]["path"], f"heads_and_blocks_{control}", value)
    then = open_app("heads_and_blocks", part=part, **link)
    assert unpacked(answer.body)[0]["prefetch"]["id"] == drawn(then, "heads_and_blocks")[0]["prefetch"]["id"]


def test_where_all_places_to_compute_in_are_taken_nothing_is_foreseen_and_nobody_waits(open_app, host, monkeypatch):
    host(slot_timeout_seconds=200)
    path = drawn(open_app("heads_and_blocks", text="Nobody has read this sentence."), "heads_and_blocks")[0]["prefetch"]["path"]
    monkeypatch.setattr(cache, "_entries", LRUCache(1))  # so that the model has to be run again
    monkeypatch.setattr(threads, "_page_slots", held := threading.BoundedSemaphore(1))
    with held:
        began = time.monotonic()
        assert picture_after(path, "heads_and_blocks_layer", "1").status_code == 204
        assert time.monotonic() - began < host_settings().slot_timeout_seconds / 2
    assert picture_after(path, "heads_and_blocks_layer", "1").status_code == 200


LAYERS, HEADS = 3, 2


def weights(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(5), size=(LAYERS, HEADS, 5)).astype(np.float32)


def head_map(path: str, head: str) -> Response:
    name = path.removeprefix(f"{prefetch.PATH}/")
    query = urlencode({"head": head}).encode()
    return prefetch.answer(Request({"type": "http", "path_params": {"name": name}, "query_string": query}))


def test_each_head_is_sent_as_the_canvas_takes_it():
    held = weights()
    path = prefetch.offer_head_maps(("each",), held)
    for layer in range(LAYERS):
        for head in range(HEADS):
            answer = head_map(path, f"{layer}-{head}")
            assert answer.status_code == 200
            assert answer.body == pack({}, codes(held[layer, head]))
            assert "private" in answer.headers["cache-control"]


def test_a_path_of_maps_is_of_one_view_and_cannot_be_made_elsewhere(monkeypatch):
    one, other = weights(1), weights(2)
    path = prefetch.offer_head_maps(("embedded", "a secret sentence"), one)
    assert prefetch.offer_head_maps(("embedded", "another sentence"), other) != path
    assert prefetch.offer_head_maps(("embedded", "a secret sentence"), one) == path
    assert "secret" not in path
    monkeypatch.setattr(prefetch, "_secret", b"of another server")
    assert prefetch.offer_head_maps(("embedded", "a secret sentence"), one) != path


def test_the_maps_of_a_page_are_those_of_its_run_and_go_when_the_cache_lets_the_run_go():
    trace = cache.trace_with(cache.engine(DEFAULT), "Maps are at hand.", "")
    path = prefetch.offer_head_maps(("a page", "a run"), trace.attention.weights)
    answer = head_map(path, "1-2")
    assert answer.body == pack({}, codes(trace.attention.weights[1, 2]))
    del trace
    cache._entries.clear()
    gc.collect()
    assert head_map(path, "1-2").status_code == 204
