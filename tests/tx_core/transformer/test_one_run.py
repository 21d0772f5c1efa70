"""One run: rows that begin at a later layer, and what nobody looks at, change no number."""

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.support.torch_weights import SMALL_BERT, shake
from tx_core.transformer import layers
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.bert import Bert, random_bert
from tx_core.transformer.interventions import Intervention, Vectors
from tx_core.transformer.trace import ALL_PARTS

LAYERS = 3
SIZES = replace(SMALL_BERT, vocab_size=90, hidden_size=24, num_layers=LAYERS, num_heads=4, intermediate_size=40, max_positions=19)
IDS = torch.randint(90, (1, 7), generator=torch.Generator().manual_seed(5))
SEGMENTS = (torch.arange(7) > 4).long()[None]
KEPT = tuple(part for part in ALL_PARTS if part != "blank_logits")


def fresh() -> Bert:
    """A BERT of which no bias is zero and no head looks everywhere alike, in double precision."""
    return shake(random_bert(SIZES, 4).double(), 6)


@pytest.fixture(scope="module")
def model() -> Bert:
    return fresh()


def changes_at(layer: int) -> list[Intervention]:
    return [
        Intervention("off", layer, 1),
        Intervention("off", layer),
        Intervention("uniform", layer, 2),
        Intervention("hidden", layer, positions=(2,)),
        Intervention("cut", layer, 3, (4, 1)),
        Intervention("temperature", layer, value=3.0),
        Intervention("sparse", layer),
        Intervention("hard", layer),
        Intervention("patch", layer, positions=(2,), part="residual"),
        Intervention("patch", layer, positions=(5,), part="residual"),
        Intervention("patch", layer, positions=(5,), part="mlp"),
        Intervention("patch", layer, positions=(2,)),
        Intervention("patch", layer, 1),
        Intervention("mean", layer, 2),
        Intervention("mean", layer, part="mlp"),
        Intervention("off", layer, part="mlp"),
    ]


def other_vectors(tokens: int) -> Vectors:
    generator = np.random.default_rng(tokens)
    context = generator.standard_normal((LAYERS, 4, tokens, 6))
    mlp, residual = generator.standard_normal((2, LAYERS, tokens, 24))
    context[:, :, 3:4], mlp[:, 3:4], residual[:, 3:4] = np.nan, np.nan, np.nan
    return Vectors(context, mlp, residual)


VECTORS = {"patch": other_vectors(7), "mean": other_vectors(1)}


def assert_as_from_the_bottom(model: Bert, runs: Sequence[Sequence[Intervention]]) -> None:
    """Hold all that is kept of many runs of one text equal to a batch in which every run begins at the bottom."""
    each = IDS.expand(len(runs), -1), SEGMENTS.expand(len(runs), -1)
    expected = model(*each, keep=KEPT, interventions=runs, vectors=VECTORS)
    found = model(IDS, SEGMENTS, keep=KEPT, interventions=runs, vectors=VECTORS)
    assert (expected.output[1:] - expected.output[:1]).abs().amax(dim=(1, 2)).min() > 1e-4, "a change changed nothing"
    torch.testing.assert_close([found.output, *found.hidden], [expected.output, *expected.hidden], atol=1e-12, rtol=0)
    torch.testing.assert_close(list(found.layers), list(expected.layers), atol=1e-12, rtol=0)
    places = [5, 2]
    at_places = model(IDS, SEGMENTS, interventions=runs, places=places, vectors=VECTORS).output
    torch.testing.assert_close(at_places, expected.output[:, places], atol=1e-12, rtol=0)


@pytest.mark.parametrize("layer", range(LAYERS))
@torch.inference_mode()
def test_a_row_that_begins_at_a_layer_is_the_row_from_the_bottom(model: Bert, layer: int):
    base = (Intervention("hidden", positions=(3,)), Intervention("off", 1, 0))
    assert_as_from_the_bottom(model, [base, *((*base, one) for one in changes_at(layer))])


@pytest.mark.parametrize("keep", [(part,) for part in KEPT] + [("weights", "context")], ids="+".join)
@torch.inference_mode()
def test_what_is_kept_is_the_same_where_only_some_vectors_are_wanted(model: Bert, keep: tuple[str, ...]):
    ids, mask = IDS.expand(3, -1), padding_mask([7, 3, 5])
    patched = Intervention("patch", 1, positions=(2,), part="mlp")
    runs = [(), (Intervention("cut", 2, positions=(1, 0)),), (Intervention("off", 1, 0), patched)]
    expected = model(ids, None, mask, keep=keep, interventions=runs, vectors=VECTORS)
    for places in ([], [1, 4]):
        found = model(ids, None, mask, keep=keep, interventions=runs, places=places, vectors=VECTORS)
        torch.testing.assert_close(found.output, expected.output[:, places], atol=1e-12, rtol=0)
        torch.testing.assert_close(list(found.layers), list(expected.layers), atol=1e-12, rtol=0)


def weights_of(model: Bert, ids: Tensor, mask: Tensor) -> list[Tensor]:
    return [layer["weights"] for layer in model(ids, None, mask, keep=("weights",), places=()).layers]


@torch.inference_mode()
def test_in_half_precision_weights_are_those_of_single_precision_and_what_fills_products_up_changes_nothing(monkeypatch):
    model = fresh().bfloat16()
    long = torch.randint(90, (19, 17), generator=torch.Generator().manual_seed(7))
    for ids in (IDS.repeat(3, 1), long):
        mask = padding_mask([ids.shape[1] - row % 3 for row in range(len(ids))])
        expected = weights_of(copy.deepcopy(model).float(), ids, mask)
        found = weights_of(model, ids, mask)
        with monkeypatch.context() as patch:
            patch.setattr(layers, "PAD_MULTIPLE", 1)
            unfilled = weights_of(model, ids, mask)
        for half, bare in zip(found, unfilled, strict=True):
            assert (half - bare).abs().mean() < 1e-4
        for half, full in zip(found, expected, strict=True):
            assert half.dtype == torch.float32
            assert half.shape == full.shape
            assert (half - full).abs().mean() < 0.01 < full.std()
