"""The page of many sentences: the built-in set at once, a visitor's own file in the background, and nobody else's."""

import csv
import io
import time
from collections.abc import Callable, Iterator

import checkpoints
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import training_view
from pages.ui.many_head import OWN, RANKS
from pages.ui.many_table import as_csv, head_rows
from tx_core import models
from tx_core.head_statistics import RANKED, read_all
from tx_core.sentence_file import embedded_sentences
from tx_core.training.background import Registry, Snapshot

Open = Callable[..., AppTest]
PAGE, KIND = "many_sentences", "sentences"
HUB_MODEL = "roberta-base"
OWN_FILE = "The <b>dog</b> saw **a** man near the house.\n\nNobody was in the old house when it rained.\n" + "word " * 400 + "\n"

SLOWLY = 0.1
"""Seconds of rest after each batch, for tests that must meet a reading before its end on a busy machine, too."""


@pytest.fixture(autouse=True)
def readings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with room for one reading, which rests as long as the test asks."""
    registry = Registry(limit=1, kept=8, pause=getattr(request, "param", 0.001))
    monkeypatch.setattr(training_view, "TRAININGS", registry)
    yield registry
    for visitor, kind in list(registry._jobs):
        registry.stop(visitor, kind)


def says(app: AppTest) -> str:
    kinds = (app.text, app.caption, app.info, app.markdown, app.subheader)
    return "\n".join(element.value for kind in kinds for element in kind)


def press(app: AppTest, name: str) -> AppTest:
    return app.button(key=f"{PAGE}_{name}").click().run()


def upload(app: AppTest, text: str | bytes, name: str = "mine.txt") -> AppTest:
    data = text.encode() if isinstance(text, str) else text
    return app.file_uploader(key=f"{PAGE}_file").set_value((name, data, "text/plain")).run()


def until_still(app: AppTest, registry: Registry) -> Snapshot:
    end = time.monotonic() + 60
    while (snapshot := registry.snapshot(app.session_state["training_visitor"], KIND)).running:
        assert time.monotonic() < end, "the reading did not end within 60 seconds"
        time.sleep(0.01)
    app.run()
    return snapshot


def links(app: AppTest) -> list[str]:
    return [link.proto.query_string for link in app.get("page_link") if "See it" in link.proto.label]


def test_the_built_in_sentences_are_summed_up_at_once(open_app: Open):
    app, engine = open_app(PAGE), models.load(models.DEFAULT)
    assert not app.exception
    assert f"{len(embedded_sentences())} sentences: written for this app" in says(app)
    table = app.dataframe[0].value
    assert len(table) == engine.num_layers * engine.num_heads
    assert table["confidence"].between(0, 1).all()
    assert "Layer 1, head 1 looks at" in says(app)
    assert app.query_params == {}


def test_the_chosen_head_is_told_with_its_strongest_sentences_and_links_to_them(open_app: Open):
    app = open_app(PAGE, heads="2-3", rank="focused")
    assert "Layer 2, head 3 looks at" in says(app)
    assert len(links(app)) == 5
    assert all("heads=2-3" in link and "text=" in link for link in links(app))
    table = app.dataframe[0].value.set_index(["layer", "head"])
    assert len(table.loc[(2, 3), "strongest in lines"].split()) == 5


def test_the_file_to_take_along_says_what_the_statistics_say():
    report = read_all(models.load(models.DEFAULT), embedded_sentences())
    rows = list(csv.DictReader(io.StringIO(as_csv(head_rows(report)))))
    assert len(rows) == len(report.patterns)
    for row, one in zip(rows, report.patterns, strict=True):
        assert (int(row["layer"]), int(row["head"])) == (one.layer + 1, one.head + 1)
        assert float(row["confidence"]) == pytest.approx(one.confidence, abs=5e-4)
        assert float(row["entropy (nats)"]) == pytest.approx(report.entropy[one.layer, one.head], abs=5e-4)
        assert float(row["to previous"]) == pytest.approx(report.sums.shares[one.layer, one.head, 0], abs=5e-4)
        assert {int(line) for line in row["strongest in lines"].split()} <= set(report.sentences.lines)


def test_ranks_of_the_address_are_those_of_the_statistics():
    assert (OWN, *RANKED) == RANKS


def test_a_file_is_read_in_the_background_and_what_is_left_out_is_told(open_app: Open, readings: Registry):
    app = open_app(PAGE, texts="own")
    assert "Upload a file first" in says(app)
    assert app.button(key=f"{PAGE}_run").disabled
    upload(app, OWN_FILE)
    assert "3 sentences: mine.txt." in says(app)
    assert "Left out: 1 line, empty (line 2)." in says(app)
    snapshot = until_still(press(app, "run"), readings)
    assert snapshot.state == "finished"
    assert not app.exception
    assert "2 sentences with" in says(app)
    most = models.load(models.DEFAULT).max_tokens
    assert f"Left out: 1 line, longer than the {most} tokens that the model reads (line 4)." in says(app)
    assert any("%3Cb%3Edog%3C%2Fb%3E" in link for link in links(app))
    markup = [element.value for kind in (app.markdown, app.caption) for element in kind]
    assert not any("dog" in text for text in markup)


def test_a_column_of_a_csv_is_chosen(open_app: Open):
    app = upload(open_app(PAGE, texts="own"), "id,text,note\n1,One is here.,A note.\n", "mine.csv")
    assert "1 sentence: mine.csv, column 'text'." in says(app)
    app.selectbox(key=f"{PAGE}_column").set_value("note").run()
    assert "column 'note'." in says(app)
    assert app.session_state[f"{PAGE}_own"].texts == ("A note.",)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "The file is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "not text that can be read"),
        (b"a" * 1_000_000, "longer than 20,000 characters (line 1)"),
        (b"a" * 5_000_001, "more than 5,000,000 bytes"),
        (b"a\n" * 20_001, "more than 20,000 sentences"),
    ],
)
def test_a_file_that_cannot_be_used_says_why_and_the_one_before_stays(open_app: Open, data: bytes, told: str):
    app = upload(open_app(PAGE, texts="own"), "One sentence is here.\n")
    upload(app, data)
    assert not app.exception
    assert told in says(app)
    assert "1 sentence: mine.txt." in says(app)


def test_a_sentence_that_a_file_repeats_is_shown_once_among_the_strongest(open_app: Open, readings: Registry):
    app = upload(open_app(PAGE, texts="own"), "The dog saw a man in the house.\n" * 9 + "Nobody was in the old house today.\n")
    until_still(press(app, "run"), readings)
    assert len(links(app)) <= 2
    assert "10 sentences with" in says(app)


def test_a_file_of_which_the_model_reads_nothing_says_so(open_app: Open, readings: Registry):
    app = upload(open_app(PAGE, texts="own"), "word " * 400)
    until_still(press(app, "run"), readings)
    assert not app.exception
    assert "can read none of these sentences: each is longer than it reads, or holds no word at all." in says(app)
    upload(app, "A bird sings in the old house.\n", "other.txt")
    assert "can read none" not in says(app)
    assert "Press Run" in says(app)


MANY = "".join(f"The {word} number {place} stood in front of the house.\n" for place in range(700) for word in ("man", "cat"))


@pytest.mark.parametrize("readings", [SLOWLY], indirect=True)
def test_a_click_stops_it_and_what_it_found_stays(open_app: Open, readings: Registry):
    app = press(upload(open_app(PAGE, texts="own"), MANY), "run")
    visitor = app.session_state["training_visitor"]
    end = time.monotonic() + 60
    while not readings.snapshot(visitor, KIND).records:
        assert time.monotonic() < end
        time.sleep(0.01)
    app.run()
    press(app, "stop")
    snapshot = until_still(app, readings)
    assert snapshot.state == "stopped"
    assert 0 < snapshot.result.report.read < 1400
    assert f"It was stopped after {snapshot.result.report.read:,} of 1,400 sentences" in says(app)


@pytest.mark.parametrize("readings", [SLOWLY], indirect=True)
def test_a_second_visitor_waits_for_the_host_and_never_sees_the_first_one_s_file(open_app: Open, readings: Registry):
    first, second = (open_app(PAGE, texts="own") for _ in range(2))
    press(upload(first, MANY), "run")
    press(upload(second, "My own secret sentence is here now.\n", "second.txt"), "run")
    assert "for other visitors" in says(second)
    press(first, "stop")
    until_still(first, readings)
    until_still(press(second, "run"), readings)
    assert "mine.txt" not in says(second)
    assert "My own secret sentence" in says(second)
    first.run()
    assert "secret" not in says(first)
    assert "second.txt" not in says(first)


def test_two_visitors_at_once_find_each_what_is_in_their_own_file(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    registry = Registry(limit=2, kept=8, pause=0.001)
    monkeypatch.setattr(training_view, "TRAININGS", registry)
    apps = [open_app(PAGE, texts="own") for _ in range(2)]
    for number, app in enumerate(apps):
        press(upload(app, f"Visitor {number} was in the old house.\n" * (number + 1), f"{number}.txt"), "run")
    for number, app in enumerate(apps):
        report = until_still(app, registry).result.report
        assert set(report.sentences.texts) == {f"Visitor {number} was in the old house."}
        assert report.read == number + 1
        assert f"Visitor {1 - number}" not in says(app)


def test_a_result_of_other_sentences_is_headed_as_such(open_app: Open, readings: Registry):
    app = upload(open_app(PAGE, texts="own"), OWN_FILE)
    until_still(press(app, "run"), readings)
    assert "Your last run" not in says(app)
    upload(app, "Another sentence is here now.\n", "other.txt")
    assert "Your last run" in says(app)
    assert "It read mine.txt with Tiny BERT (built in), not what is chosen above." in says(app)


def test_any_model_of_the_hub_reads_them_too(open_app: Open, readings: Registry, checkpoint, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(models, "fetch", lambda hub_id, revision: checkpoint("roberta"))
    monkeypatch.setattr(models, "_failed", {})
    app = open_app(PAGE, model=HUB_MODEL, texts="own", heads="99-99")
    assert "Upload a file first" in says(app)
    upload(app, "Time flies like an arrow\nthe dog and the fox\n")
    until_still(press(app, "run"), readings)
    models._engines.clear()
    assert not app.exception
    assert app.query_params.get("heads") != ["99-99"]
    assert "Layer 99" not in says(app)
    assert app.dataframe[0].value["layer"].max() == checkpoints.LAYERS


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host from which no hub can be reached."""

    def refuse(hub_id: str, revision: str | None):
        raise models.ModelUnavailable("no connection here")

    monkeypatch.setattr(models, "fetch", refuse)
    monkeypatch.setattr(models, "_failed", {})


def test_a_model_that_cannot_be_had_says_so_and_offers_the_built_in_one(open_app: Open, no_hub: None):
    app = open_app(PAGE, model=HUB_MODEL)
    assert not app.exception
    assert "no connection here" in says(app)
    assert app.button(key=f"{PAGE}_run").disabled
    app.button(key=f"{PAGE}_model_default").click().run()
    assert "Layer 1, head 1 looks at" in says(app)


def test_every_setting_of_a_link_comes_back_in_the_link(open_app: Open, no_hub: None):
    asked = {"texts": "own", "model": HUB_MODEL, "colour": "spread", "heads": "3-2", "rank": "next"}
    for name in ("texts", "model"):
        few = {**asked, name: {"texts": "embedded", "model": models.DEFAULT}[name]}
        expected = {key: value for key, value in few.items() if key == "texts" or value != models.DEFAULT}
        app = open_app(PAGE, **few)
        assert not app.exception
        held = {key: value[0] if isinstance(value, list) else value for key, value in app.query_params.items()}
        assert held == expected


def test_nonsense_in_a_link_is_named(open_app: Open):
    app = open_app(PAGE, texts="moon", colour="x", heads="9", rank="best")
    assert not app.exception
    assert all(name in says(app) for name in ("texts", "colour", "heads", "rank"))
