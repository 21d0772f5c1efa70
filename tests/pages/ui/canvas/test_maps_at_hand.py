"""Maps that the browser fetches by itself: a view's own numbers, as long as somebody holds them, for whoever was shown it."""

import gc

import numpy as np
import pytest
from starlette.requests import Request
from starlette.responses import Response

from pages.ui.canvas import maps_at_hand
from pages.ui.canvas.packing import codes, pack
from pages.ui.shell import cache
from tx_core.engine.catalogue import DEFAULT

LAYERS, HEADS = 3, 2


def weights(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(5), size=(LAYERS, HEADS, 5)).astype(np.float32)


def fetched(path: str, head: str) -> Response:
    name = path.removeprefix(f"{maps_at_hand.PATH}/")
    return maps_at_hand.answer(Request({"type": "http", "path_params": {"name": name, "head": head}}))


def test_each_head_is_sent_as_the_canvas_takes_it():
    held = weights()
    path = maps_at_hand.offer(("each",), held)
    for layer in range(LAYERS):
        for head in range(HEADS):
            answer = fetched(path, f"{layer}-{head}")
            assert answer.status_code == 200
            assert answer.body == pack({}, codes(held[layer, head]))
            assert "private" in answer.headers["cache-control"]


@pytest.mark.parametrize("head", ["3-0", "0-2", "-1-0", "0", "0-0-0", "1٣-0", "00000-0", "a-b", "", "../0-0"])
def test_any_other_head_is_not_there(head: str):
    held = weights()
    path = maps_at_hand.offer(("other",), held)
    answer = fetched(path, head)
    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"
    assert held.size


def test_nothing_is_kept_that_nobody_holds():
    held = weights()
    path = maps_at_hand.offer(("kept",), held)
    assert fetched(path, "0-0").status_code == 200
    del held
    gc.collect()
    assert fetched(path, "0-0").status_code == 404


def test_a_path_is_of_one_view_and_cannot_be_made_elsewhere(monkeypatch):
    one, other = weights(1), weights(2)
    path = maps_at_hand.offer(("embedded", "a secret sentence"), one)
    assert maps_at_hand.offer(("embedded", "another sentence"), other) != path
    assert maps_at_hand.offer(("embedded", "a secret sentence"), one) == path
    assert "secret" not in path
    monkeypatch.setattr(maps_at_hand, "_secret", b"of another server")
    assert maps_at_hand.offer(("embedded", "a secret sentence"), one) != path


def test_the_maps_of_a_page_are_those_of_its_run_and_go_when_the_cache_lets_the_run_go(open_app):
    text = "Maps are at hand."
    app = open_app("attention", text=text)
    assert not app.exception
    trace = cache.trace(DEFAULT, text, "")
    found = [name for name, array in maps_at_hand._offered.items() if array is trace.attention.weights]
    assert len(found) == 1
    answer = fetched(f"{maps_at_hand.PATH}/{found[0]}", "1-2")
    assert answer.body == pack({}, codes(trace.attention.weights[1, 2]))
    del app, trace
    cache._kept.clear()
    gc.collect()
    assert fetched(f"{maps_at_hand.PATH}/{found[0]}", "1-2").status_code == 404
