"""The page of the encoder-decoder: what it trains, says of its answers, and lets a visitor set, on the CPU and on a card."""

import pytest

from pages.encoder_decoder import model, texts
from pages.encoder_decoder.model import NUMBERS, SIZES, TASK_VALUES
from pages.encoder_decoder.stage import explain_errors
from pages.ui.panels.texts import SIZE_TOO_LARGE, SIZES_NEED_CARD
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.texts import NO_MODEL, STORED_MODEL
from tests.support.copy_page import KIND, SETTINGS, SMALL, Open, moments, press, row, says
from tests.support.staged import staged, training_buttons
from tests.support.trainings import until_still
from tx_core.training import copy_task
from tx_core.training.background import Registry
from tx_core.training.copy_task import NOTEBOOK_COPY, QUICK, CopyAnswer, start_copy_training
from tx_core.transformer.trace import Trace

FULL = {"width": "512", "layers": "6", "heads": "8", "feed": "2048", "rate": "0.0005"}
"""The sizes of the notebook, as a link has them."""


def test_a_model_of_other_settings_is_said_and_shown_again(open_app: Open, runs: Registry):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    until_still(app, runs, KIND)
    assert not staged(app)["training"]["other"]
    app.segmented_control(key="encoder_decoder_task").set_value("reverse").run()
    app.number_input(key="encoder_decoder_heads").set_value(4).run()
    app.toggle(key="encoder_decoder_post").set_value(True).run()
    assert not app.exception
    assert stage_texts.OTHER_MODEL in says(app)
    press(app, "show")
    assert not staged(app)["training"]["other"]
    assert app.session_state["encoder_decoder_heads"] == 2


def test_it_opens_on_the_model_that_ships_and_shows_how_it_came_to_be(open_app: Open):
    app = open_app("encoder_decoder")
    assert not app.exception
    sent = staged(app)
    assert sent["training"]["said"] == STORED_MODEL
    assert [stack["kind"] for stack in moments(app)[-1]["stacks"]] == list(texts.KINDS)
    assert [one["batch"] for one in moments(app)] == [0, 1, *range(10, 201, 10)]
    assert row(app, texts.OUTPUT) == row(app, texts.CORRECT) == NUMBERS.split()
    assert row(app, texts.OUTPUT, 0) != NUMBERS.split()
    assert moments(app)[0]["said"] == texts.SAID.format(right=0, total=9)
    assert sent["address"]["defaults"]["heads"] == [[0, 0]]
    assert STORED_MODEL not in says(open_app("encoder_decoder", width="32"))


def answer_of(numbers: tuple[int, ...], written: tuple[int, ...], *, usual: bool = True) -> CopyAnswer:
    return CopyAnswer(numbers, written, numbers, usual, Trace("copy", "cpu", ()))


def untested() -> tuple[int, int]:
    pytest.fail("a test tells nothing here")


def test_wrong_answers_are_explained_by_what_the_training_was():
    done, half, none = start_copy_training(SETTINGS), start_copy_training(SETTINGS), start_copy_training(SETTINGS)
    done.done, half.done = 10, 4
    wrong = answer_of((5, 6, 7, 8, 9), (5, 6, 2, 8, 3))
    errors, short = texts.ERRORS.format(wrong=2, total=5), texts.SHORT_TRAINING.format(batches=10)
    tested = texts.TEST_ERRORS.format(wrong=12, total=500)
    assert explain_errors(wrong, done, lambda: (12, 500)) == f"{errors} {short} {tested}"
    perfect = texts.TEST_PERFECT.format(total=500)
    assert explain_errors(wrong, done, lambda: (0, 500)) == f"{errors} {short} {perfect}"
    assert explain_errors(wrong, half, untested) == f"{errors} {texts.STOPPED_EARLY.format(done=4, total=10)}"
    other = explain_errors(answer_of((5, 6), (5, 2), usual=False), done, untested)
    assert other == f"{texts.ERRORS.format(wrong=1, total=2)} {texts.OTHER_LENGTH.format(length=5)}"
    assert explain_errors(wrong, none, untested) == ""
    assert explain_errors(answer_of((5, 6), (5, 6)), done, untested) == ""


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


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose device has the name of a card."""
    start = copy_task.start_copy_training
    monkeypatch.setattr("tx_core.engine.device.best_device", lambda: "cuda")
    monkeypatch.setattr(model, "best_device", lambda: "cuda")
    monkeypatch.setattr(copy_task, "start_copy_training", lambda settings, device: start(settings, "cpu"))


def test_a_link_to_sizes_of_a_card_says_on_the_cpu_what_they_need_and_changes_nothing(open_app: Open):
    app = open_app("encoder_decoder", **FULL)
    assert not app.exception
    sizes = {name: model.offered_sizes()[name] for name in ("width", "layers", "feed")}
    told = [
        SIZE_TOO_LARGE.format(label=size.label, maximum=size.maximum, value=getattr(NOTEBOOK_COPY, size.setting))
        for size in sizes.values()
    ]
    assert SIZES_NEED_CARD.format(sizes=", ".join(told)) in says(app)
    assert staged(app)["training"] is None
    assert app.number_input(key="encoder_decoder_width").value == 512
    assert "encoder_decoder_full" not in {button.key for button in app.button}
    for name, size in sizes.items():
        app.number_input(key=f"encoder_decoder_{name}").set_value(size.maximum)
    assert training_buttons(app.run()) == ["train"]


def test_a_card_offers_the_full_size_by_a_click(open_app: Open, card: None):
    app = open_app("encoder_decoder").button(key="encoder_decoder_full").click().run()
    assert not app.exception
    own = staged(app)["address"]["own"]
    assert {name: own[name] for name in FULL if name != "heads"} == {k: v for k, v in FULL.items() if k != "heads"}
    chosen = {name: app.session_state[f"encoder_decoder_{name}"] for name in model.SIZES}
    assert chosen == {name: getattr(NOTEBOOK_COPY, size.setting) for name, size in model.SIZES.items()}
    assert training_buttons(app) == ["train"]
    assert staged(app)["training"]["said"] == NO_MODEL
    assert app.session_state["encoder_decoder_untrained"].settings == QUICK  # none of the full size was made
