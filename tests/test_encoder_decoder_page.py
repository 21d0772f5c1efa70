"""The page of the encoder-decoder: training starts, is watched, stops, is kept as a file, and nobody waits for another."""

import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import torch
from serving import ROOT
from streamlit.testing.v1 import AppTest

from pages.ui import copy_controls, training_view
from tx_core.training.background import Registry, Snapshot
from tx_core.training.copy_file import to_file
from tx_core.training.copy_run import start
from tx_core.training.copy_settings import CopySettings
from tx_core.training.synthetic import solve

Open = Callable[..., AppTest]
KIND = "sequences"
SMALL = {"vocab": "12", "length": "6", "batch": "16", "batches": "10", "width": "16", "layers": "1", "heads": "2",
         "feed": "24", "seed": "3", "numbers": "7 3 11 2 5"}  # fmt: skip
LONG = SMALL | {"batches": "600"}
SETTINGS = CopySettings(task="copy", vocab_size=12, length=6, batch_size=16, batches=10, hidden_size=16, num_layers=1,
                        num_heads=2, intermediate_size=24, norm_first=True, learning_rate=5e-3, seed=3)  # fmt: skip

SLOWLY = 0.1
"""Seconds of rest after each batch, for tests that must meet a training before its end on a busy machine, too."""


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with room for two trainings, which rest as long as the test asks."""
    registry = Registry(limit=2, kept=8, pause=getattr(request, "param", 0.005))
    monkeypatch.setattr(training_view, "TRAININGS", registry)
    yield registry
    for visitor, kind in list(registry._jobs):
        registry.stop(visitor, kind)


def says(app: AppTest) -> str:
    kinds = (app.text, app.caption, app.info, app.markdown, app.code)
    return "\n".join(element.value for kind in kinds for element in kind)


def name_of(app: AppTest) -> str:
    return app.session_state["training_visitor"]


def press(app: AppTest, name: str) -> AppTest:
    return app.button(key=f"encoder_decoder_{name}").click().run()


def buttons(app: AppTest) -> set[str]:
    return {button.label for button in app.button}


def until_still(app: AppTest, registry: Registry) -> Snapshot:
    end = time.monotonic() + 60
    while (snapshot := registry.snapshot(name_of(app), KIND)).running:
        assert time.monotonic() < end, "the training did not end within 60 seconds"
        time.sleep(0.01)
    app.run()
    return snapshot


def answered(app: AppTest) -> str:
    (block,) = (code.value for code in app.code if code.value.startswith("you wrote"))
    return block


def upload(app: AppTest, data: bytes) -> AppTest:
    box = app.file_uploader(key="encoder_decoder_file")
    return box.set_value(("model.safetensors", data, "application/octet-stream")).run()


def test_before_training_the_page_says_that_its_numbers_are_random(open_app: Open):
    app = open_app("encoder_decoder")
    assert not app.exception
    assert "not trained yet" in says(app)
    assert "Encoder-decoder, 1 + 1 layers" in says(app)
    assert buttons(app) >= {"Train", "Draw numbers"}
    assert "Reloading the page loses a trained model" in says(app)
    assert app.query_params == {}


def test_a_training_runs_through_and_its_model_answers(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    assert "Stop" in buttons(app)
    assert "not trained yet" not in says(app)
    snapshot = until_still(app, trainings)
    assert snapshot.state == "finished"
    assert snapshot.result.settings == SETTINGS
    assert "10 of 10 batches" in says(app)
    assert app.select_slider(key="encoder_decoder_moment").value == 10
    assert not app.exception


def test_what_is_left_of_a_run_with_other_settings_is_headed_as_such(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    until_still(app, trainings)
    assert "Your last model" not in [header.value for header in app.subheader]
    app.segmented_control(key="encoder_decoder_task").set_value("reverse").run()
    app.number_input(key="encoder_decoder_heads").set_value(3).run()  # which does not go with a width of 16
    app.toggle(key="encoder_decoder_post").set_value(True).run()
    assert not app.exception
    assert "Your last model" in [header.value for header in app.subheader]
    assert "than those above: Heads 2, Copy, pre-norm." in says(app)
    app.segmented_control(key="encoder_decoder_task").set_value("copy").run()
    app.number_input(key="encoder_decoder_heads").set_value(2).run()
    app.toggle(key="encoder_decoder_post").set_value(False).run()
    assert "Your last model" not in [header.value for header in app.subheader]


@pytest.mark.parametrize("trainings", [SLOWLY], indirect=True)
def test_the_training_of_a_rerun_goes_on_and_a_click_stops_it(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", **LONG), "train")
    before = len(trainings.snapshot(name_of(app), KIND).records)
    app.run()
    app.segmented_control(key="encoder_decoder_part").set_value("inside").run()
    app.segmented_control(key="encoder_decoder_part").set_value("train").run()
    assert len(trainings.snapshot(name_of(app), KIND).records) >= before
    press(app, "stop")
    snapshot = until_still(app, trainings)
    assert snapshot.state == "stopped"
    done = len(snapshot.result.losses)
    assert 0 < done < 600
    assert f"{done} of 600 batches" in says(app)
    assert buttons(app) >= {"Continue", "Train anew"}


@pytest.mark.parametrize("trainings", [SLOWLY], indirect=True)
def test_a_stopped_training_goes_on_with_its_own_settings_as_if_never_stopped(open_app: Open, trainings: Registry):
    app = press(press(open_app("encoder_decoder", **SMALL | {"batches": "60"}), "train"), "stop")
    done = len(until_still(app, trainings).records)
    assert 0 < done < 60
    trainings._pause = 0.0
    app.segmented_control(key="encoder_decoder_task").set_value("reverse").run()
    app.number_input(key="encoder_decoder_width").set_value(32).run()
    press(app, "continue")
    assert "Stop" in buttons(app)
    snapshot = until_still(app, trainings)
    assert snapshot.state == "finished"
    assert [record.batch for record in snapshot.records] == list(range(1, 61))
    assert snapshot.result.losses == [record.loss for record in start(replace(SETTINGS, batches=60)).steps()]
    assert app.segmented_control(key="encoder_decoder_task").value == "copy"
    assert app.number_input(key="encoder_decoder_width").value == 16
    assert "Continue" not in buttons(app)


def test_a_stopped_training_is_kept_as_a_file_and_goes_on_from_it(open_app: Open, trainings: Registry):
    whole = [record.loss for record in start(SETTINGS).steps()]
    half = start(SETTINGS)
    steps = half.steps()
    for _ in range(4):
        next(steps)
    steps.close()
    app = upload(open_app("encoder_decoder"), copy_controls.to_file(half))
    assert "4 of 10 batches" in says(app)
    press(app, "continue")
    snapshot = until_still(app, trainings)
    assert snapshot.result.losses == whole
    assert [record.batch for record in snapshot.records] == [5, 6, 7, 8, 9, 10]
    assert not app.exception


def test_the_link_of_a_training_page_promises_no_trained_model(open_app: Open):
    app = open_app("encoder_decoder", **SMALL)
    app.session_state["share_link"] = True
    told = says(app.run())
    assert "not the trained model" in told
    assert "sees what you see now" not in told


@pytest.mark.parametrize("trainings", [SLOWLY], indirect=True)
def test_two_visitors_train_at_once_and_a_third_is_told_that_the_host_is_busy(open_app: Open, trainings: Registry):
    first, second, third = (open_app("encoder_decoder", **LONG | {"seed": seed}) for seed in "123")
    press(first, "train")
    press(second, "train")
    assert trainings.running == 2
    press(third, "train")
    assert "training for other visitors" in says(third)
    assert "Train" in buttons(third)
    press(first, "stop")
    until_still(first, trainings)
    press(third, "train")
    assert "Stop" in buttons(third)
    assert "training for other visitors" not in says(third)
    seeds = [trainings._jobs[name_of(app), KIND].training.settings.seed for app in (second, third)]
    assert seeds == [2, 3]


def test_a_kept_model_comes_back_with_its_settings_and_answers_as_before(open_app: Open, trainings: Registry):
    first = press(open_app("encoder_decoder", **SMALL), "train")
    trained = until_still(first, trainings).result
    second = upload(open_app("encoder_decoder", numbers=SMALL["numbers"]), to_file(trained))
    assert not second.exception
    assert answered(second) == answered(first)
    assert "10 of 10 batches" in says(second)
    assert second.query_params == first.query_params
    assert trainings.snapshot(name_of(second), KIND).result.losses == trained.losses


@pytest.mark.parametrize("data", [b"", b"not a model", to_file(start(SETTINGS))[:-100]], ids=["empty", "foreign", "cut short"])
def test_a_file_that_cannot_be_used_is_refused_and_the_trained_model_stays(open_app: Open, trainings: Registry, data: bytes):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    trained = until_still(app, trainings).result
    upload(app, data)
    assert not app.exception
    assert "does not work yet" in says(app)
    assert trainings.snapshot(name_of(app), KIND).result is trained


def test_the_largest_model_on_offer_fits_every_limit_for_its_file():
    most = {ours: highest for ours, _, _, _, highest, _ in copy_controls.NUMBERS.values()}
    largest = start(replace(SETTINGS, **most))
    next(largest.steps())
    largest.losses.extend([1 / 3 + 1] * (most["batches"] - 2))
    size = len(copy_controls.to_file(largest))
    assert size > 12_000_000
    assert size < copy_controls.MOST_FILE_MEGABYTES * 1_000_000
    allowed = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["server"]["maxUploadSize"]
    assert allowed > copy_controls.MOST_FILE_MEGABYTES  # beyond the file itself, a browser sends its name and more


def test_a_file_with_sizes_that_the_page_does_not_offer_says_which(open_app: Open):
    app = upload(open_app("encoder_decoder"), to_file(start(replace(SETTINGS, num_layers=3))))
    assert "“Layers” from 1 to 2; this file has 3" in says(app)
    assert "not trained yet" in says(app)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"width": "10", "heads": "3"}, "“Width” must divide by “Heads”, got 10 and 3"),
        ({"width": "9", "heads": "3"}, "“Width” must be even"),
    ],
)
def test_sizes_that_do_not_go_together_are_told_in_the_words_of_the_page(open_app: Open, asked: dict, told: str):
    app = open_app("encoder_decoder", **asked)
    assert not app.exception
    assert told in says(app)
    assert app.button(key="encoder_decoder_train").disabled


def test_a_run_that_would_keep_the_host_too_long_is_refused(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", width="128", layers="2", feed="512", batches="600", length="16"), "train")
    assert "times as long as this server allows" in says(app)
    assert trainings.running == 0


@pytest.mark.parametrize("written", ["", "one two", "3 4 999", "<b>5</b>", "1 2", "3 " * 40])
def test_numbers_that_the_model_cannot_read_are_told_and_kept(open_app: Open, written: str):
    app = open_app("encoder_decoder", **SMALL | {"numbers": written})
    assert not app.exception
    assert "whole numbers from 2 to 11" in says(app)
    assert app.text_input(key="encoder_decoder_numbers").value == written


def test_numbers_are_drawn_to_fit_the_sizes(open_app: Open):
    app = press(open_app("encoder_decoder", **SMALL), "draw")
    numbers = [int(word) for word in app.text_input(key="encoder_decoder_numbers").value.split()]
    assert len(numbers) == 5
    assert all(2 <= number < 12 for number in numbers)


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_each_task_shows_the_right_answer_below_the_model_s(open_app: Open, task: str):
    app = open_app("encoder_decoder", **SMALL | {"task": task})
    lines = answered(app).splitlines()
    right = solve(task, torch.tensor([[1, 7, 3, 11, 2, 5]]))[0, 1:].tolist()
    assert [int(word) for word in lines[2].removeprefix("right is").split()] == right


def test_masks_and_shapes_are_those_of_the_notebook_at_first(open_app: Open):
    app = open_app("encoder_decoder", part="inside")
    assert not app.exception
    table = app.table[0].value
    assert list(table["Shape"])[-1] == "(16, 12, 100)"
    assert "44,292,196" in says(app)
    told = open_app("encoder_decoder", part="inside", source="4", pad_source="4")
    assert "the source must keep a token" in says(told)


def test_every_setting_of_a_link_comes_back_in_the_link(open_app: Open):
    asked = SMALL | {"layers": "2", "task": "sort", "rate": "0.01", "post": "1", "kind": "decoder", "head": "1-2"}
    app = open_app("encoder_decoder", **asked)
    assert not app.exception
    written = {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}
    assert written == asked | {"part": "train"}


def test_a_link_with_nonsense_shows_the_usual_and_says_so(open_app: Open):
    nonsense = {"task": "translate", "rate": "nan", "head": "9-9", "width": "-1", "size_batch": "x"}
    app = open_app("encoder_decoder", **nonsense)
    assert not app.exception
    told = says(app)
    assert all(name in told for name in nonsense)
    usual = {"task": "copy", "rate": 0.005, "head": None, "width": 64, "size_batch": 16}
    assert {name: app.session_state[f"encoder_decoder_{name}"] for name in nonsense} == usual
