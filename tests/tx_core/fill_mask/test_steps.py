"""Blanks filled one after another, against transformers' BERT asked step by step."""

import itertools
import math

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.fill_mask.steps import MAX_ORDERED_BLANKS, fill_in_every_order, fill_stepwise, named_orders

TEXT = "I [MASK] a [MASK] of [MASK]."


@pytest.fixture(scope="module")
def reference():
    return BertForMaskedLM.from_pretrained(catalogue.MODELS / catalogue.DEFAULT, dtype=torch.float32).eval()


def asked(reference: BertForMaskedLM, row: list[int], place: int) -> torch.Tensor:
    with torch.inference_mode():
        return reference(torch.tensor([row])).logits[0, place].double().log_softmax(-1)


def by_reference(engine, reference: BertForMaskedLM, order: tuple[int, ...] | str) -> tuple[list[tuple[int, int, float]], float]:
    """Each step (blank, entry, log-probability), one forward pass for each empty blank, and the pseudo-log-likelihood."""
    encoding = engine.encode(TEXT)
    row, left, steps = list(encoding.ids), list(range(3)), []
    while left:
        best = {number: asked(reference, row, encoding.blanks[number]).max(0) for number in left}
        number = max(left, key=lambda one: best[one].values.item()) if order == "surest" else order[len(steps)]
        steps.append((number, best[number].indices.item(), best[number].values.item()))
        row[encoding.blanks[number]] = steps[-1][1]
        left.remove(number)
    hidden = [[*row[:place], engine.tokenizer.mask_id, *row[place + 1 :]] for place in range(1, len(row) - 1)]
    return steps, sum(asked(reference, one, place)[row[place]].item() for place, one in enumerate(hidden, start=1))


@pytest.mark.parametrize("order", ["surest", (0, 1, 2), (2, 0, 1)])
def test_each_step_and_both_likelihoods_are_those_of_transformers(engine, reference, order):
    steps, likelihood = by_reference(engine, reference, order)
    found = fill_stepwise(engine, TEXT, order)
    assert [(step.number, step.id) for step in found.steps] == [(number, entry) for number, entry, _ in steps]
    np.testing.assert_allclose([math.log(step.probability) for step in found.steps], [log for *_, log in steps], atol=1e-4)
    assert found.log_probability == pytest.approx(sum(log for *_, log in steps), abs=1e-4)
    assert found.pseudo_log_likelihood == pytest.approx(likelihood, abs=1e-3)


def test_every_order_at_once_is_each_order_alone(engine):
    found = {one.order: one for one in fill_in_every_order(engine, TEXT)}
    assert sorted(found) == sorted(itertools.permutations(range(3)))
    for order, one in found.items():
        alone = fill_stepwise(engine, TEXT, order)
        assert [step.word for step in one.steps] == [step.word for step in alone.steps]
        assert one.sentence == alone.sentence
        assert one.log_probability == pytest.approx(alone.log_probability, abs=1e-4)
        assert one.pseudo_log_likelihood == pytest.approx(alone.pseudo_log_likelihood, abs=1e-3)
    named = named_orders(tuple(found.values()))
    assert named == {name: fill_stepwise(engine, TEXT, name).order for name in ("surest", "left")}
    assert named["left"] == (0, 1, 2)


def test_what_cannot_be_ordered_is_refused(engine):
    with pytest.raises(ValueError, match="each of the 3 blanks once"):
        fill_stepwise(engine, TEXT, (0, 1))
    with pytest.raises(ValueError, match=f"at most {MAX_ORDERED_BLANKS} blanks"):
        fill_in_every_order(engine, "[MASK] " * (MAX_ORDERED_BLANKS + 1))
    with pytest.raises(TextProblem):
        fill_stepwise(engine, "No blank.")
