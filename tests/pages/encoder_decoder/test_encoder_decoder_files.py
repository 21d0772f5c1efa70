"""A trained encoder-decoder as a file: kept, brought back, gone on with, and refused where it cannot be used."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages.encoder_decoder import model, texts
from pages.ui.shell.frame import HEADINGS
from tests.support.copy_page import KIND, SETTINGS, SMALL, Open, answered, press, says, trained
from tests.support.serving import ROOT
from tests.support.trainings import name_of, own_server, until_still
from tx_core.errors import CheckpointProblem
from tx_core.settings import host_settings
from tx_core.training.background import Registry
from tx_core.training.copy_file import to_file
from tx_core.training.copy_task import start_copy_training


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with room for two trainings, which rest as long as the test asks."""
    with own_server(monkeypatch, limit=2, pause=getattr(request, "param", 0.005)) as registry:
        yield registry


def upload(app: AppTest, data: bytes) -> AppTest:
    box = app.file_uploader(key="encoder_decoder_file")
    return box.set_value(("model.safetensors", data, "application/octet-stream")).run()


def test_a_stopped_training_is_kept_as_a_file_and_goes_on_from_it(open_app: Open, trainings: Registry):
    whole = [record.loss for record in start_copy_training(SETTINGS).steps()]
    half = start_copy_training(SETTINGS)
    steps = half.steps()
    for _ in range(4):
        next(steps)
    steps.close()
    app = upload(open_app("encoder_decoder"), model.to_file(half))
    assert trained(4, 10) in says(app)
    press(app, "continue")
    snapshot = until_still(app, trainings, KIND)
    assert snapshot.result.losses == whole
    assert [record.batch for record in snapshot.records] == [5, 6, 7, 8, 9, 10]
    assert not app.exception


def test_a_kept_model_comes_back_with_its_settings_and_answers_as_before(open_app: Open, trainings: Registry):
    first = press(open_app("encoder_decoder", **SMALL), "train")
    model_trained = until_still(first, trainings, KIND).result
    second = upload(open_app("encoder_decoder", numbers=SMALL["numbers"]), to_file(model_trained))
    assert not second.exception
    assert answered(second) == answered(first)
    assert trained(10, 10) in says(second)
    assert second.query_params == first.query_params
    assert trainings.snapshot(name_of(second), KIND).result.losses == model_trained.losses


@pytest.mark.parametrize(
    "data", [b"", b"not a model", to_file(start_copy_training(SETTINGS))[:-100]], ids=["empty", "foreign", "cut short"]
)
def test_a_file_that_cannot_be_used_is_refused_and_the_trained_model_stays(open_app: Open, trainings: Registry, data: bytes):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    model_trained = until_still(app, trainings, KIND).result
    upload(app, data)
    assert not app.exception
    assert HEADINGS[CheckpointProblem] in says(app)
    assert trainings.snapshot(name_of(app), KIND).result is model_trained


def test_the_largest_model_on_offer_fits_every_limit_for_its_file():
    most = {size.setting: size.maximum for size in model.SIZES.values()}
    largest = start_copy_training(replace(SETTINGS, **most))
    next(largest.steps())
    largest.losses.extend([1 / 3 + 1] * (most["batches"] - 2))
    size = len(model.to_file(largest))
    assert size > 12_000_000
    assert size < host_settings().max_model_file_megabytes * 1_000_000
    allowed = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["server"]["maxUploadSize"]
    assert allowed > host_settings().max_model_file_megabytes  # beyond the file itself, a browser sends its name and more


def test_a_file_with_sizes_that_the_page_does_not_offer_says_which(open_app: Open):
    app = upload(open_app("encoder_decoder"), to_file(start_copy_training(replace(SETTINGS, num_layers=3))))
    layers = model.SIZES["layers"]
    bounds = {"label": layers.label, "minimum": layers.minimum, "maximum": layers.maximum}
    assert texts.SIZE_NOT_OFFERED.format(value=3, **bounds) in says(app)
    assert texts.UNTRAINED in says(app)
