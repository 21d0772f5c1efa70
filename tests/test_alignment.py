"""The head that found the answers is found, whichever it is and whatever the task."""

import numpy as np
import pytest
import torch

from tx_core.seq2seq import number_encoding
from tx_core.trace import AttentionStack, Trace
from tx_core.training.alignment import best_head
from tx_core.training.synthetic import answer_places


@pytest.mark.parametrize("task", ["copy", "reverse", "sort"])
def test_the_head_that_looks_where_the_answers_stand_is_found(task):
    source = torch.tensor([1, 9, 4, 7, 6])
    weights = np.full((3, 2, 4, 5), 0.2, np.float32)
    weights[2, 1] = 0.7 * answer_places(task, source[None])[0].numpy() + 0.06
    text = number_encoding(source)
    found = best_head(Trace("any", "cpu", (AttentionStack("cross", number_encoding(source[:-1]), text, weights),)), task)
    assert (found.layer, found.head) == (2, 1)
    assert found.share == pytest.approx(0.76)
