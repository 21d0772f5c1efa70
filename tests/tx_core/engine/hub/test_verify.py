"""A model is shown if our attention computes what its own computes, in every layer and on every probe; else it is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from tests.support import checkpoints
from tests.support.hub_families import TEXT
from tx_core.engine import catalogue
from tx_core.engine.hub import hub_engine as engines
from tx_core.engine.hub import load, parts, recorder
from tx_core.errors import ModelUnavailable
from tx_core.transformer.attention import Attention, attend

REFUSED = "compute their attention in a way that cannot be shown"


def by_the_library(directory: Path, ids: tuple[int, ...], kind: type = transformers.AutoModel) -> np.ndarray:
    model = kind.from_pretrained(directory, attn_implementation="eager").eval()
    with torch.inference_mode():
        found = model(input_ids=torch.tensor([ids]), output_attentions=True, use_cache=False).attentions
    return torch.cat([layer for layer in found if layer is not None]).numpy()


def test_an_architecture_whose_attention_is_its_own_is_refused(tmp_path: Path):
    backend = checkpoints.word_pieces(checkpoints.BERT_MARKS)
    config = transformers.DebertaV2Config(vocab_size=backend.get_vocab_size(), **checkpoints.SIZES)
    checkpoints.write(tmp_path, transformers.DebertaV2ForMaskedLM(config), backend, checkpoints.BERT_MARKS, seed=1)
    with pytest.raises(ModelUnavailable, match=f"deberta-v2.*{REFUSED}"):
        load.load_engine(tmp_path, "x", "x")


def test_scores_with_a_cap_are_refused_and_the_same_model_without_one_is_shown(tmp_path: Path):
    sizes = {"num_key_value_heads": 2, "head_dim": checkpoints.HEAD_DIM, "query_pre_attn_scalar": checkpoints.HEAD_DIM}
    with pytest.raises(ModelUnavailable, match=f"gemma2.*{REFUSED}") as refused:
        load.load_engine(checkpoints.write_decoder(tmp_path / "capped", "Gemma2", **sizes), "x", "x")
    assert "softcap" in str(refused.value.__cause__)
    plain = checkpoints.write_decoder(tmp_path / "plain", "Gemma2", attn_logit_softcapping=None, **sizes)
    attention = load.load_engine(plain, "x", "x").trace(TEXT).attention
    np.testing.assert_allclose(attention.weights, by_the_library(plain, attention.query_tokens.ids), atol=1e-6)


LINEAR = {"linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 6, "linear_value_head_dim": 6}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 8}


@pytest.mark.parametrize(
    ("family", "other", "settings"),
    [("Lfm2", "conv", {}), ("Qwen3Next", "linear_attention", {"head_dim": checkpoints.HEAD_DIM, **LINEAR, **EXPERTS})],
)
def test_of_a_hybrid_the_layers_with_attention_are_named_by_their_number_in_the_model(
    tmp_path: Path, family: str, other: str, settings: dict
):
    kinds = [other, "full_attention", other, other, "full_attention"]
    sizes = {"num_hidden_layers": len(kinds), "layer_types": kinds, "num_key_value_heads": 2}
    checkpoints.write_decoder(tmp_path, family, **sizes, **settings)
    ours = load.load_engine(tmp_path, "x", "x")
    trace = ours.trace(TEXT, keep=("weights", "hidden"))
    assert (ours.info.num_layers, ours.info.layer_numbers) == (2, (1, 4))
    assert trace.notice == engines.HYBRID.format(count=2, numbers="2, 5")
    expected = by_the_library(tmp_path, trace.attention.query_tokens.ids)
    np.testing.assert_allclose(trace.attention.weights, expected, atol=1e-6)


def off_by_a_little(*given, **options) -> Attention:
    context, weights, scores = attend(*given, **options)
    return Attention(context, weights + 3.8e-4, scores)


def capped(query, *given, **options) -> Attention:
    return attend(torch.tanh(query), *given, **options)


def wrong_in_long_texts(query, *given, **options) -> Attention:
    return attend(query * 2 if query.shape[2] > 40 else query, *given, **options)


def wrong_in_padded_batches(query, key, value, mask, **options) -> Attention:
    return attend(query, key, value, None if len(query) > 1 else mask, **options)


@pytest.mark.parametrize("changed", [off_by_a_little, capped, wrong_in_long_texts, wrong_in_padded_batches])
def test_weights_or_outputs_that_differ_on_any_probe_are_refused(checkpoint, monkeypatch, changed):
    monkeypatch.setattr(recorder, "attend", changed)
    with pytest.raises(ModelUnavailable, match=REFUSED):
        load.load_engine(checkpoint("roberta"), "x", "x")


def test_an_argument_that_our_attention_does_not_know_is_an_error():
    part = torch.ones(1, 1, 2, 3)
    recorder.library_attention(torch.nn.Identity(), part, part, part, None, something_new=None)
    with pytest.raises(TypeError, match="something_new"):
        recorder.library_attention(torch.nn.Identity(), part, part, part, None, something_new=True)


@pytest.mark.parametrize(
    "wrong",
    [
        parts.FamilyModules(*parts.BERT_MODULES, ("lm_head.dense", "lm_head.layer_norm", "lm_head.decoder")),  # no activation
        parts.FamilyModules(r"encoder\.layer\.\d+\.intermediate\.dense", head=("lm_head",)),
    ],
)
def test_a_row_of_the_table_of_families_that_is_wrong_is_not_used(checkpoint, monkeypatch, wrong: parts.FamilyModules):
    assert load.load_engine(checkpoint("roberta"), "x", "x").parts
    monkeypatch.setitem(parts.FAMILY_MODULES, "roberta", wrong)
    ours = load.load_engine(checkpoint("roberta"), "x", "x")
    assert ours.parts is None
    assert ours.trace(TEXT).attention.weights.shape[0] == checkpoints.LAYERS


@pytest.mark.parametrize("activation", ["silu", "quick_gelu"])
def test_a_bert_with_another_activation_runs_in_the_library(tmp_path: Path, activation: str):
    checkpoints.write_bert(tmp_path, hidden_act=activation)
    ours = catalogue.load(tmp_path)
    assert isinstance(ours, engines.HubEngine) and ours.info.fills_blanks and ours.parts
    attention = ours.trace(TEXT).attention
    np.testing.assert_allclose(attention.weights, by_the_library(tmp_path, attention.query_tokens.ids), atol=1e-6)
