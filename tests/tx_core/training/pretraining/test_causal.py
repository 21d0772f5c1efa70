"""Pre-training a causal language model: what is asked, the constant rate, resuming, and what comes out."""

import json
import math

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from tests.support.small_training import SMALL, prepared, train
from tx_core.engine.checkpoint import load_causal_lm
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.errors import CheckpointProblem
from tx_core.training import pretrain
from tx_core.training.pretraining.batches import Batch
from tx_core.training.pretraining.corpus import CorpusProblem
from tx_core.training.pretraining.objectives import OBJECTIVES, Asking
from tx_core.training.pretraining.run_records import load_state
from tx_core.training.pretraining.settings import MaskingSettings, ScheduleSettings
from tx_core.training.pretraining.training import learning_rate

pytestmark = pytest.mark.ci

CAUSAL_RUN = (
    "--objective",
    "causal",
    "--single-share",
    "0",
    "--pair-share",
    "0",
    "--dropout",
    "0",
    "--muon",
    "--grow-after",
    "1",
)
LENGTH = ("--steps", "24", "--warm-up-steps", "4", "--decay-steps", "6")


@pytest.fixture(scope="module")
def written(corpus, tmp_path_factory):
    """A causal model trained for 24 updates."""
    return train(corpus, tmp_path_factory.mktemp("causal"), *CAUSAL_RUN, *LENGTH)


def test_every_token_is_asked_for_its_successor_and_padding_for_nothing():
    ids = np.array([[2, 9, 8, 7, 3], [2, 6, 3, 0, 0]])
    asking, chance = Asking(np.zeros(10, dtype=bool), 0.15, MaskingSettings()), np.random.default_rng(0)
    asked = OBJECTIVES["causal"].ask(Batch(ids, np.zeros_like(ids), np.array([5, 3])), asking, chance)
    assert asked.places.tolist() == [0, 1, 2, 3, 5, 6]
    assert asked.wanted.tolist() == [9, 8, 7, 3, 6, 3]


def test_the_loss_begins_at_that_of_a_guess_and_falls(written):
    curve = json.loads((written / "manifest.json").read_text())["training"]["progress"]["curve"]
    losses = [point["loss"] for point in curve]
    assert len(losses) == 24
    assert losses[0] == pytest.approx(math.log(90), abs=0.15)
    assert np.mean(losses[-4:]) < losses[0] - 1


def test_the_rate_is_constant_until_it_falls_and_a_longer_run_begins_alike():
    short = ScheduleSettings(steps=20, warm_up_steps=4, decay_steps=5, peak_rate=2.0)
    rates = [learning_rate(short, 0.0, step) for step in range(20)]
    assert rates[:5] == [0.5, 1.0, 1.5, 2.0, 2.0]
    assert rates[4:16] == [2.0] * 12 and rates[16:] == pytest.approx([1.6, 1.2, 0.8, 0.4])
    longer = ScheduleSettings(steps=50, warm_up_steps=4, decay_steps=5, peak_rate=2.0)
    assert [learning_rate(longer, 0.0, step) for step in range(16)] == rates[:16]
    for warm_up, decay in ((0, 5), (5, 0), (12, 9)):
        with pytest.raises(ValueError, match=f"decay_steps needs warm_up_steps.*, got {decay} and {warm_up} of 20"):
            ScheduleSettings(steps=20, warm_up_steps=warm_up, decay_steps=decay)


def test_stopped_resumed_and_prolonged_is_bit_for_bit_uninterrupted(written, corpus, tmp_path):
    words = (*CAUSAL_RUN, "--warm-up-steps", "4", "--decay-steps", "6")
    run, facts = prepared(corpus, tmp_path, *words, "--steps", "14")
    for update in run.updates(tmp_path, facts):
        run.stop_requested = update.step == 7
    train(corpus, tmp_path, *words, "--steps", "24")
    once, twice = (load_state(folder) for folder in (written.parent, tmp_path))
    assert once["stream"] == twice["stream"] and twice["progress"]["sittings"] == 2
    for name, weights in once["model"].items():
        assert torch.equal(weights, twice["model"][name]), name
    for name, weights in once["mean"]["weights"].items():
        assert torch.equal(weights, twice["mean"]["weights"][name]), name
    for mine, theirs in zip(once["optimiser"], twice["optimiser"], strict=True):
        for place, entry in mine["state"].items():
            assert all(torch.equal(value, theirs["state"][place][part]) for part, value in entry.items())


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


def test_the_weights_are_the_running_mean_in_half_precision(written):
    tensors, mean = load_file(written / "model.safetensors"), load_state(written.parent)["mean"]["weights"]
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    assert len(tensors) == len(mean)
    for name, weights in load_causal_lm(written).state_dict().items():
        torch.testing.assert_close(weights, mean[name].half().float(), rtol=0, atol=0)


def test_the_model_of_a_saved_state_is_written_without_training(written, corpus, tmp_path, capsys):
    run, facts = prepared(corpus, tmp_path, *CAUSAL_RUN, *LENGTH)
    for update in run.updates(tmp_path, facts):
        run.stop_requested = update.step == 3
    before = (tmp_path / "state.pt").read_bytes()
    assert train(corpus, tmp_path, *CAUSAL_RUN, *LENGTH, "--export").is_dir()
    assert (tmp_path / "state.pt").read_bytes() == before
    mean = load_state(tmp_path)["mean"]["weights"]
    for name, weights in load_causal_lm(tmp_path / "model").state_dict().items():
        assert torch.equal(weights, mean[name].half().float())
    assert (
        pretrain.main(["--corpus", str(corpus), "--out", str(tmp_path / "none"), *SMALL, *CAUSAL_RUN, *LENGTH, "--export"]) == 2
    )
    assert "there is no saved state" in capsys.readouterr().err


def test_the_card_tells_the_perplexity_it_was_measured_with(written):
    card = (written / "README.md").read_text(encoding="utf-8")
    assert "pipeline_tag: text-generation" in card and "exp(nats a piece) is the perplexity" in card
    held_out = json.loads((written / "manifest.json").read_text())["training"]["held_out"]
    assert f"| all | {held_out['all']['loss']:.2f} |" in card and 0 < held_out["all"]["loss"] < math.log(90)


def test_training_goes_on_from_the_model_alone_with_its_vocabulary(written, corpus, tmp_path):
    words = (*CAUSAL_RUN, "--steps", "3", "--init-from", str(written))
    run, facts = prepared(corpus, tmp_path, *words)
    before = json.loads((written / "manifest.json").read_text())["training"]
    assert facts["tokens_before"] == before["progress"]["tokens"] > 1000
    assert (run.stream.place.passes, run.stream.place.block) == (before["read"]["passes"], before["read"]["block"] + 1)
    another, _ = prepared(corpus, tmp_path, *words, "--seed", "5")
    assert (another.stream.place.passes, another.stream.place.block) == (0, 0)
    assert run.tokenizer.backend.get_vocab() == load_tokenizer(written).backend.get_vocab()
    for name, weights in load_causal_lm(written).state_dict().items():
        assert torch.equal(run.model.state_dict()[name], weights)
    with pytest.raises(CorpusProblem, match=r"Only a BERT gets new layers; model has 2: call with --layers 2\."):
        prepared(corpus, tmp_path, *words, "--layers", "3")


def test_a_run_takes_its_vocabulary_from_a_models_folder(written, trained, corpus, tmp_path):
    run, _ = prepared(corpus, tmp_path, *CAUSAL_RUN, "--steps", "3", "--vocabulary", str(trained))
    assert run.tokenizer.backend.get_vocab() == load_tokenizer(trained).backend.get_vocab()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"model_type": "llama"}, "'llama'.* is neither a plain BERT"),
        ({"num_key_value_heads": 1}, "no shared keys"),
        ({"hidden_size": 27}, "hidden_size / num_heads must be even for rotary positions, got 9"),
        ({"num_hidden_layers": 3}, "does not fit its config.json"),
    ],
)
def test_another_models_checkpoint_is_refused(written, tmp_path, changed, reason):
    for file in written.iterdir():
        if file.name != "manifest.json":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    settings = json.loads((written / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(settings | changed))
    with pytest.raises(CheckpointProblem, match=reason):
        load_causal_lm(tmp_path)
