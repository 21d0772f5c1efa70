"""Arcs that a stage asks for are those that the core measures, and only of runs that a page has named."""

import asyncio
import json

import numpy as np
import pytest
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from pages.ui.shell.admission import Turns
from pages.ui.stage import arcs
from pages.ui.stage.packing import RunName, sign
from pages.ui.stage.routes import move_blank
from tests.support.apart import run_apart
from tx_core.analysis.value_weighted import mixed_in
from tx_core.causal.cut_effects import cut_effects, head_effects
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

TEXT = "Yesterday I [MASK] to school."
OFF = (Intervention("off", 1, 2),)


def name_of(changes: tuple[Intervention, ...] = (), text: str = TEXT, model: str = catalogue.DEFAULT) -> RunName:
    return RunName(model, text, "", False, changes)


def answer(name: RunName, query: str, blank: int = 0) -> Response:
    path, shown = arcs.arcs_path(name, blank).split("?")
    given = path.removeprefix(f"{arcs.PATH}/")
    return asked(given, f"{shown}&{query}")


def asked(name: str, query: str = "") -> Response:
    request = Request({"type": "http", "path_params": {"name": name}, "query_string": query.encode()})
    return run_apart(arcs.send_arcs(request))


def test_the_arcs_into_a_token_are_measured_in_the_run_that_the_page_shows(engine):
    for changes in ((), OFF):
        sent = answer(name_of(changes), "query=4&from=2&to=5")
        assert "immutable" in sent.headers["cache-control"]
        found, told = cut_effects(engine, TEXT, interventions=changes, queries=[4]), json.loads(sent.body)
        assert told["layers"] == [2, 3, 4]
        assert told["effect"] == pytest.approx(found.effect[2:5, 4], abs=1e-3)
        assert told["after"] == pytest.approx(found.after[2:5, 4], abs=1e-4)


def test_the_heads_of_an_arc_and_of_a_layer_are_measured_one_by_one(engine):
    sent = json.loads(answer(name_of(), "query=3&layer=4&key=1").body)
    assert sent["heads"] == pytest.approx(head_effects(engine, TEXT, 4, (3, 1)), abs=1e-3)
    sent = json.loads(answer(name_of(), "layer=4").body)
    assert sent["heads"] == pytest.approx(head_effects(engine, TEXT, 4), abs=1e-3)


def test_what_is_mixed_in_is_sent_as_shares_of_a_row():
    engine = catalogue.load(catalogue.DEFAULT, weights=True)
    mixed = mixed_in(engine, engine.trace(TEXT, keep=("weights", "value", "hidden"), interventions=OFF))
    sent = json.loads(answer(name_of(OFF), "mixed=1").body)["mixed"]
    np.testing.assert_allclose(sent, mixed / mixed.sum(-1, keepdims=True), atol=1e-4)
    assert answer(name_of(text="Once upon a", model="writer"), "mixed=1").status_code == 404


@pytest.mark.parametrize(
    "query", ["query=x", "query=99", "query=3&to=7", "query=-1", "query=3&layer=9&key=1", "query=3&layer=4&key=99", "layer=-1"]
)
def test_what_the_run_does_not_have_is_not_found(query: str):
    assert answer(name_of(), query).status_code == 404


def test_a_name_that_no_page_wrote_is_not_found():
    for name in (f"{name_of().signed()[:-1]}_", sign(["somebody"])):
        assert asked(name).status_code == 404


def test_whoever_waits_too_long_for_others_is_sent_away_and_takes_no_thread(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arcs, "TURNS", Turns(slots=0, most_waiting=2, patience=0.01))
    monkeypatch.setattr(arcs, "run_in_threadpool", lambda *_: pytest.fail("a thread was taken"))
    assert answer(name_of(), "query=4").status_code == 503


def test_of_one_visitor_few_requests_wait_so_that_another_is_soon_answered(monkeypatch: pytest.MonkeyPatch):
    answered: list[str] = []

    async def measured(_function: object, _name: RunName, query: QueryParams) -> dict[str, str]:
        await asyncio.sleep(0)
        answered.append(query["query"])
        return {}

    async def ask(client: str, query: int) -> Response:
        scope = {"type": "http", "path_params": {"name": name_of().signed()}, "query_string": f"query={query}".encode()}
        return await arcs.send_arcs(Request(scope | {"client": (client, 1)}))

    async def both() -> list[Response]:
        return await asyncio.gather(*(ask("192.0.2.1", query) for query in range(49)), ask("192.0.2.2", 99))

    monkeypatch.setattr(arcs, "TURNS", turns := Turns(slots=2, most_waiting=2, patience=20))
    monkeypatch.setattr(arcs, "run_in_threadpool", measured)
    *greedy, other = run_apart(both())
    assert other.status_code == 200 and answered == ["0", "1", "99", "2", "3"]
    assert [sent.status_code for sent in greedy] == 4 * [200] + 45 * [503]
    assert all("retry-after" in sent.headers for sent in greedy[4:])
    assert (turns._free, turns._waiting, +turns._at_work) == (2, {}, {})


def test_a_click_moves_the_blank_and_brings_the_word_behind_it_back(monkeypatch):
    state = {"start_text": TEXT, "start_model": catalogue.DEFAULT, "start_nospecial": False, "start_noend": False}
    monkeypatch.setattr("streamlit.session_state", state)
    move_blank("start", 4, "Birds sing.")  # something else was typed since
    move_blank("start", 2, TEXT)  # the blank itself
    assert state["start_text"] == TEXT
    move_blank("start", 4, TEXT)
    assert state["start_text"] == "Yesterday I went to [MASK]."
    move_blank("start", 0, state["start_text"])
    assert state["start_text"] == "[MASK] I went to school."
