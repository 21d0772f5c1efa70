"""The head that found the answers is found, whichever it is and whatever the task."""

import numpy as np
import pytest
import torch

from tx_core.training.alignment import best_head, right_numbers
from tx_core.training.synthetic import answer_places
from tx_core.transformer.seq2seq import number_encoding
from tx_core.transformer.trace import AttentionStack, Trace


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_the_head_that_looks_where_the_answers_stand_is_found(task):
    source = torch.tensor([1, 9, 4, 7, 6])
    weights = np.full((3, 2, 4, 5), 0.2, np.float32)
    weights[2, 1] = 0.7 * answer_places(task, source[None])[0].numpy() + 0.06
    text = number_encoding(source)
    found = best_head(Trace("any", "cpu", (AttentionStack("cross", number_encoding(source[:-1]), text, weights),)), task)
    assert (found.layer, found.head) == (2, 1)
    assert found.share == pytest.approx(0.76)


@pytest.mark.parametrize(("task", "right"), [("copy", (9, 4, 7)), ("reverse", (7, 4, 9)), ("sort", (4, 7, 9))])
def test_the_numbers_that_should_be_written_are_those_that_solve_the_source(task, right):
    source = torch.tensor([1, 9, 4, 7])
    weights = np.full((1, 1, 3, 4), 0.25, np.float32)
    stack = AttentionStack("cross", number_encoding(source[:-1]), number_encoding(source), weights)
    assert right_numbers(Trace("any", "cpu", (stack,)), task) == right
