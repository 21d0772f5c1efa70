"""What a visitor sets on the page of the encoder-decoder (sizes, numbers, tasks), in its link, and trained models as files."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from pages.encoder_decoder import model, texts
from pages.encoder_decoder.model import NUMBERS, SIZES, TASK_VALUES
from pages.ui.panels.texts import LOADED_MODEL, SIZES_DO_NOT_FIT, STORED_MODEL
from tests.support.copy_page import KIND, SETTINGS, SMALL, Open, after, press, row, says
from tests.support.serving import ROOT
from tests.support.staged import staged
from tests.support.trainings import name_of, own_server, until_still
from tx_core.settings import host_settings
from tx_core.training.background import Registry
from tx_core.training.copy_file import to_file
from tx_core.training.copy_task import start_copy_training
from tx_core.training.synthetic import QUICK


def test_sizes_that_do_not_go_together_are_reported_in_the_words_of_the_page(open_app: Open):
    app = open_app("encoder_decoder", width="10", heads="3")
    assert not app.exception
    (problem,) = (text.value for text in app.text if text.value.startswith(SIZES_DO_NOT_FIT.partition("{")[0]))
    assert all(f"“{SIZES[name].label}”" in problem for name in ("width", "heads"))
    assert staged(app)["training"] is None


def test_sizes_of_masks_that_do_not_go_together_are_reported_in_their_box(open_app: Open):
    app = open_app("encoder_decoder", part="inside", hidden="10", split="3")
    assert not app.exception
    assert SIZES_DO_NOT_FIT.partition("{")[0] in says(app)
    assert STORED_MODEL in says(app)


@pytest.mark.parametrize("written", ["", "3 4 999", "<b>5</b>", "1 2", "3 " * 40])
def test_numbers_that_the_model_cannot_read_are_reported_and_kept(open_app: Open, written: str):
    app = open_app("encoder_decoder", **SMALL | {"numbers": written})
    assert not app.exception
    assert "whole numbers from 2 to 11" in says(app)
    assert app.text_input(key="encoder_decoder_numbers").value == written


def test_choosing_sort_sets_what_it_takes_to_learn_it_and_says_so_before(open_app: Open):
    app = open_app("encoder_decoder")
    task, values = app.segmented_control(key="encoder_decoder_task"), TASK_VALUES["sort"]
    assert texts.TASK_NOTES["sort"].format(**values) not in says(app)
    task.set_value("sort").run()
    assert not app.exception
    assert texts.TASK_NOTES["sort"].format(**values) in says(app)
    assert {name: app.session_state[f"encoder_decoder_{name}"] for name in values} == values
    assert row(app, texts.CORRECT) == sorted(values["numbers"].split(), key=int)
    app.segmented_control(key="encoder_decoder_task").set_value("reverse").run()
    defaults = {"vocab": SIZES["vocab"].default, "batches": SIZES["batches"].default, "numbers": NUMBERS}
    assert {name: app.session_state[f"encoder_decoder_{name}"] for name in values} == defaults


def test_sizes_and_numbers_of_the_reader_s_own_stay_when_another_task_is_chosen(open_app: Open):
    app = open_app("encoder_decoder", vocab="60", batches="50", numbers="7 3 11")
    app.segmented_control(key="encoder_decoder_task").set_value("sort").run()
    kept = {name: app.session_state[f"encoder_decoder_{name}"] for name in ("vocab", "batches", "numbers")}
    assert kept == {"vocab": 60, "batches": 50, "numbers": "7 3 11"}


@pytest.mark.ci
@pytest.mark.parametrize(
    ("task", "values", "learned"),
    [("copy", {}, True), ("reverse", {}, True), ("sort", {}, False), ("sort", TASK_VALUES["sort"], True)],
    ids=["copy", "reverse", "sort with the sizes of copy", "sort with its own sizes"],
)
def test_what_the_page_says_of_the_loss_of_each_task_holds(task: str, values: dict, learned: bool):
    sizes = {SIZES[name].setting: value for name, value in values.items() if name in SIZES}
    limit = 0.01 if learned else 0.1
    assert any(record.loss < limit for record in start_copy_training(replace(QUICK, task=task, **sizes)).updates()) == learned


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with space for two trainings, which rest as long as the test asks."""
    with own_server(monkeypatch, limit=2, pause=getattr(request, "param", 0.005)) as registry:
        yield registry


def upload(app: AppTest, data: bytes) -> AppTest:
    box = app.file_uploader(key="encoder_decoder_file")
    return box.set_value(("model.safetensors", data, "application/octet-stream")).run()


def test_a_stopped_training_is_kept_as_a_file_and_goes_on_from_it(open_app: Open, trainings: Registry):
    whole = [record.loss for record in start_copy_training(SETTINGS).updates()]
    half = start_copy_training(SETTINGS)
    updates = half.updates()
    for _ in range(4):
        next(updates)
    updates.close()
    app = upload(open_app("encoder_decoder", numbers="3 4 5"), model.to_file(half))
    assert after(4, 10) in says(app)
    assert LOADED_MODEL in says(app)
    press(app, "continue")
    snapshot = until_still(app, trainings, KIND)
    assert snapshot.result.losses == whole
    assert [record.batch for record in snapshot.records] == [5, 6, 7, 8, 9, 10]
    assert not app.exception


@pytest.mark.parametrize(
    "data", [b"", b"not a model", to_file(start_copy_training(SETTINGS))[:-100]], ids=["empty", "foreign", "cut short"]
)
def test_a_file_that_cannot_be_used_is_refused_and_the_trained_model_stays(open_app: Open, trainings: Registry, data: bytes):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    model_trained = until_still(app, trainings, KIND).result
    upload(app, data)
    assert not app.exception
    assert staged(app)["training"]["problem"]
    assert trainings.snapshot(name_of(app), KIND).result is model_trained


def test_the_largest_model_on_offer_fits_every_limit_for_its_file():
    most = {size.setting: size.maximum for size in model.offered_sizes().values()}
    largest = start_copy_training(replace(SETTINGS, **most))
    next(largest.updates())
    largest.losses.extend([1 / 3 + 1] * (most["batches"] - 2))
    size = len(model.to_file(largest))
    assert size > 12_000_000
    assert size < host_settings().max_model_file_megabytes * 1_000_000
    allowed = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["server"]["maxUploadSize"]
    assert allowed > host_settings().max_model_file_megabytes  # beyond the file itself, a browser sends its name and more


def test_a_file_with_sizes_that_the_page_does_not_offer_says_which(open_app: Open):
    app = upload(open_app("encoder_decoder"), to_file(start_copy_training(replace(SETTINGS, num_layers=3))))
    layers = model.offered_sizes()["layers"]
    bounds = {"label": layers.label, "minimum": layers.minimum, "maximum": layers.maximum}
    assert texts.SIZE_NOT_OFFERED.format(value=3, **bounds) in says(app)
    assert STORED_MODEL in says(app)
