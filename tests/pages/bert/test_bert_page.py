"""The page on BERT: ours beside the library's, beside an untrained one, heads for labels, and what came after."""

import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from pages.bert import parts, texts
from pages.bert.parts import LABEL_HEADS
from pages.ui.shell.readiness import Status, Warmup
from tests.support.drawings import says, sent_to
from tests.support.drawn_bars import drawn_bars
from tx_core.engine import catalogue
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.lessons.families import FAMILIES
from tx_core.lessons.untrained import predict_labels, untrained_engine

PAGE = "bert"
TEXT = "I drink a cup of [MASK] every morning."


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


@pytest.fixture(autouse=True, scope="module")
def loaded_library():
    """Hugging Face's BERT as it is once the first reader has waited for it."""
    parts.library.start().join()
    assert parts.library.status.state == "ready"


def test_on_arrival_the_library_is_loaded_in_the_background_and_the_comparison_follows_by_itself(open_app, monkeypatch):
    imported = threading.Event()

    def load() -> Status:
        assert imported.wait(60)
        return parts._load_library()

    monkeypatch.setattr(parts, "library", Warmup(load))
    app = open_app(PAGE)
    assert not app.exception
    assert texts.LOADING_LIBRARY in says(app)
    assert len(app.get("skeleton")) == 1
    assert not app.metric
    imported.set()
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "warmup")
    thread.join()
    app.run()
    assert texts.LOADING_LIBRARY not in says(app)
    assert len(app.metric) == 3
    assert app.query_params == {}


def test_a_library_that_cannot_be_loaded_is_reported(open_app, monkeypatch):
    def load() -> Status:
        raise CheckpointProblem("damaged")

    library = Warmup(load)
    monkeypatch.setattr(parts, "library", library)
    library.start().join()
    app = open_app(PAGE)
    assert not app.exception
    assert texts.LIBRARY_FAILED in says(app)
    assert not app.metric


def test_without_special_tokens_ours_is_still_the_librarys(open_app):
    app = open_app(PAGE, text=TEXT, nospecial="1", layer="4", head="2")
    assert all("10⁻⁶" in one.value or "10⁻⁷" in one.value or "10⁻⁵" in one.value for one in app.metric)
    ((header, cells),) = sent_to(app, "matrices")
    bare = catalogue.load("embedded", special_tokens=False)
    assert header["rows"] == list(bare.encode(TEXT).tokens)
    ours = np.frombuffer(cells, "<f4").reshape(3, len(header["rows"]), -1)[2]
    np.testing.assert_allclose(ours, bare.trace(TEXT).attention.weights[3, 1], atol=1e-6)


@pytest.mark.parametrize("kind", LABEL_HEADS)
def test_without_special_tokens_a_head_of_the_first_token_says_which_it_reads(open_app, kind):
    said = [says(open_app(PAGE, text=TEXT, part="labels", kind=kind, nospecial=bare)) for bare in ("0", "1")]
    note = texts.FIRST_TOKEN_READ.format(token="i")
    assert [note in one for one in said] == [False, kind == "first"]


@pytest.mark.parametrize("seed", [1, 2, parts.MAX_HEAD_SEEDS])
def test_an_untrained_bert_attends_almost_uniformly_and_finds_all_words_about_as_likely(engine, seed):
    drawn = untrained_engine(engine, seed)
    weights = drawn.trace(TEXT).attention.weights
    np.testing.assert_allclose(weights, 1 / weights.shape[-1], atol=0.05)
    assert engine.trace(TEXT).attention.weights.max() > 0.9
    logits = torch.tensor(drawn.blank_logits([drawn.encode(TEXT)]).rows[0][0]).softmax(-1)
    assert logits.max() < 20 / len(logits)
    parameters = {name: part for name, part in drawn.model.named_parameters() if "norm" not in name}
    assert all(not part.any() for name, part in parameters.items() if name.endswith("bias"))
    drawn_at_random = torch.cat([part.flatten() for name, part in parameters.items() if not name.endswith("bias")])
    assert float(drawn_at_random.std()) == pytest.approx(0.02, rel=0.01)


def test_each_dimension_takes_its_maximum_from_one_token(open_app, engine):
    hidden = torch.tensor(engine.trace(TEXT, keep=("hidden",)).hidden[-1])
    counts = hidden.argmax(dim=0).bincount(minlength=len(hidden)).tolist()
    best = counts.index(max(counts))
    token = engine.encode(TEXT).tokens[best]
    app = open_app(PAGE, text=TEXT, part="labels", kind="max")
    assert texts.MAXIMA.format(total=256, token=token, count=max(counts)) in says(app)


def test_without_a_blank_the_page_asks_for_one(open_app):
    for address in ({"text": "No blank here."}, {"text": TEXT, "pair": "Two sentences."}):
        assert texts.NO_BLANK in says(open_app(PAGE, part="random", **address))


@pytest.mark.parametrize(("kind", "name"), LABEL_HEADS.items())
def test_a_head_shows_its_logits_and_that_nobody_trained_it(open_app, engine, kind, name):
    app = open_app(PAGE, text=TEXT, part="labels", kind=kind, labels="2", seed="3")
    found = predict_labels(engine.trace(TEXT, keep=("hidden",)), name, 2, seed=3)
    table = app.dataframe[0].value
    np.testing.assert_allclose(
        table[[texts.SOFTMAX_COLUMN.format(number=number) for number in (1, 2)]].to_numpy(),
        found.shares.reshape(-1, 2),
        atol=6e-4,
    )
    assert str(tuple(found.logits.shape)) in says(app)
    assert texts.UNTRAINED_HEAD in says(app)
    assert len(drawn_bars(app)) == (kind == "max")


def test_electra_large_tells_the_shape_of_its_last_hidden_state(open_app):
    app = open_app(PAGE, text="The capital of France is [MASK].", part="family", family="electra-large")
    large = FAMILIES["electra-large"]
    assert texts.NOT_OFFERED.format(title=large.title, tokens=9, hidden=1024) in says(app)
    assert f"{large.sizes.parameters * 4 / 1e9:.1f} GB" in texts.NOT_OFFERED  # four bytes a parameter


def test_a_family_that_can_be_loaded_shows_its_attention(open_app, checkpoint, monkeypatch: pytest.MonkeyPatch):
    directory: Path = checkpoint("albert")
    monkeypatch.setattr(catalogue, "fetch", lambda *_: directory)
    app = open_app(PAGE, text="Fruit flies like a banana.", part="family", family="albert", load="1")
    assert not app.exception
    ((header, _),) = sent_to(app, "head_wall")
    assert (header["layers"], header["heads"]) == (3, 4)


def test_a_family_that_cannot_be_loaded_says_so(open_app, monkeypatch: pytest.MonkeyPatch):
    def refuse(hub_id: str, _: object) -> Path:
        raise ModelUnavailable(f"{hub_id} could not be fetched: no connection.")

    monkeypatch.setattr(catalogue, "fetch", refuse)
    app = open_app(PAGE, text=TEXT, part="family", family="distilbert", load="1")
    assert not app.exception
    assert "distilbert/distilbert-base-uncased could not be fetched" in says(app)
