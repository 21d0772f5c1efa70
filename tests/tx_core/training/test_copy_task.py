"""The synthetic tasks, the training run, what the model answers, and the head that finds the answers."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from tx_core.errors import TextProblem
from tx_core.training import copy_task
from tx_core.training.copy_task import (
    EXAM_SEED,
    QUICK,
    TASKS,
    answer_places,
    answer_sequence,
    best_aligned_head,
    count_errors,
    number_encoding,
    random_sources,
    read_numbers,
    solve,
    start_copy_training,
)
from tx_core.transformer.trace import AttentionStack, Trace

# Small enough for a quick test.
TINY = replace(
    QUICK, vocab_size=20, length=8, batch_size=32, hidden_size=32, intermediate_size=64, num_heads=2, learning_rate=1e-2
)


@pytest.fixture(scope="module")
def learned():
    training = start_copy_training(TINY)
    return training, list(training.updates())


@pytest.mark.parametrize("problem", [torch.OutOfMemoryError("full"), RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED")])
def test_a_training_whose_card_is_full_goes_on_on_the_cpu_and_comes_to_the_same(learned, monkeypatch, problem):
    training, train_batch = start_copy_training(TINY), copy_task.train_copy_batch
    training.device = "cuda"
    allowed = copy_task.PROBE_EVERY

    def on_a_card(training) -> dict[str, float]:
        if training.device == "cuda" and training.done == 5:
            training.optimiser.zero_grad()
            first = next(training.model.parameters())
            first.grad = torch.ones_like(first)  # what the broken batch left
            raise problem
        where, training.device = training.device, "cpu"
        values = train_batch(training)
        training.device = where
        return values

    monkeypatch.setattr(copy_task, "train_copy_batch", on_a_card)
    monkeypatch.setattr(training, "probe_and_test", lambda: (None, None), raising=False)
    records = list(islice(training.updates(), allowed))
    assert training.device == "cpu" and [one.done for one in records] == list(range(1, allowed + 1))
    assert [one.values for one in records] == [one.values for one in learned[1][:allowed]]


def test_another_error_ends_a_training_where_it_is(monkeypatch):
    training = start_copy_training(TINY)
    training.device = "cuda"

    def fail(training) -> dict[str, float]:
        raise RuntimeError("shapes")

    monkeypatch.setattr(copy_task, "train_copy_batch", fail)
    with pytest.raises(RuntimeError, match="shapes"):
        next(training.updates())
    assert training.device == "cuda"


def test_each_task_by_hand():
    source = torch.tensor([[1, 7, 3, 9]])
    answers = {task: solve(task, source)[0].tolist() for task in TASKS}
    assert answers == {"copy": [1, 7, 3, 9], "reverse": [1, 9, 3, 7], "sort": [1, 3, 7, 9]}
    places = {task: answer_places(task, source)[0].int().argmax(-1).tolist() for task in TASKS}
    assert places == {"copy": [1, 2, 3], "reverse": [3, 2, 1], "sort": [2, 1, 3]}

    equal = answer_places("sort", torch.tensor([[1, 5, 2, 5]]))[0].int().tolist()
    assert equal == [[0, 0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 1]], "equal numbers are equally right"


def test_within_200_batches_the_loss_falls_below_a_hundredth_and_cross_attention_finds_the_shifted_diagonal(learned):
    _, progress = learned
    assert [record.done for record in progress] == list(range(1, 201))
    first, last = progress[0].values, progress[-1].values
    assert first["loss"] > 2.5 and first["alignment"] < 0.3
    assert last["loss"] < 0.01 and last["accuracy"] > 0.995 and last["alignment"] > 0.7
    answer = progress[-1].probe
    assert answer.written == answer.right
    assert answer.trace.stacks[2].kind == "cross"
    assert answer.trace.stacks[2].weights.mean(axis=(0, 1)).argmax(-1).tolist() == list(range(1, 8))


def test_a_trained_model_copies_a_sequence_of_ones_own_and_its_test_counts_what_is_wrong_in_new_ones(learned):
    training, _ = learned
    result = answer_sequence(training, read_numbers("7, 3 3 19 2 11 5", TINY))
    assert result.written == result.right == (7, 3, 3, 19, 2, 11, 5)
    assert result.trace.stacks[2].query_tokens.tokens == ("1", "7", "3", "3", "19", "2", "11")
    assert result.usual_length and not answer_sequence(training, (4, 5)).usual_length
    sources = random_sources(6, TINY.length, TINY.vocab_size, EXAM_SEED)[:, 1:].tolist()
    untrained = start_copy_training(TINY)
    for one in (untrained, training):
        wrong = sum(len(numbers) - answer_sequence(one, numbers).right_ones for numbers in sources)
        assert count_errors(one, 6) == (wrong, 6 * (TINY.length - 1))
    assert count_errors(training, 6)[0] < count_errors(untrained, 6)[0]


@pytest.mark.parametrize("text", ["  , ", "1 2", "2 20", "2.5", "２", "9" * 5000, "2 " * 8])
def test_what_is_no_sequence_is_refused_with_the_rule(text):
    with pytest.raises(TextProblem, match="Write 1 to 7 whole numbers from 2 to 19"):
        read_numbers(text, TINY)


def test_the_head_that_looks_where_the_answers_stand_is_found():
    task = "reverse"
    source = torch.tensor([1, 9, 4, 7, 6])
    weights = np.full((3, 2, 4, 5), 0.2, np.float32)
    weights[2, 1] = 0.7 * answer_places(task, source[None])[0].numpy() + 0.06
    stack = AttentionStack("cross", number_encoding(source.tolist()[:-1]), number_encoding(source.tolist()), weights)
    assert best_aligned_head(Trace("any", "cpu", (stack,)), task) == (2, 1)
