"""The texts that the classifier's page learns from: a visitor's own file, and reviews that may not be there."""

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from classifier_page import KIND, OWN, SMALL, Open, press, upload
from drawings import says
from huggingface_hub.errors import HTTPError
from trainings import own_server, until_still

from tx_core.training.background import Registry


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with room for one training, which rests as long as the test asks."""
    with own_server(monkeypatch, limit=1, pause=getattr(request, "param", 0.005)) as registry:
        yield registry


def test_a_visitor_s_own_texts_are_learned_and_their_labels_are_no_markup(open_app: Open, trainings: Registry):
    app = open_app("classifier", **SMALL | {"data": "own", "text": "<b>rainy</b> day"})
    assert "Upload a CSV first" in says(app)
    assert app.button(key="classifier_train").disabled
    upload(app, OWN)
    assert "20 texts to learn from, 4 held back for the test. Labels: <b>rainy</b>, sunny. Source: mine.csv." in says(app)
    until_still(press(app, "train"), trainings, KIND)
    assert not app.exception
    assert list(app.dataframe[0].value.columns) == ["says <b>rainy</b>", "says sunny"]
    assert not any("<b>" in element.value for kind in (app.markdown, app.caption) for element in kind)


def test_a_file_whose_name_begins_like_that_of_the_reviews_is_not_taken_for_them(open_app: Open, trainings: Registry):
    app = open_app("classifier", **SMALL | {"data": "own"})
    app.file_uploader(key="classifier_csv").set_value(("IMDB.csv", OWN.encode(), "text/csv")).run()
    until_still(press(app, "train"), trainings, KIND)
    assert "1 of 1 batches" in says(app)
    app.segmented_control(key="classifier_data").set_value("imdb").run()
    assert not app.exception
    assert "1 of 1 batches" not in says(app)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "this one begins with: nothing"),
        ("a,b\n1,2\n", "names the columns text and label"),
        ("text,label\nonly,one\n", "At least 20 examples"),
        ("text,label\n" + "same,label\n" * 30, "Between 2 and 10 different labels"),
        (b"\x00\x01\x02", "not text that can be read"),
    ],
)
def test_a_csv_that_cannot_be_used_says_why_and_the_one_before_stays(open_app: Open, text: str | bytes, told: str):
    app = upload(open_app("classifier", data="own"), OWN)
    upload(app, text)
    assert not app.exception
    assert told in says(app)
    assert "20 texts to learn from" in says(app)


def test_a_first_csv_that_cannot_be_used_is_told_of_once_and_taken_out_asks_for_another(open_app: Open):
    app = upload(open_app("classifier", data="own"), "a,b\n1,2\n")
    assert "names the columns text and label; this one begins with: a, b." in says(app)
    assert says(app).count("Check the input") == 1
    app.file_uploader(key="classifier_csv").set_value([]).run()
    assert "Upload a CSV first" in says(app)
    assert says(app).count("Check the input") == 1


def test_imdb_that_cannot_be_fetched_says_so(open_app: Open, trainings: Registry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    app = open_app("classifier", data="imdb")
    assert "fetched from the Hugging Face hub" in says(app)
    press(app, "train")
    assert not app.exception
    assert "IMDB needs the datasets library" in says(app)
    assert trainings.running == 0


@pytest.mark.parametrize("failure", [HTTPError("503"), OSError("no route"), ImportError("dill"), ValueError("no such split")])
def test_reviews_that_cannot_be_had_are_told_whatever_the_library_says(open_app: Open, monkeypatch: pytest.MonkeyPatch, failure):
    def refuse(*_: object, **__: object) -> None:
        raise failure

    library, errors = ModuleType("datasets"), ModuleType("datasets.exceptions")
    library.load_dataset, library.exceptions, errors.DatasetsError = refuse, errors, LookupError
    monkeypatch.setitem(sys.modules, "datasets", library)
    monkeypatch.setitem(sys.modules, "datasets.exceptions", errors)
    app = press(open_app("classifier", data="imdb"), "train")
    assert not app.exception
    assert "Choose other texts" in says(app)
