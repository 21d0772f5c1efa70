"""The masked-word head at every layer: at the last it is the prediction, before it the library's head on its own states."""

import numpy as np
import pytest
import torch
import transformers

from tests.support.checkpoints import write_bert, write_decoder
from tx_core.analysis.logit_lens import logit_lens
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.engine import HEAD_MISSING
from tx_core.engine.hub import load
from tx_core.engine.hub.hub_engine import HEAD_ON_DECODER
from tx_core.engine.local_engine import NO_LOGIT_LENS
from tx_core.errors import ModelUnavailable

HEADS = {
    "embedded": lambda model, states: model.cls(states),
    "modernbert": lambda model, states: model.decoder(model.head(states)),
    "gpt2": lambda model, states: states @ model.transformer.wte.weight.T,
}
FINAL_NORM = {"modernbert": "model.final_norm", "gpt2": "transformer.ln_f"}


@pytest.mark.parametrize("family", HEADS)
@torch.inference_mode()
def test_every_depth_is_the_models_own_head_on_the_librarys_states(checkpoint, family: str):
    directory = catalogue.MODELS / family if family == "embedded" else checkpoint(family)
    engine = catalogue.load(family) if family == "embedded" else load.load_engine(directory, family, family)
    assert (engine.info.predicts_next, engine.info.fills_blanks) == (family == "gpt2", family != "gpt2")
    blank = "time" if family == "gpt2" else "___"
    trace = engine.trace(f"Time flies like an {blank} over the dog", keep=("hidden",))
    encoding, place = trace.attention.query_tokens, 5
    found = logit_lens(engine, trace, place)
    kind = transformers.AutoModelForCausalLM if family == "gpt2" else transformers.AutoModelForMaskedLM
    theirs = kind.from_pretrained(directory, attn_implementation="eager", dtype=torch.float32).eval()
    run = theirs(input_ids=torch.tensor([encoding.ids]), output_hidden_states=True)
    *before, last = run.hidden_states
    if family in FINAL_NORM:
        before = [theirs.get_submodule(FINAL_NORM[family])(states) for states in before]
    shares = torch.stack([HEADS[family](theirs, states)[0, place].softmax(-1) for states in (*before, last)])
    torch.testing.assert_close(shares[-1], run.logits[0, place].softmax(-1))
    np.testing.assert_allclose(found.shares, shares.topk(5).values, atol=1e-5)
    answer = int(shares[-1].argmax())
    np.testing.assert_allclose(found.probability, shares[:, answer], atol=1e-5)
    assert found.rank.tolist() == [int((row > row[answer]).sum()) + 1 for row in shares]
    assert len(found.words) == engine.info.num_layers + 1


def test_a_model_whose_head_cannot_be_read_is_refused_in_a_sentence_that_says_why(checkpoint, tmp_path):
    reasons = [
        (HEAD_ON_DECODER, load.load_engine(checkpoint("t5"), "T", "T")),
        (HEAD_MISSING, load.load_engine(write_decoder(tmp_path / "neox", "GPTNeoX"), "T", "T")),
        (HEAD_MISSING, load_own_engine(write_bert(tmp_path / "bert", with_head=False), "T", "T")),
    ]
    for reason, other in reasons:
        with pytest.raises(ModelUnavailable) as raised:
            logit_lens(other, other.trace("A bird", keep=("hidden",)), 0)
        assert str(raised.value) == reason.format(title="T", limitation=NO_LOGIT_LENS)
