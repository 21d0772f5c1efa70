"""Reading many sentences in the background: stopped, for several visitors, of other sentences, by other models."""

import time
from collections.abc import Iterator

import pytest

from pages.many_sentences import texts as page_texts
from pages.ui.panels import texts
from tests.support import checkpoints
from tests.support.sentences_page import HUB_MODEL, KIND, OWN_FILE, PAGE, Open, press, says, upload
from tests.support.trainings import SLOWLY, name_of, own_server, until_still
from tx_core.engine import catalogue, device
from tx_core.training.background import Registry

MANY = "".join(f"The {word} number {place} stood in front of the house.\n" for place in range(700) for word in ("man", "cat"))


@pytest.fixture(autouse=True)
def readings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with room for one reading, which rests as long as the test asks."""
    with own_server(monkeypatch, limit=1, pause=getattr(request, "param", 0.001)) as registry:
        yield registry


@pytest.mark.parametrize("readings", [SLOWLY], indirect=True)
def test_a_click_stops_it_and_what_it_found_stays(open_app: Open, readings: Registry):
    app = press(upload(open_app(PAGE, texts="own"), MANY), "run")
    end = time.monotonic() + 60
    while not readings.snapshot(name_of(app), KIND).records:
        assert time.monotonic() < end
        time.sleep(0.01)
    app.run()
    press(app, "stop")
    snapshot = until_still(app, readings, KIND)
    assert snapshot.state == "stopped"
    assert 0 < snapshot.result.report.read < 1400
    assert page_texts.STOPPED[1].format(read=snapshot.result.report.read, count=1400) in says(app)


@pytest.mark.parametrize("readings", [SLOWLY], indirect=True)
def test_a_second_visitor_waits_for_the_host_and_never_sees_the_first_one_s_file(open_app: Open, readings: Registry):
    first, second = (open_app(PAGE, texts="own") for _ in range(2))
    press(upload(first, MANY), "run")
    press(upload(second, "My own secret sentence is here now.\n", "second.txt"), "run")
    assert [bar.proto.text for bar in second.get("progress")] == [texts.QUEUE_NEXT]
    press(first, "stop")
    until_still(first, readings, KIND)
    until_still(second, readings, KIND)
    assert "mine.txt" not in says(second)
    assert "My own secret sentence" in says(second)
    first.run()
    assert "secret" not in says(first)
    assert "second.txt" not in says(first)


def test_two_visitors_at_once_find_each_what_is_in_their_own_file(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    with own_server(monkeypatch, limit=2, pause=0.001) as registry:
        apps = [open_app(PAGE, texts="own") for _ in range(2)]
        for number, app in enumerate(apps):
            press(upload(app, f"Visitor {number} was in the old house.\n" * (number + 1), f"{number}.txt"), "run")
        for number, app in enumerate(apps):
            report = until_still(app, registry, KIND).result.report
            assert set(report.sentences.texts) == {f"Visitor {number} was in the old house."}
            assert report.read == number + 1
            assert f"Visitor {1 - number}" not in says(app)


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
        assert "exact" in app.query_params
        assert not until_still(press(app, "run"), readings, KIND).result.report.half
        assert "bfloat16)." not in says(app)


def test_a_result_of_other_sentences_is_headed_as_such(open_app: Open, readings: Registry):
    app = upload(open_app(PAGE, texts="own"), OWN_FILE)
    until_still(press(app, "run"), readings, KIND)
    assert page_texts.LAST_RUN not in says(app)
    upload(app, "Another sentence is here now.\n", "other.txt")
    assert page_texts.LAST_RUN in says(app)
    assert page_texts.LAST_RUN_DIFFERS.format(source="mine.txt", model="Tiny BERT (built in)") in says(app)


def test_any_model_of_the_hub_reads_them_too(open_app: Open, readings: Registry, checkpoint, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint("roberta"))
    app = open_app(PAGE, model=HUB_MODEL, texts="own", heads="99-99")
    assert page_texts.UPLOAD_FIRST in says(app)
    upload(app, "Time flies like an arrow\nthe dog and the fox\n")
    until_still(press(app, "run"), readings, KIND)
    assert not app.exception
    assert app.query_params.get("heads") != ["99-99"]
    assert "Layer 99" not in says(app)
    assert app.dataframe[0].value["layer"].max() == checkpoints.LAYERS
