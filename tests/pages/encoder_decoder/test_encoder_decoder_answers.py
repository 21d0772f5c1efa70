"""What the page of the encoder-decoder says of a model's answers: what each row reads and writes, and why some are wrong."""

from collections.abc import Iterator

import pytest

from pages.encoder_decoder import texts
from pages.encoder_decoder.model import NUMBERS
from pages.encoder_decoder.stage import explain_errors
from pages.ui.stage.texts import STORED_MODEL
from tests.support.copy_page import KIND, SETTINGS, SMALL, Open, moments, press, row, says
from tests.support.staged import staged
from tests.support.trainings import own_server, until_still
from tx_core.training.background import Registry
from tx_core.training.copy_task import CopyAnswer, start_copy_training
from tx_core.transformer.trace import Trace


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with own_server(monkeypatch, limit=2, pause=0.0) as registry:
        yield registry


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


def test_each_row_of_a_map_names_what_the_decoder_reads_and_writes(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", **SMALL | {"task": "reverse"}), "train")
    until_still(app, trainings, KIND)
    source = [texts.START, *SMALL["numbers"].split()]
    for place, moment in enumerate(moments(app)):
        written = row(app, texts.OUTPUT, place)
        cross, within, _ = moment["stacks"]
        assert cross["keys"]["tokens"] == within["queries"]["tokens"] == source
        named = [f"{read} → {number}" for read, number in zip([texts.START, *written], written, strict=False)]
        assert cross["queries"]["tokens"] == named
    assert row(app, texts.CORRECT) == source[:0:-1]


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
