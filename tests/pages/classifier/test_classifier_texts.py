"""The texts that the classifier's page learns from: a visitor's own file, and reviews that may not be there."""

import random
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest
from huggingface_hub.errors import HTTPError

from pages.classifier import model, texts
from pages.ui.shell.frame import HEADINGS
from tests.support.classifier_page import KIND, OWN, SMALL, Open, press, upload
from tests.support.drawings import says
from tests.support.trainings import own_server, until_still
from tx_core.errors import TextProblem
from tx_core.training.background import Registry
from tx_core.training.classifier_data import NO_DATASETS, WRONG_HEADER, imdb

OWN_SUMMARY = texts.DATA_SUMMARY.format(train=20, test=4, labels="<b>rainy</b>, sunny", source="mine.csv")


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with room for one training, which rests as long as the test asks."""
    with own_server(monkeypatch, limit=1, pause=getattr(request, "param", 0.005)) as registry:
        yield registry


def test_a_visitor_s_own_texts_are_learned_and_their_labels_are_no_markup(open_app: Open, trainings: Registry):
    app = open_app("classifier", **SMALL | {"data": "own", "text": "<b>rainy</b> day"})
    assert texts.CSV_MISSING in says(app)
    assert app.button(key="classifier_train").disabled
    upload(app, OWN)
    assert OWN_SUMMARY in says(app)
    until_still(press(app, "train"), trainings, KIND)
    assert not app.exception
    assert list(app.dataframe[0].value.columns) == [
        texts.PREDICTED_LABEL.format(label=label) for label in ("<b>rainy</b>", "sunny")
    ]
    assert not any("<b>" in element.value for kind in (app.markdown, app.caption) for element in kind)


def test_a_file_whose_name_begins_like_that_of_the_reviews_is_not_taken_for_them(open_app: Open, trainings: Registry):
    app = open_app("classifier", **SMALL | {"data": "own"})
    app.file_uploader(key="classifier_csv").set_value(("IMDB.csv", OWN.encode(), "text/csv")).run()
    until_still(press(app, "train"), trainings, KIND)
    assert texts.TRAINED.format(done=1, total=1) in says(app)
    app.segmented_control(key="classifier_data").set_value("imdb").run()
    assert not app.exception
    assert texts.TRAINED.format(done=1, total=1) not in says(app)


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
    assert OWN_SUMMARY in says(app)


def test_a_first_csv_that_cannot_be_used_is_reported_once_and_taken_out_asks_for_another(open_app: Open):
    app = upload(open_app("classifier", data="own"), "a,b\n1,2\n")
    assert WRONG_HEADER.format(header="a, b") in says(app)
    assert says(app).count(HEADINGS[TextProblem]) == 1
    app.file_uploader(key="classifier_csv").set_value([]).run()
    assert texts.CSV_MISSING in says(app)
    assert says(app).count(HEADINGS[TextProblem]) == 1


def test_imdb_that_cannot_be_fetched_says_so(open_app: Open, trainings: Registry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    app = open_app("classifier", data="imdb")
    assert texts.IMDB.format(examples=model.IMDB_EXAMPLES) in says(app)
    press(app, "train")
    assert not app.exception
    assert NO_DATASETS in says(app)
    assert trainings.running == 0


class Reviews:
    """A split as the datasets library hands it over: shuffled and chosen by place, read by column."""

    def __init__(self, rows: list[tuple[str, int]]):
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, column: str) -> list:
        return [row[("text", "label").index(column)] for row in self.rows]

    def shuffle(self, seed: int) -> "Reviews":
        return Reviews(random.Random(seed).sample(self.rows, len(self.rows)))

    def select(self, places: range) -> "Reviews":
        return Reviews([self.rows[place] for place in places])


@pytest.fixture
def reviews(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub with 40 reviews to learn from and 30 to test on, ordered by label, as the real ones are."""

    def load(name: str, split: str) -> Reviews:
        assert name == "stanfordnlp/imdb"
        size = {"train": 40, "test": 30}[split]
        return Reviews([(f"{('dull', 'fine')[place * 2 // size]} {split} {place}", place * 2 // size) for place in range(size)])

    library, errors = ModuleType("datasets"), ModuleType("datasets.exceptions")
    library.load_dataset, library.exceptions, errors.DatasetsError = load, errors, LookupError
    monkeypatch.setitem(sys.modules, "datasets", library)
    monkeypatch.setitem(sys.modules, "datasets.exceptions", errors)


def test_the_first_reviews_of_either_split_are_taken_shuffled_with_their_labels(reviews: None):
    found = imdb(24)
    assert (len(found.train_texts), len(found.test_texts), found.kind) == (24, 24, "imdb")
    assert len(imdb().test_texts) == 30
    assert set(found.train_labels) == set(found.test_labels) == {0, 1}
    for part, sentences, labels in (
        ("train", found.train_texts, found.train_labels),
        ("test", found.test_texts, found.test_labels),
    ):
        assert all(text.startswith(f"{('dull', 'fine')[label]} {part} ") for text, label in zip(sentences, labels, strict=True))
    assert found.names == ("negative", "positive")


def test_reviews_are_fetched_when_training_starts_and_learned_from(open_app: Open, trainings: Registry, reviews: None):
    app = press(open_app("classifier", **SMALL | {"data": "imdb", "text": "dull"}), "train")
    until_still(app, trainings, KIND)
    assert not app.exception
    assert texts.TRAINED.format(done=1, total=1) in says(app)
    assert int(app.dataframe[0].value.to_numpy().sum()) == 30
    assert texts.TOP_CONTRIBUTION.partition("{label}")[0].format(word="dull") in says(app)


@pytest.mark.parametrize("failure", [HTTPError("503"), OSError("no route"), ImportError("dill"), ValueError("no such split")])
def test_reviews_that_cannot_be_had_are_reported_whatever_the_library_says(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, failure
):
    def refuse(*_: object, **__: object) -> None:
        raise failure

    library, errors = ModuleType("datasets"), ModuleType("datasets.exceptions")
    library.load_dataset, library.exceptions, errors.DatasetsError = refuse, errors, LookupError
    monkeypatch.setitem(sys.modules, "datasets", library)
    monkeypatch.setitem(sys.modules, "datasets.exceptions", errors)
    app = press(open_app("classifier", data="imdb"), "train")
    assert not app.exception
    assert "Choose other texts" in says(app)
