"""Training by fused attention gives the vectors and gradients of the run that keeps what it computes."""

import pytest
import torch

from tests.support.torch_weights import SMALL_BERT, SMALL_CAUSAL, shake
from tx_core.transformer.attention import padding_mask
from tx_core.transformer.bert import random_bert
from tx_core.transformer.causal_lm import random_causal_lm
from tx_core.transformer.fused import fused_forward


@pytest.mark.parametrize(
    "build", [lambda: random_bert(SMALL_BERT, 3), lambda: random_causal_lm(SMALL_CAUSAL, 3)], ids=["bert", "causal"]
)
@pytest.mark.parametrize("lengths", [None, [10, 5, 1, 8]], ids=["full", "padded"])
def test_the_fused_path_computes_what_ours_does_and_the_same_gradients(build, lengths):
    ours, fused = shake(build()), shake(build())
    ids = torch.randint(5, 23, (4, 10), generator=torch.Generator().manual_seed(0))
    segments, wanted = (torch.arange(10) > 6).long().expand(4, -1), torch.tensor([7, 20, 0, 7])
    mask = padding_mask(lengths) if lengths else None
    last = torch.arange(4), torch.tensor(lengths or [10] * 4) - 1  # of a causal model, the first attends to itself alone
    mine = ours(ids, segments, mask).output[last]
    theirs = fused_forward(fused, ids, segments, mask)[last]
    torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
    for model, hidden in ((ours, mine), (fused, theirs)):
        torch.nn.functional.cross_entropy(model.predict(hidden), wanted, reduction="sum").backward()
    for first, second in zip(ours.parameters(), fused.parameters(), strict=True):
        torch.testing.assert_close(first.grad, second.grad, rtol=1e-4, atol=1e-4)
