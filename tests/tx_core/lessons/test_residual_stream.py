"""What depth does to vectors token by token; what it does to those of untrained blocks is held in tests/pages."""

import pytest
import torch

from tx_core.lessons.residual_stream import mean_cosine, skip_effect


def test_the_mean_cosine_by_hand():
    assert mean_cosine(torch.tensor([[1.0, 0], [0, 2], [3, 0]])) == pytest.approx(1 / 3)
    assert mean_cosine(torch.tensor([[1.0, 5.0]])) == 1.0


TEXT = "The dog chased the cat."


@pytest.fixture(scope="module")
def trace(engine):
    return engine.trace(TEXT, keep=("hidden",))


def test_with_its_skip_connections_the_model_is_the_model(engine, trace):
    depth = skip_effect(engine, TEXT)
    expected = [mean_cosine(torch.tensor(state)) for state in trace.hidden]
    assert depth.with_skips == pytest.approx(expected, abs=1e-5)
    assert len(depth.with_skips) == len(depth.without_skips) == engine.info.num_layers + 1
    assert depth.with_skips[0] == depth.without_skips[0]
