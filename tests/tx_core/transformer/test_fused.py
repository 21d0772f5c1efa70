"""PyTorch's fused functions give what the steps written out give, and nothing is computed that nobody looks at."""

import copy

import pytest
import torch
from torch import nn

from tx_core.transformer import fused
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.bert import Bert, random_bert
from tx_core.transformer.config import BertConfig
from tx_core.transformer.fused import PAD_MULTIPLE, REGISTER, all_weights, fused_softmax, without_each_head
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.layers import ACTIVATION

SIZES = {
    "vocab_size": 90,
    "hidden_size": 24,
    "num_layers": 3,
    "num_heads": 4,
    "intermediate_size": 40,
    "max_positions": 19,
    "num_segments": 2,
    "layer_norm_eps": 1e-12,
    "dropout": 0.0,
}
IDS = torch.randint(90, (3, 7), generator=torch.Generator().manual_seed(5))
SEGMENTS = (torch.arange(7) > 4).long().expand(3, -1)


def shaken(activation: str) -> Bert:
    """A BERT of which no bias is zero and no head looks everywhere alike, in double precision."""
    model, generator = random_bert(BertConfig(**SIZES, activation=activation), 4).double(), torch.Generator().manual_seed(6)
    for parameter in model.parameters():
        parameter.data += 0.5 * torch.randn(parameter.shape, generator=generator)
    return model


@pytest.mark.parametrize("activation", ACTIVATION)
@pytest.mark.parametrize("lengths", [None, [7, 2, 5]], ids=["of one length", "padded"])
@torch.inference_mode()
def test_all_weights_are_those_of_the_run_written_out(activation: str, lengths: list[int] | None):
    model, mask = shaken(activation), None if lengths is None else padding_mask(lengths)
    found = all_weights(model, IDS, SEGMENTS, mask)
    written_out = model(IDS, SEGMENTS, mask, keep=("weights",)).layers
    assert len(found) == len(written_out) == 3
    for weights, layer in zip(found, written_out, strict=True):
        assert weights.std() > 0.05
        torch.testing.assert_close(weights, layer["weights"], atol=1e-12, rtol=0)


@pytest.mark.parametrize("activation", ACTIVATION)
@torch.inference_mode()
def test_runs_without_each_head_are_those_written_out(activation: str):
    model, heads = shaken(activation), [(0, 1), (0, 3), (1, 0), (2, 0), (2, 2)]
    found = without_each_head(model, IDS[:1], SEGMENTS[:1], heads, (4, 1))
    runs = [(), *((Intervention("off", *head),) for head in heads)]
    expected = model(IDS[:1].expand(6, -1), SEGMENTS[:1].expand(6, -1), interventions=runs).output
    assert (expected[1:] - expected[:1]).abs().amax(dim=(1, 2)).min() > 1e-3
    torch.testing.assert_close(found, expected[:, [4, 1]], atol=1e-12, rtol=0)


@pytest.mark.parametrize("keys", [1, 3, REGISTER - 1, REGISTER, 40])
def test_shares_of_few_and_of_many_keys_are_those_of_softmax(keys: int):
    scores = 30 * torch.randn(2, 3, 5, keys, generator=torch.Generator().manual_seed(keys)) + 80
    scores[0, 0, 0, 1:], scores[1, 2, :, : keys // 2] = -torch.inf, -torch.inf
    shares = fused_softmax(scores)
    torch.testing.assert_close(shares.double(), torch.softmax(scores.double(), dim=-1), atol=3e-7, rtol=3e-6)
    assert torch.equal(shares == 0, torch.softmax(scores, dim=-1) == 0)


@torch.inference_mode()
def test_nothing_after_the_last_weights_is_computed():
    model, ran = shaken("gelu"), []
    for name, part in model.encoder.blocks[-1].named_modules():
        part.register_forward_hook(lambda *_, name=name: ran.append(name))
    all_weights(model, IDS, SEGMENTS, None)
    assert ran == ["attention.query", "attention.key"]


@torch.inference_mode()
def test_what_stands_under_the_padding_moves_no_weight_bit_for_bit():
    model, mask, changed = shaken("gelu").float(), padding_mask([5, 7, 7]), IDS.clone()
    changed[0, 5:] = (changed[0, 5:] + 1) % 90
    for before, after in zip(all_weights(model, IDS, SEGMENTS, mask), all_weights(model, changed, SEGMENTS, mask), strict=True):
        assert torch.equal(before[0, :, :5], after[0, :, :5])
        assert torch.equal(before[1:], after[1:])
        assert not before[0, :, :5, 5:].any()


@torch.inference_mode()
def test_in_half_precision_products_of_few_sizes_are_made_and_what_fills_them_up_changes_nothing(monkeypatch):
    model, sizes = shaken("gelu").bfloat16(), set()
    long = torch.randint(90, (19, 17), generator=torch.Generator().manual_seed(7))
    for ids in (IDS, long):
        mask = padding_mask([ids.shape[1] - row % 3 for row in range(len(ids))])
        expected = all_weights(copy.deepcopy(model).float(), ids, torch.zeros_like(ids), mask)
        hooks = [
            part.register_forward_hook(lambda _, given, __: sizes.add(len(given[0])))
            for part in model.modules()
            if isinstance(part, nn.Linear)
        ]
        found = all_weights(model, ids, torch.zeros_like(ids), mask)
        for hook in hooks:
            hook.remove()
        with monkeypatch.context() as patch:
            patch.setattr(fused, "PAD_MULTIPLE", 1)
            unfilled = all_weights(model, ids, torch.zeros_like(ids), mask)
        for half, bare in zip(found, unfilled, strict=True):
            assert (half - bare).abs().mean() < 1e-4
        for half, full in zip(found, expected, strict=True):
            assert half.dtype == torch.float32
            assert half.shape == full.shape
            assert (half - full).abs().mean() < 0.01 < full.std()
    assert sizes == {PAD_MULTIPLE, 3 * PAD_MULTIPLE}
