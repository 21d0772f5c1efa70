"""A model with a part exchanged answers by it, and the model itself never does."""

import torch
from torch import nn

from tx_core.engine.exchange import Given, exchanged


def nested() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 5)), nn.Linear(5, 4)).eval()


def test_the_part_is_exchanged_in_the_twin_and_nowhere_else():
    model, given = nested(), torch.randn(7, 3)
    before, first = model(torch.ones(7, 2)), model[0][0]
    twin = exchanged(model, "0.0", Given(given))
    torch.testing.assert_close(twin(torch.ones(7, 2)), model[1](model[0][1](given)))
    assert model[0][0] is first
    torch.testing.assert_close(model(torch.ones(7, 2)), before)


def test_all_else_is_shared_so_that_no_weight_is_copied():
    model = nested()
    twin = exchanged(model, "0.0", nn.Identity())
    assert twin[1] is model[1]
    assert twin[0][1].weight is model[0][1].weight


def test_gradients_reach_what_was_given():
    given = torch.randn(7, 3, requires_grad=True)
    exchanged(nested(), "0.0", Given(given))(torch.ones(7, 2)).sum().backward()
    assert given.grad.abs().sum() > 0
