"""A cut effect is what the library's model loses when a hook takes one pair of tokens out of one layer's attention mask."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch
import transformers

from tx_core.causal.cut_effects import cut_effects, head_effects
from tx_core.engine import catalogue
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.transformer.interventions import Intervention

TEXT = "the quick ___ jumps over"
ATTENTION = {"bert": "bert.encoder.layer.{layer}.attention.self", "gpt2": "transformer.h.{layer}.attn"}


@contextmanager
def pair_cut(model: transformers.PreTrainedModel, family: str, layer: int, query: int, key: int) -> Iterator[None]:
    def cut(_module, inputs, named):
        tokens = inputs[0].shape[1] if inputs else named["hidden_states"].shape[1]
        mask = named.get("attention_mask")
        mask = torch.zeros(1, 1, tokens, tokens) if mask is None else mask.clone()
        mask[..., query, key] = torch.finfo(mask.dtype).min
        return inputs, named | {"attention_mask": mask}

    hook = model.get_submodule(ATTENTION[family].format(layer=layer)).register_forward_pre_hook(cut, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


def log_odds(logits: torch.Tensor, entry: int) -> float:
    shares = logits.double().softmax(-1)
    return math.log(shares[entry]) - math.log(1 - shares[entry])


@pytest.mark.parametrize("family", ATTENTION)
@torch.inference_mode()
def test_effects_are_those_of_a_hook_in_the_librarys_model(hub_engine, reference, family: str):
    engine, model = hub_engine(family), reference(family)
    found = cut_effects(engine, TEXT if family != "gpt2" else TEXT.replace("___ ", ""))
    ids = torch.tensor([found.encoding.ids])
    tokens, layers = len(found.encoding), engine.info.num_layers
    assert found.place == (tokens - 1 if family == "gpt2" else found.encoding.blanks[0])
    plain = model(ids).logits[0, found.place]
    assert found.entry == int(plain.argmax())
    assert found.probability == pytest.approx(plain.softmax(-1)[found.entry].item(), abs=1e-5)
    before, largest = log_odds(plain, found.entry), 0.0
    for layer, query, key in np.ndindex(layers, tokens, tokens):
        if family == "gpt2" and query == 0:
            continue  # its only key is gone: ours adds nothing, the library's softmax of equal scores looks everywhere
        with pair_cut(model, family, layer, query, key):
            after = model(ids).logits[0, found.place]
        expected = before - log_odds(after, found.entry)
        assert found.effect[layer, query, key] == pytest.approx(expected, abs=1e-4), (layer, query, key)
        assert found.after[layer, query, key] == pytest.approx(after.softmax(-1)[found.entry].item(), abs=1e-5)
        assert found.first[layer, query, key] == int(after.argmax())
        largest = max(largest, abs(expected))
    assert largest > 1e-2


def test_the_head_that_carries_an_arc_is_the_one_of_which_it_is_known():
    engine = catalogue.load(catalogue.DEFAULT)
    text = "Yesterday I [MASK] to school."
    place = engine.encode(text).blanks[0]
    effects = head_effects(engine, text, 4, (place, 1))
    assert effects.argmax() == 6
    off = engine.blank_logits([engine.encode(text)], interventions=[[Intervention("off", 4, 6)]])[0][0]
    assert engine.tokenizer.word(int(off.argmax())) == "go"
    alone = [Intervention("cut", 4, 6, positions=(place, 1))]
    assert (
        cut_effects(engine, text, interventions=alone, queries=[]).probability < cut_effects(engine, text, queries=[]).probability
    )


def test_what_cannot_be_measured_is_refused(hub_engine):
    engine = catalogue.load(catalogue.DEFAULT)
    with pytest.raises(TextProblem, match="There is no blank"):
        cut_effects(engine, "Birds sing.")
    with pytest.raises(ValueError, match="blank must be within 0 and 0"):
        cut_effects(engine, "Birds [MASK].", blank=1)
    with pytest.raises(ValueError, match="queries must be within 0 and 4"):
        cut_effects(engine, "Birds [MASK].", queries=[5])
    with pytest.raises(ModelUnavailable, match="predicts no word"):
        cut_effects(hub_engine("t5"), "Birds ___.")
