"""What a visitor sets on the page of the encoder-decoder (sizes, numbers, tasks), in its link."""

from dataclasses import replace

import pytest

from pages.encoder_decoder import texts
from pages.encoder_decoder.model import NUMBERS, SIZES, TASK_VALUES
from pages.ui.panels.texts import SIZES_DO_NOT_FIT
from tests.support.copy_page import SMALL, Open, row, says
from tests.support.staged import staged
from tx_core.training.copy_task import start_copy_training
from tx_core.training.synthetic import QUICK


def test_sizes_that_do_not_go_together_are_reported_in_the_words_of_the_page(open_app: Open):
    app = open_app("encoder_decoder", width="10", heads="3")
    assert not app.exception
    (problem,) = (text.value for text in app.text if text.value.startswith(SIZES_DO_NOT_FIT.partition("{")[0]))
    assert all(f"“{SIZES[name].label}”" in problem for name in ("width", "heads"))
    assert staged(app)["training"] is None


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
    assert (
        any(record.values["loss"] < limit for record in start_copy_training(replace(QUICK, task=task, **sizes)).updates())
        == learned
    )
