"""What a prediction is owed to: by known answers, by Captum on the transformers library's BERT, and by completeness."""

import numpy as np
import pytest
import torch
import transformers

from tx_core.analysis.attribution import (
    INTEGRATION_STEPS,
    attribute,
    attribution_seconds,
    check_attribution_length,
    gradient_times_input,
    rank_agreement,
)
from tx_core.engine import catalogue
from tx_core.engine.hub import load
from tx_core.errors import TextProblem
from tx_core.fill_mask.predictions import predict

TEXT = "She [MASK] the letter because the story in it made her laugh."


@pytest.fixture(scope="module")
def asked(engine):
    filling = predict(engine, TEXT, top_k=3)
    return filling.encoding, filling.blanks[0].place, filling.blanks[0].predictions


def test_a_text_that_would_take_too_long_is_refused_with_what_to_do(engine, asked, monkeypatch: pytest.MonkeyPatch):
    encoding, _, _ = asked
    check_attribution_length(engine, encoding)
    monkeypatch.setattr("tx_core.analysis.attribution.AT_ONCE_SECONDS", attribution_seconds(engine, 3))
    with pytest.raises(TextProblem, match=f"at most 3 tokens.*shorten it by {len(encoding) - 3} tokens"):
        check_attribution_length(engine, encoding)


def test_gradient_times_input_alone_is_that_of_the_attribution(engine, asked):
    encoding, place, best = asked
    found = attribute(engine, encoding, place, best[0].id, best[1].id)
    alone = gradient_times_input(engine, encoding, place, best[0].id, best[1].id)
    np.testing.assert_allclose(alone, found.gradient_input, atol=1e-6)


LOOKUP = {"embedded": "bert.embeddings.word_embeddings", "roberta": "roberta.embeddings.word_embeddings"}


@pytest.mark.parametrize("family", LOOKUP)
def test_captum_on_the_librarys_model_finds_the_same(checkpoint, family: str):
    from captum.attr import LayerGradientXActivation, LayerIntegratedGradients  # brings matplotlib: most processes need neither

    directory = catalogue.MODELS / family if family == "embedded" else checkpoint(family)
    with torch.inference_mode():  # whoever loads a model so may ask for gradients later
        other = catalogue.load(family) if family == "embedded" else load.load_engine(directory, family, family)
    text = "Time flies<pad> like an ___ over" if family == "roberta" else "Time flies like an ___ over"
    filling = predict(other, text, top_k=2)
    encoding, place, word = filling.encoding, filling.blanks[0].place, filling.blanks[0].predictions[1]
    found = attribute(other, encoding, place, word.id)
    assert np.exp(found.score) == pytest.approx(word.probability, abs=1e-5)
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32).eval()
    ids = torch.tensor([encoding.ids])
    blanked = torch.where(torch.tensor([encoding.special]), ids, other.tokenizer.mask_id)

    def score(inputs: torch.Tensor) -> torch.Tensor:
        return theirs(input_ids=inputs).logits[:, place].log_softmax(-1)[:, word.id]

    layer = theirs.get_submodule(LOOKUP[family])
    path = LayerIntegratedGradients(score, layer).attribute(ids, blanked, n_steps=INTEGRATION_STEPS, method="gausslegendre")
    np.testing.assert_allclose(found.integrated, path[0].sum(-1).detach(), atol=1e-3)
    own = LayerGradientXActivation(score, layer).attribute(ids)
    np.testing.assert_allclose(found.gradient_input, own[0].sum(-1).detach(), atol=1e-3)
    assert found.baseline == pytest.approx(float(score(blanked).detach()), abs=1e-4)


def test_orders_agree_reverse_or_have_nothing_to_do_with_each_other():
    rising = np.array([1.0, 2.0, 3.0, 4.0])
    assert rank_agreement(rising, rising * 10) == pytest.approx(1)
    assert rank_agreement(rising, -rising) == pytest.approx(-1)
    assert rank_agreement(rising, np.array([1.0, 3.0, 2.0, 4.0])) == pytest.approx(4 / 6)
    assert rank_agreement(rising, np.zeros(4)) == 0
