"""Training without a record gives the losses and gradients of the run that keeps what it computes."""

import pytest
import torch
from torch.nn import functional

from tests.support.small_training import MODEL
from tests.support.torch_weights import SMALL_CAUSAL
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.bert import random_bert
from tx_core.transformer.causal_lm import random_causal_lm
from tx_core.transformer.fused import causal_forward, fused_forward, fused_loss


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
        theirs = fused_loss(fused, fused_forward(fused, ids, segments, mask).flatten(0, 1), firsts, wanted)
        assert mine > 1 and abs(mine - theirs) < 1e-4
        mine.backward()
        theirs.backward()
        for first, second in zip(ours.parameters(), fused.parameters(), strict=True):
            torch.testing.assert_close(first.grad, second.grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("tokens", [11, 150], ids=["many rows together", "row by row"])
def test_the_causal_path_computes_what_ours_does_and_the_same_gradients(tokens: int):
    ours, fused = random_causal_lm(SMALL_CAUSAL, 3), random_causal_lm(SMALL_CAUSAL, 3)
    generator = torch.Generator().manual_seed(0)
    for first, second in zip(ours.parameters(), fused.parameters(), strict=True):
        first.data += 0.3 * torch.randn(first.shape, generator=generator)
        second.data.copy_(first.data)
    ids = torch.randint(5, 53, (30, tokens), generator=generator)
    places, wanted = torch.arange(3, ids.numel(), 5), torch.randint(53, (len(range(3, ids.numel(), 5)),), generator=generator)
    scores = ours.predict(ours(ids).output.flatten(0, 1)[places])
    mine = functional.cross_entropy(scores, wanted, reduction="sum") / len(places)
    theirs = fused_loss(fused, causal_forward(fused, ids).flatten(0, 1), places, wanted) / len(places)
    assert mine > 1 and abs(mine - theirs) < 1e-5
    mine.backward()
    theirs.backward()
    for first, second in zip(ours.parameters(), fused.parameters(), strict=True):
        torch.testing.assert_close(first.grad, second.grad, rtol=1e-4, atol=1e-6)
