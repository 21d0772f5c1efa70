"""Attention sinks: shares and lengths by hand, and from the weights of the embedded model by PyTorch."""

import numpy as np
import pytest

from tx_core.analysis.sinks import NOTHING_BESIDE_SINKS, attention_sinks
from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack, plain_encoding


def stack_of(weights: list, value: list, special: tuple[bool, ...]) -> AttentionStack:
    encoding = plain_encoding("abc"[: len(special)], range(len(special)), special)
    return AttentionStack("self", encoding, encoding, np.array([[weights]]), value=np.array([[value]]))


def test_shares_are_of_the_other_tokens_and_lengths_of_both_kinds():
    weights, value = [[0.0, 0.0, 1.0], [0.5, 0.2, 0.3], [0.1, 0.1, 0.8]], [[3.0, 4.0], [6.0, 8.0], [0.0, 1.0]]
    found = attention_sinks(stack_of(weights, value, (True, False, True)))
    assert found.positions == (0, 2)
    assert found.shares.item() == pytest.approx(0.8)
    assert found.even == pytest.approx(2 / 3)
    assert (found.sink_lengths.item(), found.other_lengths.item()) == pytest.approx((3, 10))


def test_without_special_tokens_the_first_is_the_sink_and_even_attention_is_that_of_a_causal_model():
    weights, value = [[1.0, 0.0, 0.0], [0.6, 0.4, 0.0], [0.2, 0.4, 0.4]], [[2.0], [3.0], [5.0]]
    found = attention_sinks(stack_of(weights, value, (False, False, False)))
    assert found.positions == (0,)
    assert (found.shares.item(), found.even) == pytest.approx((0.4, (1 / 2 + 1 / 3) / 2))
    assert (found.sink_lengths.item(), found.other_lengths.item()) == pytest.approx((2, 4))


def test_a_text_of_sinks_only_is_refused():
    with pytest.raises(TextProblem, match=NOTHING_BESIDE_SINKS[:20]):
        attention_sinks(stack_of([[1.0]], [[1.0]], (False,)))
