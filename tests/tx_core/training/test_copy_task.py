"""The synthetic tasks, the training run, what the model answers, and the head that finds the answers."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tx_core.errors import TextProblem
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
