"""The masked-word head at every layer: at the last it is the prediction, before it the library's head on its own states."""

import numpy as np
import pytest
import torch
import transformers

from tx_core import hub, models
from tx_core.errors import ModelUnavailable
from tx_core.fill_mask import predict
from tx_core.logit_lens import logit_lens

TEXT = "I drink a cup of [MASK] every morning."


@pytest.fixture(scope="module")
def engine():
    return models.load("embedded")


@pytest.fixture(scope="module")
def found(engine):
    trace = engine.trace(TEXT, keep=("hidden",))
    return logit_lens(engine, trace, trace.attention.query_tokens.blanks[0], top_k=4)


def test_the_last_layer_gives_the_models_own_prediction(engine, found):
    (blank,) = predict(engine, TEXT, top_k=4).blanks
    assert found.words[-1] == tuple(entry.piece for entry in blank.predictions)
    np.testing.assert_allclose(found.shares[-1], [entry.probability for entry in blank.predictions], atol=1e-6)
    assert (found.answer, found.rank[-1]) == (found.words[-1][0], 1)


@torch.inference_mode()
def test_every_depth_is_the_librarys_head_on_its_own_states(engine, found):
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(models.MODELS / "embedded", dtype=torch.float32).eval()
    run = theirs(input_ids=torch.tensor([engine.encode(TEXT).ids]), output_hidden_states=True)
    for depth, states in enumerate(run.hidden_states):
        shares = theirs.cls(states)[0, found.place].softmax(-1)
        best = shares.topk(4)
        np.testing.assert_allclose(found.shares[depth], best.values, atol=1e-5)
        answer = engine.tokenizer.entry(found.answer)
        assert found.probability[depth] == pytest.approx(float(shares[answer]), abs=1e-5)
        assert found.rank[depth] == int((shares > shares[answer]).sum()) + 1


def test_a_rank_of_one_is_the_first_word(found):
    for words, rank in zip(found.words, found.rank, strict=True):
        assert (words[0] == found.answer) == (rank == 1)


def test_any_token_can_be_asked_about(engine):
    trace = engine.trace("A bird sings.", keep=("hidden",))
    assert logit_lens(engine, trace, 0).words[0] and len(logit_lens(engine, trace, 2).words) == engine.num_layers + 1


@pytest.mark.parametrize(("place", "top_k"), [(-1, 5), (99, 5), (1, 0), (1, 11)])
def test_what_is_not_there_is_a_value_error(engine, place, top_k):
    with pytest.raises(ValueError, match="must be within"):
        logit_lens(engine, engine.trace("A bird", keep=("hidden",)), place, top_k=top_k)


def test_a_model_of_another_family_is_refused_in_a_sentence(checkpoint):
    other = hub.load_engine(checkpoint("distilbert"), "distilbert", "DistilBERT")
    with pytest.raises(ModelUnavailable, match="DistilBERT runs in the transformers library"):
        logit_lens(other, other.trace("A bird", keep=("hidden",)), 1)
