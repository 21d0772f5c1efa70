"""What depth does to a sentence in the trained model, with skip connections and without, and word by word."""

import pytest
import torch

from tx_core.engine import catalogue
from tx_core.lessons.blocks import mean_cosine
from tx_core.lessons.depth import journeys, readings, sentence_depth

TEXT = "The dog chased the cat."


@pytest.fixture(scope="module")
def engine():
    return catalogue.load(catalogue.DEFAULT)


@pytest.fixture(scope="module")
def trace(engine):
    return engine.trace(TEXT, keep=("hidden",))


def test_with_its_skip_connections_the_model_is_the_model(engine, trace):
    depth = sentence_depth(engine, TEXT)
    expected = [mean_cosine(torch.tensor(state)) for state in trace.hidden]
    assert depth.kept == pytest.approx(expected, abs=1e-5)
    assert len(depth.kept) == len(depth.lost) == engine.num_layers + 1
    assert depth.kept[0] == depth.lost[0]


def test_without_skip_connections_the_words_of_a_trained_model_become_alike_too(engine):
    depth = sentence_depth(engine, TEXT)
    assert depth.lost[-1] > depth.kept[-1] + 0.2


def test_a_journey_is_of_the_token_at_its_place(trace):
    first, second = journeys(trace, (2, 6))
    assert (first.token, second.token) == ("dog", "cat")
    hidden = torch.tensor(trace.hidden[:, 6])
    assert second.length == pytest.approx(hidden.norm(dim=-1).tolist())
    assert second.stay[3] == pytest.approx(float(torch.cosine_similarity(hidden[3], hidden[0], dim=0)))


def test_the_last_reading_is_what_the_model_says(engine, trace):
    found = readings(engine, trace)
    scores = engine.model.predict(torch.tensor(trace.hidden[-1])).softmax(-1)
    assert found.words[-1] == tuple(engine.tokenizer.readable(int(number)) for number in scores.argmax(-1))
    torch.testing.assert_close(torch.tensor(found.shares[-1]), scores.amax(-1))
    assert found.shares.shape == (engine.num_layers + 1, len(trace.attention.query_tokens))


def test_a_run_without_its_vectors_cannot_be_followed(engine):
    bare = engine.trace(TEXT)
    for ask in (lambda: journeys(bare, (1,)), lambda: readings(engine, bare)):
        with pytest.raises(ValueError, match="must keep"):
            ask()
