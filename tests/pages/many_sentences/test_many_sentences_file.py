"""A visitor's own file on the page of many sentences: what is read of it, what is left out, and what is refused."""

from collections.abc import Iterator

import pytest

from pages.many_sentences import texts
from tests.support.sentences_page import KIND, OWN_FILE, PAGE, Open, links, press, says, upload
from tests.support.trainings import own_server, until_still
from tx_core.corpus.batches import TOO_MANY_TOKENS_IN_LINE
from tx_core.corpus.sentence_file import EMPTY, LeftOut, describe_left_out
from tx_core.engine import catalogue
from tx_core.training.background import Registry


@pytest.fixture(autouse=True)
def readings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with room for one reading, which rests as long as the test asks."""
    with own_server(monkeypatch, limit=1, pause=getattr(request, "param", 0.001)) as registry:
        yield registry


def test_a_file_is_read_in_the_background_and_what_is_left_out_is_told(open_app: Open, readings: Registry):
    app = open_app(PAGE, texts="own")
    assert texts.UPLOAD_FIRST in says(app)
    assert texts.NO_RUN_NEEDED not in says(app)
    assert app.button(key=f"{PAGE}_run").disabled
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
    assert texts.READ_FILE[0].format(count=1, source="mine.txt") in says(app)


def test_a_sentence_that_a_file_repeats_is_shown_once_among_the_strongest(open_app: Open, readings: Registry):
    app = upload(open_app(PAGE, texts="own"), "The dog saw a man in the house.\n" * 9 + "Nobody was in the old house today.\n")
    until_still(press(app, "run"), readings, KIND)
    assert len(links(app)) <= 2
    assert texts.READ[1].partition(" with")[0].format(count=10) in says(app)


def test_a_file_of_which_the_model_reads_nothing_says_so(open_app: Open, readings: Registry):
    app = upload(open_app(PAGE, texts="own"), "word " * 400)
    until_still(press(app, "run"), readings, KIND)
    assert not app.exception
    assert texts.NOTHING_READABLE in says(app)
    upload(app, "A bird sings in the old house.\n", "other.txt")
    assert texts.NOTHING_READABLE not in says(app)
    assert texts.PRESS_RUN in says(app)
