"""The page of many sentences: the built-in set, its table and its link, models that are not there, a visitor's own file."""

from collections.abc import Iterator

import pytest

from pages.many_sentences import texts
from pages.many_sentences.heads import describe_head, rows_of
from pages.ui.shell.address import LESSON, LOCK, STEP
from pages.ui.stage.texts import READ_WITHOUT
from tests.support.sentences_page import HUB_MODEL, KIND, OWN_FILE, PAGE, Open, buttons, links, numbers_of, press, says, upload
from tests.support.staged import is_empty
from tests.support.trainings import own_server, until_still
from tx_core.classroom.lesson_file import Lesson, pack_lesson
from tx_core.corpus.batches import TOO_MANY_TOKENS_IN_LINE
from tx_core.corpus.sentence_file import EMPTY, LeftOut, describe_left_out, embedded_sentences
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue
from tx_core.engine.device_limits import device_limits
from tx_core.settings import host_settings
from tx_core.training.background import Registry

MOST = device_limits("cpu").sentences


def test_the_chosen_head_is_described_with_its_strongest_sentences_and_links_to_them(open_app: Open):
    app = open_app(PAGE, heads="2-3", rank="focused")
    report = read_all(catalogue.load(catalogue.DEFAULT), embedded_sentences())
    assert describe_head(report, (1, 2)) in says(app)
    assert len(links(app)) == 5
    assert all(link.startswith("./attention?text=") and "heads=2-3" in link for link in links(app))
    table = numbers_of(app).set_index(["layer", "head"])
    assert len(table.loc[(2, 3), "strongest in lines"].split()) == 5


def test_without_special_tokens_every_sentence_and_every_link_is_read_so(open_app: Open):
    app = open_app(PAGE, heads="2-3", rank="focused")
    app.toggle(key=f"{PAGE}_nospecial").set_value(True).run()
    bare = read_all(catalogue.load(catalogue.DEFAULT, special_tokens=False), embedded_sentences())
    usual = read_all(catalogue.load(catalogue.DEFAULT), embedded_sentences())
    assert (bare.tokens, bare.read) == (usual.tokens, usual.read)
    assert abs(bare.entropy - usual.entropy).max() > 0.1
    assert describe_head(bare, (1, 2)) in says(app)
    assert list(numbers_of(app)["entropy (nats)"]) == [row["entropy (nats)"] for row in rows_of(bare)]
    assert all("nospecial=1" in link for link in links(app))
    assert READ_WITHOUT.format(tokens="\\[CLS\\] and \\[SEP\\]") in says(app)


def test_a_locked_lesson_shows_the_strongest_sentences_without_a_way_out(open_app: Open):
    step = {"title": "Look", "page": PAGE, "view": {"heads": "2-3", "rank": "focused"}, "text": "Look."}
    about = {"title": "One", "language": "en", "level": "beginner", "minutes": 5, "about": "One."}
    packed = pack_lesson(Lesson.model_validate(about | {"steps": [step]}))
    shown = {}
    for lock in ("0", "1"):
        app = open_app(PAGE, **step["view"], **{LESSON: packed, STEP: "1", LOCK: lock})
        assert "Layer 2, head 3 " in says(app)
        shown[lock] = links(app)
    assert (len(shown["0"]), len(shown["1"])) == (5, 0)


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host from which no hub can be reached."""

    def refuse(hub_id: str, revision: str | None):
        raise catalogue.ModelUnavailable("no connection here")

    monkeypatch.setattr(catalogue, "fetch", refuse)


def test_a_model_that_cannot_be_had_says_so_and_offers_the_built_in_one(open_app: Open, no_hub: None):
    app = open_app(PAGE, model=HUB_MODEL)
    assert not app.exception
    assert "no connection here" in says(app)
    assert is_empty(app)
    assert buttons(app) == []
    app.button(key=f"{PAGE}_model_default").click().run()
    assert "Layer 1, head 1 " in says(app)


@pytest.fixture(autouse=True)
def readings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with space for one reading, which rests as long as the test asks."""
    with own_server(monkeypatch, limit=1, pause=getattr(request, "param", 0.001)) as registry:
        yield registry


def test_a_file_is_read_in_the_background_and_what_is_left_out_is_reported(open_app: Open, readings: Registry):
    app = open_app(PAGE, texts="own")
    assert texts.UPLOAD_FIRST in says(app)
    assert texts.NO_RUN_NEEDED not in says(app)
    assert buttons(app) == []
    upload(app, OWN_FILE)
    assert texts.READ_FILE[1].format(count=3, source="mine.txt") in says(app)
    assert describe_left_out((LeftOut(EMPTY, 1, (2,)),)) in says(app)
    snapshot = until_still(press(app, "run"), readings, KIND)
    assert snapshot.state == "finished"
    assert not app.exception
    assert texts.READ[1].partition(" with")[0].format(count=2) in says(app)
    most = catalogue.load(catalogue.DEFAULT).info.max_tokens
    assert describe_left_out((LeftOut(TOO_MANY_TOKENS_IN_LINE.format(most=most), 1, (4,)),)) in says(app)
    assert any("%3Cb%3Edog%3C%2Fb%3E" in link for link in links(app))
    markup = [element.value for kind in (app.markdown, app.caption) for element in kind]
    assert not any("dog" in text for text in markup)


def test_a_column_of_a_csv_is_chosen(open_app: Open):
    app = upload(open_app(PAGE, texts="own"), "id,text,note\n1,One is here.,A note.\n", "mine.csv")
    assert texts.READ_COLUMN[0].format(count=1, source="mine.csv", column="text") in says(app)
    app.selectbox(key=f"{PAGE}_column").set_value("note").run()
    assert texts.READ_COLUMN[0].format(count=1, source="mine.csv", column="note") in says(app)
    assert app.session_state[f"{PAGE}_own_sentences"].texts == ("A note.",)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0", "not text that can be read"),
        (b"a" * 1_000_000, f"longer than {host_settings().max_text_characters:,} characters (line 1)"),
        (b"a\n" * (MOST + 1), f"more than {MOST:,} sentences"),
    ],
)
def test_a_file_that_cannot_be_used_says_why_and_the_one_before_stays(open_app: Open, data: bytes, told: str):
    app = upload(open_app(PAGE, texts="own"), "One sentence is here.\n")
    upload(app, data)
    assert not app.exception
    assert told in says(app)
    assert texts.EARLIER_STAYS.format(problem="", source="mine.txt") in says(app)
    assert texts.READ_FILE[0].format(count=1, source="mine.txt") in says(app)


def test_a_file_of_which_the_model_reads_nothing_says_so(open_app: Open, readings: Registry):
    app = upload(open_app(PAGE, texts="own"), "word " * 400)
    until_still(press(app, "run"), readings, KIND)
    assert not app.exception
    assert texts.NOTHING_READABLE in says(app)
    upload(app, "A bird sings in the old house.\n", "other.txt")
    assert texts.NOTHING_READABLE not in says(app)
    assert texts.PRESS_RUN in says(app)
