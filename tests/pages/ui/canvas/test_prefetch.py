"""Prefetched head maps are those of the page's own answer, for nobody else, as long as somebody holds them."""

import gc
from urllib.parse import urlencode

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from pages.ui.canvas import prefetch
from pages.ui.canvas.packing import codes, pack
from pages.ui.shell import cache
from tx_core.engine.catalogue import DEFAULT

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
