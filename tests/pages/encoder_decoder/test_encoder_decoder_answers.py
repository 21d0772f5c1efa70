"""What the page of the encoder-decoder says of a model's answers: what each row reads and writes, and why some are wrong."""

from collections.abc import Iterator

import pytest

from pages.encoder_decoder.pictures import why_wrong
from tests.support.copy_page import KIND, SETTINGS, SMALL, Open, answered, press, says
from tests.support.drawings import maps
from tests.support.trainings import own_server, until_still
from tx_core.training.background import Registry
from tx_core.training.copy_task import Answer, examine, start
from tx_core.transformer.trace import Trace


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with own_server(monkeypatch, limit=2, pause=0.0) as registry:
        yield registry


def test_each_row_of_a_map_names_what_the_decoder_reads_and_writes(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", **SMALL | {"task": "reverse"}), "train")
    until_still(app, trainings, KIND)
    written = answered(app).splitlines()[1].removeprefix("it answers").split()
    training, answer = (header for header, _ in maps(app))
    source = training["keys"]
    assert source[0] == answer["keys"][0] == "start"
    right = source[:0:-1]
    assert training["queries"] == [f"{read} → {number}" for read, number in zip(["start", *right], right, strict=False)]
    assert answer["queries"] == [f"{read} → {number}" for read, number in zip(["start", *written], written, strict=False)]
    app.segmented_control(key="encoder_decoder_kind").set_value("self").run()
    within, _ = maps(app)[1]
    assert within["queries"] == within["keys"] == ["start", *SMALL["numbers"].split()]


def answer_of(numbers: tuple[int, ...], written: tuple[int, ...], *, usual: bool = True) -> Answer:
    return Answer(numbers, written, numbers, usual, Trace("copy", "cpu", ()))


def untested() -> tuple[int, int]:
    pytest.fail("a test tells nothing here")


def test_wrong_answers_are_explained_by_what_the_training_was():
    done, half, none = start(SETTINGS), start(SETTINGS), start(SETTINGS)
    done.losses, half.losses = [1.0] * 10, [1.0] * 4
    wrong = answer_of((5, 6, 7, 8, 9), (5, 6, 2, 8, 3))
    assert why_wrong(wrong, done, lambda: (12, 500)) == (
        "2 of 5 are wrong (✗): its training was short, 10 batches, and more usually leave fewer mistakes. "
        "In a test on new sequences, 12 of 500 numbers were wrong."
    )
    assert why_wrong(wrong, done, lambda: (0, 500)).endswith("0 of 500 numbers were wrong, so such a mistake is rare.")
    assert why_wrong(wrong, half, untested) == "2 of 5 are wrong (✗): its training was stopped after 4 of 10 batches."
    other = why_wrong(answer_of((5, 6), (5, 2), usual=False), done, untested)
    assert other == "1 of 2 is wrong (✗): it was trained on sequences of 5 numbers only, and others are new to it."
    assert why_wrong(wrong, none, untested) == ""
    assert why_wrong(answer_of((5, 6), (5, 6)), done, untested) == ""


def test_the_page_says_why_its_answers_are_wrong(open_app: Open, trainings: Registry):
    app = press(open_app("encoder_decoder", **SMALL), "train")
    trained = until_still(app, trainings, KIND).result
    wrong = answered(app).count("✗")
    assert wrong  # ten batches are too few
    assert f"{wrong} of 5 are wrong (✗): its training was short, 10 batches" in says(app)
    assert f"In a test on new sequences, {examine(trained)[0]} of 500 numbers were wrong." in says(app)
