"""What a visitor sets on the page of the encoder-decoder: sizes, numbers, tasks; all of it in the link."""

from dataclasses import replace

import pytest
import torch

from pages.encoder_decoder import texts
from pages.encoder_decoder.model import NUMBERS, SIZES, TASK_VALUES
from pages.ui.panels.texts import SIZES_DO_NOT_FIT
from tests.support.copy_page import SMALL, Open, press, row, says
from tx_core.lessons.seq2seq_shapes import BatchSizes
from tx_core.training.copy_task import start_copy_training
from tx_core.training.synthetic import QUICK, TASKS, CopySettings, solve


@pytest.mark.parametrize(
    ("asked", "labels"),
    [({"width": "10", "heads": "3"}, ("width", "heads")), ({"width": "9", "heads": "3"}, ("width",))],
)
def test_sizes_that_do_not_go_together_are_told_in_the_words_of_the_page(open_app: Open, asked: dict, labels: tuple):
    app = open_app("encoder_decoder", **asked)
    assert not app.exception
    (problem,) = (text.value for text in app.text if text.value.startswith(SIZES_DO_NOT_FIT.partition("{")[0]))
    assert all(f"“{SIZES[name].label}”" in problem for name in labels)
    assert app.button(key="encoder_decoder_train").disabled


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


@pytest.mark.parametrize("task", TASKS)
def test_each_task_shows_the_right_answer_below_the_model_s(open_app: Open, task: str):
    app = open_app("encoder_decoder", **SMALL | {"task": task})
    right = solve(task, torch.tensor([[1, 7, 3, 11, 2, 5]]))[0, 1:].tolist()
    assert [int(word) for word in row(app, texts.CORRECT)] == right


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


@pytest.mark.parametrize(
    ("task", "values", "learned"),
    [("copy", {}, True), ("reverse", {}, True), ("sort", {}, False), ("sort", TASK_VALUES["sort"], True)],
    ids=["copy", "reverse", "sort with the sizes of copy", "sort with its own sizes"],
)
def test_what_the_page_says_of_the_loss_of_each_task_holds(task: str, values: dict, learned: bool):
    sizes = {SIZES[name].setting: value for name, value in values.items() if name in SIZES}
    losses = [record.loss for record in start_copy_training(replace(QUICK, task=task, **sizes)).steps()]
    assert (losses[-1] < 0.01) if learned else (min(losses) > 0.1)


def test_the_defaults_of_the_page_are_the_quick_sizes_of_the_core():
    sizes = {size.setting: size.default for size in SIZES.values()}
    assert CopySettings(task="copy", norm_first=True, learning_rate=QUICK.learning_rate, **sizes) == QUICK


def test_masks_and_shapes_are_those_of_the_notebook_at_first(open_app: Open):
    app = open_app("encoder_decoder", part="inside")
    assert not app.exception
    table = app.table[0].value
    assert list(table.columns) == list(texts.SHAPE_COLUMNS)
    assert list(table[texts.SHAPE_COLUMNS[2]])[-1] == "(16, 12, 100)"
    assert texts.PARAMETERS.format(parameters=44_292_196) in says(app)
    told = open_app("encoder_decoder", part="inside", source="4", pad_source="4")
    with pytest.raises(ValueError, match="source") as rule:
        BatchSizes(batch=16, source=4, target=12, source_padding=4)
    assert SIZES_DO_NOT_FIT.format(rule=rule.value) in says(told)


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
