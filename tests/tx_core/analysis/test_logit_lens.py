"""The masked-word head at every layer: at the last it is the prediction, before it the library's head on its own states."""

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from tests.support.checkpoints import write_bert, write_decoder, write_electra
from tx_core.analysis.logit_lens import logit_lens
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.engine import HEAD_MISSING, NO_LOGIT_LENS, Engine, no_head
from tx_core.engine.hub import load
from tx_core.engine.hub.parts import HEAD_NOT_LOADED, HEAD_ON_DECODER
from tx_core.errors import ModelUnavailable
from tx_core.fill_mask.predictions import predict

TEXT = "I drink a cup of [MASK] every morning."


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


@pytest.fixture(scope="module")
def found(engine):
    trace = engine.trace(TEXT, keep=("hidden",))
    return logit_lens(engine, trace, trace.attention.query_tokens.blanks[0], top_k=4)


def test_the_last_layer_gives_the_models_own_prediction(engine, found):
    (blank,) = predict(engine, TEXT, top_k=4).blanks
    assert found.words[-1] == tuple(entry.piece for entry in blank.predictions)
    np.testing.assert_allclose(found.shares[-1], [entry.probability for entry in blank.predictions], atol=1e-6)
    assert (found.answer, found.rank[-1]) == (found.words[-1][0], 1)


@pytest.mark.parametrize(("place", "top_k"), [(99, 5), (1, 11)])
def test_what_is_not_there_is_a_value_error(engine, place, top_k):
    with pytest.raises(ValueError, match="must be within"):
        logit_lens(engine, engine.trace("A bird", keep=("hidden",)), place, top_k=top_k)


HEADS = {
    "embedded": lambda model, states: model.cls(states),
    "roberta": lambda model, states: model.lm_head(states),
    "xlm-roberta": lambda model, states: model.lm_head(states),
    "camembert": lambda model, states: model.lm_head(states),
    "distilbert": lambda model, states: model.vocab_projector(
        model.vocab_layer_norm(torch.nn.functional.gelu(model.vocab_transform(states)))
    ),
    "albert": lambda model, states: model.predictions(states),
    "electra": lambda model, states: model.generator_lm_head(model.generator_predictions(states)),
    "modernbert": lambda model, states: model.decoder(model.head(states)),
    "gpt2": lambda model, states: states @ model.transformer.wte.weight.T,
    "starcoder2": lambda model, states: states @ model.model.embed_tokens.weight.T,
}
FINAL_NORM = {"modernbert": "model.final_norm", "gpt2": "transformer.ln_f", "starcoder2": "model.norm"}
PREDICTING_NEXT = ("gpt2", "starcoder2")


@pytest.mark.parametrize("family", HEADS)
@torch.inference_mode()
def test_every_depth_is_the_models_own_head_on_the_librarys_states(checkpoint, family: str):
    directory = catalogue.MODELS / family if family == "embedded" else checkpoint(family)
    engine = catalogue.load(family) if family == "embedded" else load.load_engine(directory, family, family)
    assert (engine.info.predicts_next, engine.info.fills_blanks) == (family in PREDICTING_NEXT, family not in PREDICTING_NEXT)
    blank = "time" if family in PREDICTING_NEXT else "___"
    trace = engine.trace(f"Time flies like an {blank} over the dog", keep=("hidden",))
    encoding, place = trace.attention.query_tokens, 5
    found = logit_lens(engine, trace, place, top_k=3)
    kind = transformers.AutoModelForCausalLM if family in PREDICTING_NEXT else transformers.AutoModelForMaskedLM
    theirs = kind.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32).eval()
    run = theirs(input_ids=torch.tensor([encoding.ids]), output_hidden_states=True)
    *before, last = run.hidden_states
    if family in FINAL_NORM:
        before = [theirs.get_submodule(FINAL_NORM[family])(states) for states in before]
    shares = torch.stack([HEADS[family](theirs, states)[0, place].softmax(-1) for states in (*before, last)])
    torch.testing.assert_close(shares[-1], run.logits[0, place].softmax(-1))
    np.testing.assert_allclose(found.shares, shares.topk(3).values, atol=1e-5)
    answer = int(shares[-1].argmax())
    np.testing.assert_allclose(found.probability, shares[:, answer], atol=1e-5)
    assert found.rank.tolist() == [int((row > row[answer]).sum()) + 1 for row in shares]
    assert len(found.words) == engine.info.num_layers + 1


def refusal(other: Engine) -> str:
    """Return why the logit lens is refused."""
    with pytest.raises(ModelUnavailable) as raised:
        logit_lens(other, other.trace("A bird", keep=("hidden",)), 0)
    return str(raised.value)


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_a_model_whose_head_reads_a_decoder_is_refused_in_a_sentence(checkpoint, family: str):
    assert refusal(load.load_engine(checkpoint(family), family, "T")) == HEAD_ON_DECODER.format(
        title="T", limitation=NO_LOGIT_LENS
    )


@pytest.mark.parametrize("name", ["GPTNeoX", "Gemma"])
def test_a_causal_model_is_said_to_have_a_language_model_head_that_is_not_loaded(tmp_path, name: str):
    """The library has such a head for it, and none for masked words; with or without it in the files, it is not loaded."""
    sizes = {"head_dim": 6, "num_key_value_heads": 2} if name == "Gemma" else {}

    other = load.load_engine(write_decoder(tmp_path, name, **sizes), name, name)
    assert type(transformers.AutoConfig.from_pretrained(tmp_path)) in transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    assert type(transformers.AutoConfig.from_pretrained(tmp_path)) not in transformers.MODEL_FOR_MASKED_LM_MAPPING
    assert not other.info.has_head
    assert refusal(other) == HEAD_NOT_LOADED.format(title=name, limitation=NO_LOGIT_LENS)


HEADLESS = {
    "bert": lambda folder: load_own_engine(write_bert(folder, with_head=False), "T", "T"),
    "electra": lambda folder: load.load_engine(write_electra(folder, discriminator=True), "T", "T"),
}
"""Checkpoints of families whose head the app loads, saved without it: the files do not say what they were trained for."""


@pytest.mark.parametrize("family", HEADLESS)
def test_a_checkpoint_saved_without_its_head_is_said_to_lack_it_and_no_more(tmp_path, family: str):
    other = HEADLESS[family](tmp_path)
    assert not any("head" in name or name.startswith(("cls", "lm_")) for name in load_file(tmp_path / "model.safetensors"))
    assert refusal(other) == HEAD_MISSING.format(title="T", limitation=NO_LOGIT_LENS)
    assert "train" not in str(no_head("T"))
