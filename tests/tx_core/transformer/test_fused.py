"""PyTorch's fused functions give what the steps written out give, and nothing is computed that nobody looks at."""

import copy

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from tests.support.small_training import MODEL
from tx_core.transformer import fused
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.bert import Bert, random_bert
from tx_core.transformer.config import BertConfig
from tx_core.transformer.fused import (
    PAD_MULTIPLE,
    REGISTER,
    ROWS,
    VocabularyLoss,
    all_weights,
    fused_forward,
    fused_loss,
    fused_softmax,
    without_each_head,
)
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


CHANGED_ROWS = [
    (Intervention("off", 0, 1), Intervention("temperature", 1, value=2.0)),
    (Intervention("uniform", 1), Intervention("hidden", positions=(2,)), Intervention("sparse", 2)),
    (Intervention("no_positions"), Intervention("causal")),
]


@torch.inference_mode()
def test_all_weights_under_interventions_are_those_of_the_run_written_out():
    model = shaken("gelu")
    found, unchanged = (all_weights(model, IDS, SEGMENTS, None, rows) for rows in (CHANGED_ROWS, ()))
    written_out = model(IDS, SEGMENTS, keep=("weights",), interventions=CHANGED_ROWS).layers
    for weights, layer in zip(found, written_out, strict=True):
        torch.testing.assert_close(weights, layer["weights"], atol=1e-12, rtol=0)
    assert (found[-1] - unchanged[-1]).abs().amax(dim=(1, 2, 3)).min() > 0.01


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


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Tensor, Tensor]]:
    """Every product of a linear layer as it is computed: the rows, and the weight."""
    computed, multiply = [], functional.linear
    monkeypatch.setattr(functional, "linear", lambda rows, *layer: (computed.append((rows, layer[0])), multiply(rows, *layer))[1])
    return computed


@torch.inference_mode()
def test_nothing_after_the_last_weights_is_computed(products):
    model = shaken("gelu")
    all_weights(model, IDS, SEGMENTS, None)
    names = {id(weight): name for name, weight in model.encoder.named_parameters()}
    first, last = f"blocks.{len(model.encoder.blocks) - 2}.", f"blocks.{len(model.encoder.blocks) - 1}."
    ran = [names[id(weight)] for _, weight in products]
    assert f"{first}feed_forward.down.weight" in ran
    assert [name for name in ran if name.startswith(last)] == [f"{last}attention.query.weight", f"{last}attention.key.weight"]
    assert ran[-1] == f"{last}attention.key.weight"


@torch.inference_mode()
def test_what_stands_under_the_padding_moves_no_weight_bit_for_bit():
    model, mask, changed = shaken("gelu").float(), padding_mask([5, 7, 7]), IDS.clone()
    changed[0, 5:] = (changed[0, 5:] + 1) % 90
    for before, after in zip(all_weights(model, IDS, SEGMENTS, mask), all_weights(model, changed, SEGMENTS, mask), strict=True):
        assert torch.equal(before[0, :, :5], after[0, :, :5])
        assert torch.equal(before[1:], after[1:])
        assert not before[0, :, :5, 5:].any()


@torch.inference_mode()
def test_in_half_precision_products_of_few_sizes_are_made_and_what_fills_them_up_changes_nothing(monkeypatch, products):
    model, sizes = shaken("gelu").bfloat16(), set()
    long = torch.randint(90, (19, 17), generator=torch.Generator().manual_seed(7))
    for ids in (IDS, long):
        mask = padding_mask([ids.shape[1] - row % 3 for row in range(len(ids))])
        expected = all_weights(copy.deepcopy(model).float(), ids, torch.zeros_like(ids), mask)
        products.clear()
        found = all_weights(model, ids, torch.zeros_like(ids), mask)
        sizes |= {len(rows) for rows, _ in products}
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


def test_the_fused_path_computes_what_ours_does_and_the_same_gradients():
    ours, fused = random_bert(MODEL, 3), random_bert(MODEL, 3)
    generator = torch.Generator().manual_seed(0)
    for first, second in zip(ours.parameters(), fused.parameters(), strict=True):
        first.data += 0.3 * torch.randn(first.shape, generator=generator)
        second.data.copy_(first.data)
    ids = torch.randint(5, 53, (4, 11), generator=generator)
    segments, wanted = (torch.arange(11) > 6).long().expand(4, -1), torch.tensor([7, 50, 0, 7])
    firsts = 11 * torch.arange(4)
    for mask in (None, padding_mask([11, 5, 1, 8])):
        scores = ours.predict(ours(ids, segments, mask).output[:, 0])
        mine = functional.cross_entropy(scores, wanted, reduction="sum")
        theirs = fused_loss(fused, fused_forward(fused, ids, segments, mask).flatten(0, 1), firsts, wanted, half=False)
        assert mine > 1 and abs(mine - theirs) < 1e-4
        mine.backward()
        theirs.backward()
        for first, second in zip(ours.parameters(), fused.parameters(), strict=True):
            torch.testing.assert_close(first.grad, second.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("half", [False, True], ids=["single precision", "bfloat16"])
def test_the_loss_over_the_vocabulary_is_pytorchs_in_double_precision(half: bool):
    generator = torch.Generator().manual_seed(1)
    places, kind = 2 * ROWS["cpu"] + 5, torch.bfloat16 if half else torch.float32
    drawn = [torch.randn(shape, generator=generator) for shape in ((places, 16), (300, 16), (300,))]
    wanted = torch.randint(300, (places,), generator=generator)
    hidden, weight, bias = (tensor.to(kind).double().requires_grad_() for tensor in drawn)
    expected = functional.cross_entropy(functional.linear(hidden, weight, bias), wanted, reduction="sum")
    (expected / places).backward()
    asked = functional.pad(drawn[0], (0, 0, 0, 7), value=3.0).to(kind)
    inputs = [asked.requires_grad_(), *(tensor.to(kind).float().requires_grad_() for tensor in drawn[1:])]
    loss = VocabularyLoss.apply(*inputs, wanted)
    (loss / places).backward()
    precise = 5e-3 if half else 1e-5
    assert loss.dtype == torch.float32 and abs(loss.item() / expected.item() - 1) < precise
    assert not inputs[0].grad[places:].any(), "vectors beyond those asked for got a gradient"
    for mine, theirs in zip(inputs, (hidden, weight, bias), strict=True):
        assert mine.grad.dtype == mine.dtype
        assert (mine.grad[: len(theirs)] - theirs.grad).norm() < precise * theirs.grad.norm()


def test_in_half_precision_the_gradient_points_the_same_way():
    gradients, losses = [], []
    for half in (False, True):
        model = random_bert(MODEL, 3)
        ids = torch.randint(5, 53, (8, 11), generator=torch.Generator().manual_seed(2))
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
            hidden = fused_forward(model, ids, torch.zeros_like(ids), padding_mask([11, 5, 7, 8] * 2))
            loss = fused_loss(model, hidden.flatten(0, 1), torch.arange(4), ids[0, :4], half)
        loss.backward()
        losses.append(loss.item())
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None]))
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
    assert (gradients[0] - gradients[1]).norm() < 0.05 * gradients[0].norm()
