"""What a stage is sent: a run whole where it is short, else what is seen and an address for the rest that any server answers."""

import numpy as np
import pytest
from starlette.requests import Request
from starlette.responses import Response

from pages.ui.stage import packing
from pages.ui.stage.browser_texts import TEXTS
from pages.ui.stage.packing import RunName, pack_runs
from tests.support.drawings import unpacked
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

LONG = "The old man bought a very big house near the river. " * 6
OFF = (Intervention("off", 1, 2),)


def packed(text: str, *, changes: tuple[Intervention, ...] = (), shown: tuple = ((0, 1),)) -> tuple[dict, bytes, object, object]:
    name = RunName(catalogue.DEFAULT, text, "", False, changes)
    engine = catalogue.load(catalogue.DEFAULT)
    plain = engine.trace(text)
    trace = engine.trace(text, interventions=changes) if changes else plain
    header, body = unpacked(pack_runs({"page": "attention"}, name, trace, plain if changes else None, shown))
    return header, body, trace, plain


def weights_in(body: bytes, count: int) -> np.ndarray:
    return (np.frombuffer(body[: 2 * count], "<u2") / 65535) ** 2


def test_of_a_long_run_only_what_is_seen_goes_along():
    header, body, trace, _ = packed(LONG)
    layer = trace.attention.weights[1]
    assert not header["whole"]
    assert header["run"]["included"] == [[0, 1]]
    np.testing.assert_allclose(weights_in(body, layer.size), layer.ravel(), atol=3.1e-5)
    assert "right to about four decimals" in TEXTS["csvRounded"]  # of the picture that is saved from them
    small = trace.attention.weights.shape[0] * trace.attention.weights.shape[1] * 24 * 24
    assert len(body) == 2 * layer.size + small
    assert len(body) < 300_000


def layer_at(path: str, stack: object, layer: object) -> Response:
    name = path.removeprefix(f"{packing.PATH}/")
    query = f"stack={stack}&layer={layer}".encode()
    return packing.send_layer(Request({"type": "http", "path_params": {"name": name}, "query_string": query}))


def test_any_server_computes_the_rest_again_for_whoever_has_the_name():
    header, _, trace, plain = packed(LONG, changes=OFF)
    for path, run in ((header["run"]["path"], trace), (header["before"]["path"], plain)):
        answer = layer_at(path, 0, 3)
        layer = run.attention.weights[3]
        np.testing.assert_allclose(weights_in(answer.body, layer.size), layer.ravel(), atol=3.1e-5)
        assert "immutable" in answer.headers["cache-control"]
    for stack, layer in ((0, 6), (1, 0), (-1, 0), (0, -1), ("x", 0)):
        assert layer_at(header["run"]["path"], stack, layer).status_code == 404
    assert layer_at(f"{header['run']['path'][:-1]}_", 0, 0).status_code == 404


def test_a_name_reads_back_what_it_was_made_of_and_no_other():
    name = RunName(catalogue.DEFAULT, "Größe “x” & more", "second", True, OFF)
    assert RunName.read(name.signed()) == name
    written, _, signature = name.signed().partition(".")
    for forged in (f"{written[:-1]}A.{signature}", written, f"{written}.", f"{written}.{'0' * 32}", "", "ä.ö"):
        with pytest.raises(ValueError, match="not a name"):
            RunName.read(forged)
