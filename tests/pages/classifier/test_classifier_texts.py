"""The texts that the classifier's page learns from: a visitor's own file, and reviews that may not be there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from pages.classifier import texts
from tests.support.classifier_page import KIND, OWN, SMALL, Open, moments, press, training_says, upload
from tests.support.drawings import says
from tests.support.imdb_cache import keep, reviews, table_of
from tests.support.staged import staged
from tests.support.trainings import own_server, until_still
from tx_core.training.background import Registry
from tx_core.training.classifier_model import NOTEBOOK_CLASSIFIER
from tx_core.training.imdb import NOTEBOOK_TEST, NOTEBOOK_TRAIN

OWN_SUMMARY = texts.DATA_SUMMARY.format(train=20, test=4, labels="<b>rainy</b>, sunny", source="mine.csv")


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with space for one training, which rests as long as the test asks."""
    with own_server(monkeypatch, limit=1, pause=getattr(request, "param", 0.005)) as registry:
        yield registry


def test_a_visitor_s_own_texts_are_learned_and_their_labels_are_no_markup(open_app: Open, trainings: Registry):
    app = open_app("classifier", **SMALL | {"data": "own", "text": "<b>rainy</b> day"})
    assert texts.CSV_MISSING in says(app)
    assert staged(app)["training"] is None
    upload(app, OWN)
    assert OWN_SUMMARY in says(app)
    until_still(press(app, "train"), trainings, KIND)
    assert not app.exception
    assert moments(app)[-1]["drawn"]["side"]["labels"] == ["<b>rainy</b>", "sunny"]
    app.session_state["classifier_results"] = True
    app.run()
    assert list(app.dataframe[0].value.columns) == [
        texts.PREDICTED_LABEL.format(label=label) for label in ("<b>rainy</b>", "sunny")
    ]
    assert not any("<b>" in element.value for kind in (app.markdown, app.caption) for element in kind)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n", "names the columns text and label"),
        ("text,label\n" + "same,label\n" * 30, "Between 2 and 10 different labels"),
        (b"\x00\x01\x02", "not text that can be read"),
    ],
)
def test_a_csv_that_cannot_be_used_says_why_and_the_one_before_stays(open_app: Open, text: str | bytes, told: str):
    app = upload(open_app("classifier", data="own"), OWN)
    upload(app, text)
    assert not app.exception
    assert told in training_says(app)
    assert OWN_SUMMARY in says(app)


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache on disk, empty, and no hub that could be reached."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    return tmp_path


def test_reviews_are_fetched_when_training_starts_learned_from_and_compared(open_app: Open, trainings: Registry, hub_cache: Path):
    for part, count in (("train", 40), ("test", 30)):
        keep(hub_cache, part, table_of(reviews(part, count)))
    app = open_app("classifier", **SMALL | {"data": "imdb", "text": "dull"})
    assert texts.IMDB_NOTEBOOK in says(app)
    until_still(press(app, "train"), trainings, KIND)
    assert not app.exception
    assert moments(app)[-1]["batch"] == 1
    app.session_state["classifier_results"] = True
    app.run()
    assert int(app.dataframe[0].value.to_numpy().sum()) == 30
    assert texts.TOP_CONTRIBUTION.partition("{label}")[0].format(word="dull") in training_says(app)


def test_the_notebook_is_quoted_with_the_settings_that_the_command_trains():
    one = NOTEBOOK_CLASSIFIER
    quoted = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,.]*\d|\d", texts.IMDB_NOTEBOOK)]
    sizes = [one.hidden_size, one.num_layers, one.num_heads, one.intermediate_size, one.most_words + 2, one.most_tokens]
    assert quoted == [NOTEBOOK_TRAIN, NOTEBOOK_TEST, *sizes, one.batch_size, one.learning_rate, one.epochs, 80.9]
