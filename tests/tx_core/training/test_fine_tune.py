"""A BERT that learns to label: what is written is what was trained, and is the library's model."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import BertForSequenceClassification

from tests.support.checkpoints import write_bert
from tx_core.analysis.probabilities import wilson_interval
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import load_own_engine
from tx_core.engine.checkpoint import NEEDS_OTHER, OTHER_VERSION, load_bert, read_whole
from tx_core.engine.checkpoint_files import read_json, write_manifest
from tx_core.errors import CheckpointProblem
from tx_core.lessons.labels import FINE_TUNED
from tx_core.training import fine_tune
from tx_core.training.average import average
from tx_core.training.fine_tune import Snippet, mcnemar, naive_bayes, split_snippets

SENTENCES = ["time flies", "an arrow flies", "fruit flies like a banana", "time flies like an arrow"]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command for a tiny BERT, and 40 rated sentences of words that it knows."""
    monkeypatch.setattr(fine_tune, "HELD_OUT_SNIPPETS", (8, 4))
    base, data = write_bert(tmp_path / "tiny", seed=2), tmp_path / "rated.tsv"
    rows = [f"{number}\t{2 if number % 2 else -2}\t{SENTENCES[number % 4]} {number}" for number in range(40)]
    data.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return ["--data", str(data), "--base", str(base), "--rank", "3", "--batch-size", "8", "--warm-up", "2"]


def train(asked: list[str], out: Path) -> Path:
    assert fine_tune.main([*asked, "--out", str(out), "--epochs", "2"]) == 0
    return Path(shutil.move(out / "model", out.parent / f"{out.name}-model"))


def test_the_mean_of_two_trainings_is_one_and_what_is_written_is_measured(asked: list[str], tmp_path: Path):
    first, second = train(asked, tmp_path / "first"), train([*asked, "--rate", "3e-3"], tmp_path / "second")
    average([first, second], tmp_path / "mean", [0.25, 0.75])
    one, other = (load_bert(folder).state_dict() for folder in (first, second))
    for name, weight in load_bert(tmp_path / "mean").state_dict().items():
        torch.testing.assert_close(weight, 0.25 * one[name] + 0.75 * other[name], atol=2e-3, rtol=0)  # halves of halves
    assert fine_tune.main([*asked, "--measure", str(first)]) == 0
    assert read_json(first / "manifest.json")["measured"]["sentences"] == 8
    assert load_own_engine(first, "tiny", "Tiny").info.labels == fine_tune.OPINION_LABELS


def test_a_difference_without_the_model_it_belongs_to_is_refused(asked: list[str], tmp_path: Path):
    model = train(asked, tmp_path / "run")
    write_bert(tmp_path / "tiny", seed=5)
    with pytest.raises(CheckpointProblem) as other:
        load_bert(model)
    assert str(other.value) == OTHER_VERSION.format(name=model.name, other="tiny")
    shutil.rmtree(tmp_path / "tiny")
    with pytest.raises(CheckpointProblem) as missing:
        load_bert(model)
    assert str(missing.value) == NEEDS_OTHER.format(name=model.name, other="tiny")
    for base in ({"folder": "../tiny"}, {"folder": 3}, 3):
        config = read_json(model / "config.json") | {"difference_from": base}
        (model / "config.json").write_text(json.dumps(config), encoding="utf-8")
        write_manifest(model)
        with pytest.raises(CheckpointProblem):
            load_bert(model)


def test_the_model_that_ships_labels_as_the_library_s_model_does(tmp_path: Path):
    engine, directory = catalogue.load(FINE_TUNED, weights=True), catalogue.MODELS / FINE_TUNED
    weights = read_whole(directory, read_json(directory / "config.json"))
    config = BertForSequenceClassification.config_class.from_pretrained(directory, attn_implementation="eager")
    theirs = BertForSequenceClassification(config).eval()
    missing = theirs.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, strict=False)
    assert not missing.missing_keys and not missing.unexpected_keys
    assert tuple(theirs.config.id2label.values()) == engine.info.labels == fine_tune.OPINION_LABELS
    for text in ("A wonderful film.", "the plot was dull, and nobody in it seemed to care whether it ended", "[SEP]"):
        trace = engine.trace(text, keep=("hidden",))
        ids, segments = (torch.tensor([row]) for row in (trace.attention.query_tokens.ids, trace.attention.query_tokens.segments))
        with torch.no_grad():
            expected = theirs(input_ids=ids, token_type_ids=segments).logits[0]
        found = torch.tensor(engine.label_logits(trace.hidden[-1]))
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_a_share_s_interval_and_naive_bayes_are_those_of_a_calculation_by_hand():
    assert str(wilson_interval(0.0, 166)[0]) == "0.0" and wilson_interval(1.0, 166)[1] <= 1  # no -0, which rounding alone makes
    assert wilson_interval(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)  # Brown, Cai & DasGupta 2001
    learned = [Snippet("good film", 2.0), Snippet("good fun", 1.0), Snippet("bad film", -2.0), Snippet("so so film", 0.1)]
    assert naive_bayes(learned, [Snippet("good", 1.0), Snippet("bad film", -1.0), Snippet("bad", 1.0)]).tolist() == [1, 0, 0]
    assert mcnemar(2, 8) == pytest.approx(2 * (1 + 10 + 45) / 1024)  # of ten coins, at most two heads, or at most two tails
    assert mcnemar(3, 3) == 1


def test_no_sentence_is_learned_and_tested(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fine_tune, "HELD_OUT_SNIPPETS", (5, 3))
    rated = [Snippet(f"film {number}", number % 7 - 3.0) for number in range(30)]
    learned, choice, test = split_snippets(rated)
    assert (len(test), len(choice)) == (5, 3)
    assert sorted([*learned, *choice, *test]) == sorted(rated)
    assert all(one.rating for one in (*test, *choice))
