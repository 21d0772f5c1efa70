"""What depth does to vectors, with residual connections and without, and token by token."""

import math

import pytest
import torch

from tx_core.lessons.residual_stream import mean_cosine, run_random_blocks, skip_effect


def test_pre_norm_vectors_grow_and_post_norm_vectors_stay():
    before, after = run_random_blocks(norm_first=True), run_random_blocks(norm_first=False)
    assert len(before.length) == 25
    assert before.length[24] > before.length[12] > before.length[1]
    assert before.length[24] > 1.5 * before.length[0]
    assert all(length == pytest.approx(math.sqrt(64), rel=1e-3) for length in after.length[1:])


@pytest.mark.parametrize("norm_first", [True, False])
def test_without_skip_connections_all_words_soon_become_the_same(norm_first):
    kept, lost = (run_random_blocks(norm_first=norm_first, skips=skips, blocks=6) for skips in (True, False))
    assert lost.cosine[4] > 0.99
    assert kept.cosine[4] < 0.8
    assert lost.cosine[0] == kept.cosine[0] < 0.1


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
