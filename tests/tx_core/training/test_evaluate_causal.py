"""A causal language model is measured by the probabilities of whole texts: by hand, by the command, by what it writes."""

import math
from dataclasses import replace

import pytest
import torch

from tests.support.known_texts import BACKEND, VOCAB, engine_of, pairs, write_data
from tests.support.torch_weights import SMALL_CAUSAL, shake
from tx_core.engine.bert_engine import OwnEngine, load_own_engine
from tx_core.engine.checkpoint_files import check_manifest
from tx_core.training import evaluate
from tx_core.training.evaluation.predictions import log_likelihoods, measure_held_out, share_likelier
from tx_core.training.pretraining.export import export_checkpoint
from tx_core.training.pretraining.vocabulary import CLS_ID, SEP_ID
from tx_core.transformer.causal_lm import random_causal_lm


@pytest.fixture(scope="module")
def engine() -> OwnEngine:
    return engine_of(shake(random_causal_lm(replace(SMALL_CAUSAL, vocab_size=VOCAB), 0)).requires_grad_(False))


def by_hand(engine: OwnEngine, text: str) -> list[float]:
    ids = [CLS_ID, *BACKEND.encode(text, add_special_tokens=False).ids, SEP_ID]
    chances = []
    for length in range(1, len(ids)):
        logits = engine.model.predict(engine.model(torch.tensor([ids[:length]])).output[0, -1])
        chances.append(float(logits.log_softmax(dim=-1)[ids[length]]))
    return chances


def test_a_sentence_is_as_probable_as_its_tokens_one_after_the_other_whatever_it_is_scored_with(engine):
    texts = ["the cat sees bananas .", "a dog runs", "it was hot , he was cold and the moon was a sun that runs behind tea ."]
    expected = [sum(by_hand(engine, text)) for text in texts[:2]]
    assert log_likelihoods(engine, texts)[:2] == pytest.approx(expected, abs=1e-4)
    assert log_likelihoods(engine, [texts[1]]) == pytest.approx(expected[1:], abs=1e-4)


def test_a_causal_checkpoint_is_measured_into_its_card(engine, tmp_path):
    data = write_data(tmp_path / "data")
    model = export_checkpoint(tmp_path / "model", engine.model.config, engine.model.state_dict(), BACKEND, {})
    assert evaluate.main([str(model), "--card", "--data", str(data), "--held-out", str(data / "texts")]) == 0
    check_manifest(model)
    exported = load_own_engine(model, "tiny", "Tiny")
    scores = share_likelier(exported, pairs())
    card = (model / "README.md").read_text(encoding="utf-8")
    assert f"| BLiMP, mean | {100 * sum(scores.values()) / len(scores):.1f} % |" in card
    loss = measure_held_out(exported, sorted((data / "texts").glob("*.txt")))["all"].loss
    assert f"| {math.exp(loss):.1f} / {loss:.2f} / " in card
    assert card.count(", continued by the most probable tokens |") == len(evaluate.BEGINNINGS)
