"""Pre-training a causal language model: what is asked, the constant rate, resuming, and what comes out."""

import math

import numpy as np
import pytest
import torch
import transformers

from tests.support.small_training import prepared, train
from tx_core.engine.checkpoint import load_causal_lm
from tx_core.training.pretraining.batches import Batch
from tx_core.training.pretraining.objectives import OBJECTIVES
from tx_core.training.pretraining.training import load_state

pytestmark = pytest.mark.ci
CAUSAL_RUN = ("--objective", "causal", "--grown", "1", "--report-steps", "1")
LENGTH = ("--steps", "24", "--warm-up-steps", "4", "--decay-steps", "6")


@pytest.fixture(scope="module")
def written(corpus, tmp_path_factory):
    return train(corpus, tmp_path_factory.mktemp("causal"), *CAUSAL_RUN, *LENGTH)


def test_every_token_is_asked_for_its_successor_and_padding_for_nothing():
    ids = np.array([[2, 9, 8, 7, 3], [2, 6, 3, 0, 0]])
    batch = Batch(ids, np.zeros_like(ids), np.array([5, 3]))
    asked = OBJECTIVES["causal"].ask(batch, np.zeros(10, dtype=bool), 0.15, np.random.default_rng(0))
    assert asked.places.tolist() == [0, 1, 2, 3, 5, 6]
    assert asked.wanted.tolist() == [9, 8, 7, 3, 6, 3]


def test_stopped_resumed_and_prolonged_is_bit_for_bit_uninterrupted(written, corpus, tmp_path):
    words = (*CAUSAL_RUN, "--warm-up-steps", "4", "--decay-steps", "6")
    run, facts = prepared(corpus, tmp_path, *words, "--steps", "14")
    for update in run.updates(tmp_path, facts):
        run.stop_requested = update.step == 7
    train(corpus, tmp_path, *words, "--steps", "24")
    once, twice = (load_state(folder) for folder in (written.parent, tmp_path))
    losses = [point["loss"] for point in once["progress"]["curve"]]
    assert losses[0] == pytest.approx(math.log(90), abs=0.15) and np.mean(losses[-4:]) < losses[0] - 1
    assert once["progress"]["batches"] == twice["progress"]["batches"] and twice["progress"]["sittings"] == 2
    for part in ("model", "mean"):
        assert all(torch.equal(weights, twice[part][name]) for name, weights in once[part].items())
    for name in ("adamw", "muon"):
        for place, entry in once[name]["state"].items():
            assert all(torch.equal(value, twice[name]["state"][place][part]) for part, value in entry.items())


def test_transformers_and_our_loader_read_the_model_and_agree(written):
    theirs = transformers.AutoModelForCausalLM.from_pretrained(written, dtype=torch.float32, attn_implementation="eager").eval()
    ours = load_causal_lm(written)
    library = transformers.AutoTokenizer.from_pretrained(written)
    ids = library("The cat sees a red", return_tensors="pt")["input_ids"]
    assert ids[0, 0] == library.cls_token_id and ids[0, -1] != library.sep_token_id
    with torch.no_grad():
        torch.testing.assert_close(ours.predict(ours(ids).output), theirs(ids).logits, rtol=0, atol=1e-5)
    text = library.decode(theirs.generate(ids, max_new_tokens=4, do_sample=False)[0], skip_special_tokens=True)
    assert text.startswith("the cat sees a red") and len(text) > len("the cat sees a red")
