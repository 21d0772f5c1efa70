"""A pre-training that goes on: killed equals unkilled, and from existing weights, of as many layers or fewer."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import load_file

from tests.support.serving import ROOT
from tests.support.small_training import SMALL, prepared, train
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.training.pretraining.corpus import CorpusProblem
from tx_core.training.pretraining.run_records import load_state, save_state


def test_killed_and_resumed_equals_uninterrupted(trained, corpus, tmp_path):
    out = tmp_path / "run"
    for most in (8, 11):  # killed between two saved states, once before and once after the batches grow
        run, facts = prepared(corpus, out, "--steps", "24")
        began = run.progress.step
        for told in run.steps(out, facts):
            if told.step - began == most:
                break
    assert load_state(out)["progress"]["step"] == 15
    resumed = load_file(train(corpus, out, "--steps", "24") / "model.safetensors")
    for name, expected in load_file(trained / "model.safetensors").items():
        torch.testing.assert_close(resumed[name], expected, rtol=0, atol=1e-6)


def test_a_run_killed_by_the_system_leaves_a_state_to_go_on_from(corpus, tmp_path):
    out = tmp_path / "run"
    words = [sys.executable, "-m", "tx_core.training.pretrain", "--corpus", str(corpus), "--out", str(out), *SMALL]
    process = subprocess.Popen(
        [*words, "--steps", "100000"], cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    try:
        give_up = time.monotonic() + 90
        while load_state(out) is None and time.monotonic() < give_up:
            time.sleep(0.2)
    finally:
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
    step = load_state(out)["progress"]["step"]
    assert step >= 5
    model = train(corpus, out, "--steps", str(step + 3))
    told = json.loads((model / "manifest.json").read_text())["training"]["progress"]
    assert told["step"] == step + 3 and told["sittings"] == 2


def test_a_run_is_not_resumed_with_other_settings_or_texts(corpus, tmp_path):
    train(corpus, tmp_path, "--steps", "5")
    with pytest.raises(CorpusProblem, match=r"other settings: masking, rate was 0.25, now 0.4. Choose another --out"):
        prepared(corpus, tmp_path, "--steps", "9", "--rate", "0.4")
    longer, _ = prepared(corpus, tmp_path, "--steps", "9")
    assert longer.progress.step == 5 and longer.done == pytest.approx(5 / 9)


def test_a_damaged_state_is_told(tmp_path):
    save_state(tmp_path, {"step": 3})
    assert load_state(tmp_path) == {"step": 3}
    file = tmp_path / "state.pt"
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(CorpusProblem, match="is damaged: delete it"):
        load_state(tmp_path)


def test_a_run_asked_to_stop_saves_where_it_is(corpus, tmp_path):
    run, facts = prepared(corpus, tmp_path, "--steps", "24")
    for told in run.steps(tmp_path, facts):
        run.stop_requested = told.step == 7
    assert load_state(tmp_path)["progress"]["step"] == 7


def test_training_goes_on_from_existing_weights_with_their_vocabulary(trained, corpus, tmp_path):
    words = ("--steps", "3", "--init-from", str(trained))
    run, facts = prepared(corpus, tmp_path, *words)
    assert run.tokenizer.backend.get_vocab() == load_tokenizer(trained).backend.get_vocab()
    for name, weights in load_bert(trained).state_dict().items():
        torch.testing.assert_close(run.model.state_dict()[name], weights)
    assert facts["init_from"] == "model"
    with pytest.raises(CorpusProblem, match="keeps that model's vocabulary"):
        prepared(corpus, tmp_path, *words, "--vocabulary", str(tmp_path / "vocab.txt"))
    deeper, _ = prepared(corpus, tmp_path, *words, "--layers", "3")
    assert deeper.model.config.num_layers == 3
    with pytest.raises(CorpusProblem, match="has another shape"):
        prepared(corpus, tmp_path, *words, "--layers", "1")


def test_only_what_new_blocks_add_is_learned_in_the_first_part_of_a_run(trained, corpus, tmp_path):
    run, facts = prepared(
        corpus, tmp_path, "--init-from", str(trained), "--layers", "4", "--steps", "10", "--freeze-old", "0.5", "--muon"
    )
    before = {name: weight.detach().clone() for name, weight in run.model.named_parameters()}
    moved = {}
    for told in run.steps(tmp_path, facts):
        moved[told.step] = {name for name, weight in run.model.named_parameters() if not torch.equal(weight, before[name])}
    new = {name for name in before if name.startswith(("encoder.blocks.1.", "encoder.blocks.3."))}
    assert moved[5] == {name for name in new if "query" not in name and "key" not in name}
    taught = {name for name in before if not name.endswith("key.bias")}  # which softmax does not see
    assert taught <= moved[6]
    assert taught <= moved[10]


def test_layers_whose_looking_is_held_learn_all_but_where_to_look(trained, corpus, tmp_path):
    run, facts = prepared(corpus, tmp_path, "--init-from", str(trained), "--steps", "3", "--muon", "--freeze-attention", "2")
    before = {name: weight.detach().clone() for name, weight in run.model.named_parameters()}
    assert [told.step for told in run.steps(tmp_path, facts)] == [1, 2, 3]
    stayed = {name for name, weight in run.model.named_parameters() if torch.equal(weight, before[name])}
    held = {f"encoder.blocks.1.attention.{part}.{kind}" for part in ("query", "key") for kind in ("weight", "bias")}
    assert held <= stayed <= held | {"encoder.blocks.0.attention.key.bias"}  # which softmax does not see


def test_a_run_that_is_taken_up_again_holds_what_it_held_whatever_is_said_of_its_origin(trained, corpus, tmp_path):
    words = ("--layers", "4", "--steps", "4")
    run, facts = prepared(corpus, tmp_path, *words, "--init-from", str(trained))
    for told in run.steps(tmp_path, facts):
        run.stop_requested = told.step == 2
    again, _ = prepared(corpus, tmp_path, *words, "--freeze-old", "0.6")
    assert again.frozen_at_first == run.frozen_at_first
    assert {"encoder.blocks.1.attention.query.weight", "encoder.blocks.0.attention.value.weight"} < set(again.frozen_at_first)
