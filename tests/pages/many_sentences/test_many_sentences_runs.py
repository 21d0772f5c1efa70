"""Reading many sentences in the background, for several visitors, in half precision, and by a model of the hub."""

from collections.abc import Iterator

import pytest

from pages.many_sentences import texts
from pages.ui.panels.texts import QUEUE_NEXT
from tests.support import checkpoints
from tests.support.sentences_page import HUB_MODEL, KIND, OWN_FILE, PAGE, Open, numbers_of, press, says, upload
from tests.support.staged import staged
from tests.support.trainings import SLOWLY, own_server, until_still
from tx_core.engine import catalogue, device
from tx_core.training.background import Registry

MANY = "".join(f"The {word} number {place} stood in front of the house.\n" for place in range(700) for word in ("man", "cat"))


@pytest.fixture(autouse=True)
def readings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with space for one reading, which rests as long as the test asks."""
    with own_server(monkeypatch, limit=1, pause=getattr(request, "param", 0.001)) as registry:
        yield registry


@pytest.mark.parametrize("readings", [SLOWLY], indirect=True)
def test_a_second_visitor_waits_for_the_host_and_never_sees_the_first_one_s_file(open_app: Open, readings: Registry):
    first, second = (open_app(PAGE, texts="own") for _ in range(2))
    press(upload(first, MANY), "run")
    press(upload(second, "My own secret sentence is here now.\n", "second.txt"), "run")
    assert [bar.proto.text for bar in second.get("progress")] == [QUEUE_NEXT]
    press(first, "stop")
    until_still(first, readings, KIND)
    until_still(second, readings, KIND)
    assert "mine.txt" not in says(second)
    assert "My own secret sentence" in says(second)
    first.run()
    assert "secret" not in says(first)
    assert "second.txt" not in says(first)


@pytest.mark.parametrize("able", [True, False], ids=["bfloat16 in hardware", "none"])
def test_where_the_hardware_computes_half_precision_it_is_used_unless_full_is_asked_for(
    open_app: Open, readings: Registry, monkeypatch: pytest.MonkeyPatch, able: bool
):
    monkeypatch.setattr(device, "computes_bfloat16", lambda device: able)
    app = upload(open_app(PAGE, texts="own"), OWN_FILE)
    assert until_still(press(app, "run"), readings, KIND).result.report.half == able
    assert ("bfloat16)." in says(app)) == able
    assert len(app.toggle) == 1 + able
    if able:
        app.toggle(key=f"{PAGE}_exact").set_value(True).run()
        assert staged(app)["settings"]["exact"] == "1"
        assert not until_still(press(app, "run"), readings, KIND).result.report.half
        assert "bfloat16)." not in says(app)


def test_any_model_of_the_hub_reads_them_too(open_app: Open, readings: Registry, checkpoint, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint("roberta"))
    app = open_app(PAGE, model=HUB_MODEL, texts="own", heads="99-99")
    assert texts.UPLOAD_FIRST in says(app)
    upload(app, "Time flies like an arrow\nthe dog and the fox\n")
    until_still(press(app, "run"), readings, KIND)
    assert not app.exception
    assert app.query_params.get("heads") != ["99-99"]
    assert "Layer 99" not in says(app)
    assert numbers_of(app)["layer"].max() == checkpoints.LAYERS
