"""Arcs that a stage asks for are those that the core measures, and only of runs that a page has named."""

import json

import numpy as np
import pytest
from starlette.requests import Request
from starlette.responses import Response

from pages.ui.stage import arcs
from pages.ui.stage.packing import sign
from pages.ui.stage.routes import move_blank
from tx_core.analysis.mixing import mixed_in
from tx_core.causal.cut_effects import cut_effects, head_cut_effects
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

TEXT = "Yesterday I [MASK] to school."
OFF = (Intervention("off", 1, 2),)


def answer(path: str, query: str) -> Response:
    name = path.removeprefix(f"{arcs.PATH}/")
    return arcs.send_arcs(Request({"type": "http", "path_params": {"name": name}, "query_string": query.encode()}))


def test_the_arcs_into_a_token_are_measured_in_the_run_that_the_page_shows():
    engine = catalogue.load(catalogue.DEFAULT)
    for changes in ((), OFF):
        sent = answer(arcs.arcs_path(TEXT, changes), "query=4")
        assert "immutable" in sent.headers["cache-control"]
        found = cut_effects(engine, TEXT, interventions=changes, queries=[4])
        assert json.loads(sent.body)["effect"] == pytest.approx(found.effect[:, 4], abs=1e-3)
        assert json.loads(sent.body)["after"] == pytest.approx(found.after[:, 4], abs=1e-4)


def test_the_heads_of_an_arc_are_measured_one_by_one():
    sent = json.loads(answer(arcs.arcs_path(TEXT, ()), "query=3&layer=4&key=1").body)
    assert sent["heads"] == pytest.approx(head_cut_effects(catalogue.load(catalogue.DEFAULT), TEXT, 4, 3, 1), abs=1e-3)


def test_what_is_mixed_in_is_sent_as_shares_of_a_row():
    engine = catalogue.load(catalogue.DEFAULT, weights=True)
    mixed = mixed_in(engine.model, engine.trace(TEXT, keep=("weights", "value", "hidden"), interventions=OFF))
    sent = json.loads(answer(arcs.arcs_path(TEXT, OFF), "mixed=1").body)["mixed"]
    np.testing.assert_allclose(sent, mixed / mixed.sum(-1, keepdims=True), atol=1e-4)


@pytest.mark.parametrize("query", ["", "query=x", "query=99", "query=-1", "query=3&layer=9&key=1", "query=3&layer=4&key=99"])
def test_what_the_run_does_not_have_is_not_found(query: str):
    assert answer(arcs.arcs_path(TEXT, ()), query).status_code == 404


def test_a_name_that_no_page_wrote_is_not_found():
    path = arcs.arcs_path(TEXT, ())
    assert answer(f"{path[:-1]}_", "query=3").status_code == 404
    assert answer(f"{arcs.PATH}/{sign(['somebody'])}", "query=3").status_code == 404


def test_a_click_moves_the_blank_and_brings_the_word_behind_it_back(monkeypatch):
    state = {"text": TEXT}
    monkeypatch.setattr("streamlit.session_state", state)
    move_blank("text", 4, "Birds sing.")  # something else was typed since
    move_blank("text", 2, TEXT)  # the blank itself
    assert state["text"] == TEXT
    move_blank("text", 4, TEXT)
    assert state["text"] == "Yesterday I went to [MASK]."
    move_blank("text", 0, state["text"])
    assert state["text"] == "[MASK] I went to school."
