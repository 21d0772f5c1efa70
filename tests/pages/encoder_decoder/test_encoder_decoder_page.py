"""The page of the encoder-decoder: training starts, is watched, stops and goes on, and nobody waits for another."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pages.encoder_decoder import texts
from pages.encoder_decoder.model import SIZES
from pages.ui.stage import texts as stage_texts
from tests.support.copy_page import KIND, SETTINGS, SMALL, Open, buttons, press, progress, row, says
from tests.support.staged import staged
from tests.support.trainings import SLOWLY, name_of, own_server, until_still
from tx_core.training import background
from tx_core.training.background import QUEUE_FULL, Registry
from tx_core.training.copy_task import start_copy_training
from tx_core.training.loop import TOO_LONG_RUN
from tx_core.training.synthetic import TASKS

LONG = SMALL | {"batches": "600"}


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Registry]:
    """A server of its own for each test, with space for two trainings, which rest as long as the test asks."""
    with own_server(monkeypatch, limit=2, pause=getattr(request, "param", 0.005)) as registry:
        yield registry


def test_a_trained_model_is_discarded_by_a_reload_and_trained_again_from_its_link_it_is_the_same(
    open_app: Open, trainings: Registry
):
    found = []
    for _ in range(2):
        app = press(open_app("encoder_decoder", **SMALL), "train")
        found.append(until_still(app, trainings, KIND))
        assert texts.DISCARDED in says(app.run())
    assert found[0].result is not found[1].result
    assert [record.values for record in found[0].records] == [record.values for record in found[1].records]


def test_a_model_of_other_settings_is_named(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    until_still(app, trainings, KIND)
    assert not staged(app)["training"]["other"]
    app.segmented_control(key="encoder_decoder_task").set_value("reverse").run()
    app.number_input(key="encoder_decoder_heads").set_value(4).run()
    app.toggle(key="encoder_decoder_post").set_value(True).run()
    assert not app.exception
    differences = [f"{SIZES['heads'].label} 2", TASKS["copy"].title, texts.NORMS[True]]
    assert stage_texts.OTHER_MODEL.format(differences=", ".join(differences)) in says(app)
    press(app, "show")
    assert not staged(app)["training"]["other"]
    assert app.session_state["encoder_decoder_heads"] == 2


@pytest.mark.parametrize("trainings", [SLOWLY], indirect=True)
def test_a_stopped_training_goes_on_with_its_own_settings_as_if_never_stopped(
    open_app: Open, trainings: Registry, monkeypatch: pytest.MonkeyPatch
):
    app = press(press(open_app("encoder_decoder", **SMALL | {"batches": "60"}), "train"), "stop")
    done = len(until_still(app, trainings, KIND).records)
    assert 0 < done < 60
    monkeypatch.setattr(background, "REST_SECONDS", 0.0)
    app.segmented_control(key="encoder_decoder_task").set_value("reverse").run()
    app.number_input(key="encoder_decoder_width").set_value(32).run()
    press(app, "continue")
    assert buttons(app) == ["stop"]
    snapshot = until_still(app, trainings, KIND)
    assert snapshot.state == "finished"
    assert [record.batch for record in snapshot.records] == list(range(1, 61))
    whole = start_copy_training(replace(SETTINGS, batches=60)).updates()
    assert [record.values for record in snapshot.records] == [record.values for record in whole]
    assert app.segmented_control(key="encoder_decoder_task").value == "copy"
    assert app.number_input(key="encoder_decoder_width").value == 16
    assert buttons(app) == ["train"]


def test_the_page_promises_no_trained_model_to_whoever_opens_its_link(open_app: Open):
    assert texts.SHARED in says(open_app("encoder_decoder", **SMALL))


@pytest.mark.parametrize("trainings", [SLOWLY], indirect=True)
def test_two_visitors_train_at_once_the_next_ones_wait_and_one_too_many_is_told_so(open_app: Open, trainings: Registry):
    apps = [open_app("encoder_decoder", **LONG | {"seed": seed}) for seed in "12345"]
    for app in apps:
        press(app, "train")
    first, second, third, fourth, fifth = apps
    assert trainings.running == 2
    assert [progress(app) for app in (third, fourth)] == [stage_texts.QUEUE_NEXT, stage_texts.QUEUE_ONE_AHEAD]
    assert QUEUE_FULL in says(fifth)
    assert buttons(fifth) == ["train"]
    assert not {stage_texts.QUEUE_NEXT, stage_texts.QUEUE_ONE_AHEAD} & {progress(first), progress(second)}
    press(first, "stop")
    until_still(first, trainings, KIND)
    assert buttons(third.run()) == ["stop"]
    assert progress(third) != stage_texts.QUEUE_NEXT
    assert progress(fourth.run()) == stage_texts.QUEUE_NEXT
    press(fourth, "stop")
    assert buttons(fourth) == ["train"]
    press(fifth, "train")
    assert progress(fifth) == stage_texts.QUEUE_NEXT
    assert QUEUE_FULL not in says(fifth)
    seeds = [trainings._jobs[name_of(app), KIND].training.settings.seed for app in (second, third)]
    assert seeds == [2, 3]
    assert trainings.running == 2


def test_a_run_that_would_keep_the_host_too_long_is_refused(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", width="128", layers="2", feed="512", batches="600", length="16"), "train")
    assert TOO_LONG_RUN.partition("}")[2] in says(app)
    assert trainings.running == 0


@pytest.mark.parametrize("trainings", [SLOWLY], indirect=True)
def test_the_box_stands_there_all_the_time_and_loses_nothing_that_was_typed(open_app: Open, trainings: Registry):
    app = open_app("encoder_decoder", **LONG)
    box = "encoder_decoder_numbers"
    app.text_input(key=box).set_value("2 3 4 5 6").run()
    press(app, "train")
    assert app.text_input(key=box).value == "2 3 4 5 6"
    app.text_input(key=box).set_value("6 5 4").run()
    press(app, "stop")
    until_still(app, trainings, KIND)
    assert app.text_input(key=box).value == "6 5 4"
    assert row(app, texts.INPUT) == ["6", "5", "4"]
    app.number_input(key="encoder_decoder_width").set_value(9).run()
    assert f"“{SIZES['width'].label}”" in says(app)
    assert app.text_input(key=box).value == "6 5 4"
