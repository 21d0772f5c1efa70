"""Our causal language model is transformers' Starcoder2, sees no later token, and takes the interventions that a BERT takes."""

import pytest
import torch
import transformers

from tests.support.torch_weights import SMALL_CAUSAL, shake
from tx_core.engine.architectures import config_to_hub, names_to_hub
from tx_core.transformer.causal_lm import CausalLM, random_causal_lm
from tx_core.transformer.config import CausalConfig
from tx_core.transformer.interventions import Intervention

IDS = torch.randint(5, SMALL_CAUSAL.vocab_size, (2, 9), generator=torch.Generator().manual_seed(0))


@pytest.fixture(scope="module")
def model() -> CausalLM:
    return shake(random_causal_lm(SMALL_CAUSAL, 3)).requires_grad_(False)


def test_every_layer_is_starcoders(model):
    config = transformers.Starcoder2Config(**config_to_hub(SMALL_CAUSAL), attn_implementation="eager")
    theirs = transformers.Starcoder2ForCausalLM(config).float().eval()
    named = names_to_hub(CausalConfig, model.state_dict())
    theirs.load_state_dict(named | {"lm_head.weight": model.words.weight}, strict=True)
    with torch.no_grad():
        expected = theirs(IDS, output_attentions=True, output_hidden_states=True)
    run = model(IDS, keep=("weights", "hidden"))
    for ours, weights in zip(run.layers, expected.attentions, strict=True):
        torch.testing.assert_close(ours["weights"], weights, rtol=0, atol=1e-5)
    for ours, hidden in zip([*run.hidden[:-1], run.output], expected.hidden_states, strict=True):
        torch.testing.assert_close(ours, hidden, rtol=0, atol=1e-5)
    torch.testing.assert_close(model.predict(run.output), expected.logits, rtol=0, atol=1e-5)


def test_a_head_can_be_switched_off_and_the_last_place_alone_be_asked_for(model):
    off = [[], [Intervention("off", layer=0, head=1)]]
    both = model(IDS[:1], interventions=off, keep=("weights",))
    alone = model(IDS[:1], interventions=off, places=[8])
    torch.testing.assert_close(both.output[:1], model(IDS[:1]).output, rtol=0, atol=1e-5)
    assert (both.output[0] - both.output[1]).abs().max() > 1e-3
    torch.testing.assert_close(alone.output, both.output[:, 8:], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"hidden_size": 9}, "hidden_size / num_heads must be even for rotary positions, got 3"),
        ({"rotary_base": 1.0}, "rotary_base must be above 1, got 1.0"),
        ({"num_layers": 0}, "num_layers must be a whole number of 1 or more, got 0"),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1.0"),
        ({"layer_norm_eps": float("inf")}, r"layer_norm_eps must lie in \[0, 1\), got inf"),
    ],
)
def test_impossible_sizes_are_refused(wrong, rule):
    with pytest.raises(ValueError, match=rule):
        CausalConfig(**vars(SMALL_CAUSAL) | wrong)
