"""What the library's masks mean to our attention."""

import torch

from tx_core.engine.hub.recorder import mask_and_bias


def test_an_additive_mask_is_split_into_what_it_forbids_and_what_it_weighs():
    smallest = torch.finfo(torch.float32).min
    mask, bias = mask_and_bias(torch.tensor([[0.0, -0.5, smallest], [0.0, 0.0, -torch.inf]]))
    assert mask.tolist() == [[True, True, False], [True, True, False]]
    assert bias.tolist() == [[0.0, -0.5, 0.0], [0.0, 0.0, 0.0]]
    assert mask_and_bias(torch.tensor([[0.0, smallest]]))[1] is None
    assert mask_and_bias(None) == (None, None)
