"""Pre-training as a whole: it learns, others can read what comes out, bad data stops it first, and killed equals unkilled."""

import json
import re
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file

from tests.support.serving import ROOT
from tests.support.small_training import MODEL, SMALL, prepared, train, write_corpus
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.training import pretrain
from tx_core.training.pretraining.corpus import CorpusProblem
from tx_core.training.pretraining.optimiser import RunningMean, make_optimiser
from tx_core.training.pretraining.run_records import in_half, load_state, save_state
from tx_core.training.pretraining.settings import OptimiserSettings
from tx_core.transformer.bert import random_bert

pytestmark = pytest.mark.ci


def test_norms_and_biases_do_not_decay():
    model = random_bert(MODEL, 0)
    (adamw,) = make_optimiser(model, OptimiserSettings(weight_decay=0.3)).parts
    decayed, free = adamw.param_groups
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert decayed["weight_decay"] == 0.3 and free["weight_decay"] == 0
    assert all(name.endswith("weight") and "norm" not in name for name in (names[id(p)] for p in decayed["params"]))
    assert all(name.endswith("bias") or "norm" in name for name in (names[id(p)] for p in free["params"]))
    assert len(decayed["params"]) + len(free["params"]) == len(names)


def test_the_running_mean_of_weights_that_stand_still_is_those_weights():
    model = random_bert(MODEL, 0)
    mean = RunningMean(model, decay=0.9)
    before = {name: weights.clone() for name, weights in model.state_dict().items()}
    mean.update(model)
    with torch.no_grad():
        model.embeddings.words.weight += 1.0
    mean.update(model)
    state = mean.full_state(model)
    moved = (state["embeddings.words.weight"] - before["embeddings.words.weight"]).mean()
    assert 0.5 < float(moved) < 1.0  # young means follow fast
    assert torch.equal(state["head.vocabulary.weight"], state["embeddings.words.weight"])
    torch.testing.assert_close(state["head.dense.weight"], before["head.dense.weight"])


def test_a_layer_that_is_not_there_cannot_be_held(trained, corpus, tmp_path):
    for number in ("0", "3"):
        with pytest.raises(ValueError, match=f"freeze_attention must name layers from 1 to 2, got {number}"):
            prepared(corpus, tmp_path, "--steps", "3", "--freeze-attention", number, "--init-from", str(trained))
    with pytest.raises(ValueError, match="freeze_attention needs --init-from"):
        prepared(corpus, tmp_path, "--steps", "3", "--freeze-attention", "1")


def test_training_lowers_the_loss(trained):
    curve = json.loads((trained / "manifest.json").read_text())["training"]["progress"]["curve"]
    losses = [point["loss"] for point in curve]
    assert len(losses) == 24
    assert np.mean(losses[-4:]) < np.mean(losses[:4]) - 0.25


def test_transformers_and_our_loader_read_the_model_and_agree(trained):
    theirs = transformers.BertForMaskedLM.from_pretrained(trained, dtype=torch.float32, attn_implementation="eager").eval()
    ours = load_bert(trained)
    tokenizer = load_tokenizer(trained)
    read = tokenizer.encode("The cat sees [MASK].", "My sister likes a red ball.")
    ids, segments = torch.tensor([read.ids]), torch.tensor([read.segments])
    with torch.no_grad():
        expected = theirs(input_ids=ids, token_type_ids=segments).logits
        assert (ours.predict(ours(ids, segments).output) - expected).abs().max() < 1e-4
    library = transformers.AutoTokenizer.from_pretrained(trained)
    assert library("The cat sees [MASK].", "My sister likes a red ball.")["input_ids"] == list(read.ids)
    assert library.model_max_length == 32


def test_what_was_trained_opens_as_the_readme_says(trained):
    readme = (ROOT / "tx_core" / "training" / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1)
    assert 'Path("RUN/model")' in code
    code = code.replace('"RUN/model"', repr(str(trained)))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=240)
    layers_and_heads, word = done.stdout.splitlines()
    assert layers_and_heads.startswith("(2, 3, ") and word in load_tokenizer(trained).backend.get_vocab(), done.stderr


def test_weights_are_stored_in_half_precision_and_tied_ones_once(trained):
    tensors = load_file(trained / "model.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    assert not any("decoder" in name for name in tensors)


def test_the_manifest_tells_where_the_model_comes_from(trained, corpus):
    told = json.loads((trained / "manifest.json").read_text())["training"]
    assert [source["name"] for source in told["data"]] == ["long", "short"]
    assert all(len(source["sha256"]) == 64 for source in told["data"])
    assert told["settings"]["schedule"]["steps"] == 24 and told["settings"]["masking"]["rate"] == 0.25
    assert told["progress"]["tokens"] > 1000 and told["hardware"]["precision"] == "fp32"
    assert set(told["held_out"]) == {"short", "all"} and told["licences"] == "| short | CC0 |\n"
    card = (trained / "README.md").read_text(encoding="utf-8")
    assert "cc-by-sa-4.0" in card and "| short | CC0 |" in card


def test_bad_data_stops_the_command_before_it_trains(corpus, tmp_path, capsys):
    bad = write_corpus(tmp_path / "bad")
    (bad / "long.txt").write_bytes(b"\xff\xfe\x00")
    assert pretrain.main(["--corpus", str(bad), "--out", str(tmp_path / "out"), *SMALL, "--steps", "3"]) == 2
    assert "long.txt is not UTF-8 text" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert pretrain.main(["--corpus", str(corpus), "--out", str(tmp_path / "out"), *SMALL, "--heads", "5"]) == 2
    assert "num_heads, got 24 and 5" in capsys.readouterr().err


def test_a_run_by_time_ends_when_its_time_is_over(corpus, tmp_path, capsys):
    began = time.monotonic()
    train(corpus, tmp_path, "--minutes", "0.02")
    assert time.monotonic() - began < 240
    lines = capsys.readouterr().out.splitlines()
    assert "100.0 %" in lines[-2] and "min left" in lines[-2] and "held out" in lines[-2]


def test_half_precision_is_chosen_where_the_hardware_has_it():
    assert in_half("bf16", "cpu") and not in_half("fp32", "cpu")
    able = torch.cpu.get_capabilities()
    assert in_half("auto", "cpu") == bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def test_bf16_gives_nearly_the_same_loss(corpus, tmp_path):
    losses = []
    for precision in ("fp32", "bf16"):
        run, _ = prepared(corpus, tmp_path, "--steps", "3", "--precision", precision)
        losses.append(float(run.update(iter(run.stream))))
    assert losses[0] == pytest.approx(losses[1], rel=0.02) and losses[0] != losses[1]


def test_the_mean_is_what_is_exported(trained, corpus, tmp_path):
    state = load_state(trained.parent)
    exported = load_bert(trained).state_dict()
    mean = state["mean"]["weights"]
    for name, weights in mean.items():
        torch.testing.assert_close(exported[name], weights.half().float())
    assert not torch.allclose(mean["head.dense.weight"], state["model"]["head.dense.weight"])


def test_dropout_is_for_training_only(trained):
    settings = json.loads((trained / "config.json").read_text())
    assert settings["hidden_dropout_prob"] == 0
    assert replace(load_bert(trained).config, dropout=0.0) == load_bert(trained).config


def test_killed_and_resumed_equals_uninterrupted(trained, corpus, tmp_path):
    out = tmp_path / "run"
    for most in (8, 11):  # killed between two saved states, once before and once after the batches grow
        run, facts = prepared(corpus, out, "--steps", "24")
        began = run.progress.step
        for told in run.updates(out, facts):
            if told.step - began == most:
                break
    assert load_state(out)["progress"]["step"] == 15
    resumed = load_file(train(corpus, out, "--steps", "24") / "model.safetensors")
    for name, expected in load_file(trained / "model.safetensors").items():
        torch.testing.assert_close(resumed[name], expected, rtol=0, atol=1e-6)


def test_a_run_is_not_resumed_with_other_settings_or_texts(corpus, tmp_path):
    train(corpus, tmp_path, "--steps", "5")
    with pytest.raises(CorpusProblem, match=r"other settings: masking, rate was 0.25, now 0.4. Choose another --out"):
        prepared(corpus, tmp_path, "--steps", "9", "--rate", "0.4")
    longer, _ = prepared(corpus, tmp_path, "--steps", "9")
    assert longer.progress.step == 5 and longer.done == pytest.approx(5 / 9)


def test_a_damaged_state_is_reported(tmp_path):
    save_state(tmp_path, {"step": 3})
    assert load_state(tmp_path) == {"step": 3}
    file = tmp_path / "state.pt"
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(CorpusProblem, match="is damaged: delete it"):
        load_state(tmp_path)


def test_training_goes_on_from_existing_weights_with_their_vocabulary(trained, corpus, tmp_path):
    words = ("--steps", "3", "--init-from", str(trained))
    run, facts = prepared(corpus, tmp_path, *words)
    assert run.tokenizer.backend.get_vocab() == load_tokenizer(trained).backend.get_vocab()
    for name, weights in load_bert(trained).state_dict().items():
        torch.testing.assert_close(run.model.state_dict()[name], weights)
    assert facts["init_from"] == "model"
    with pytest.raises(CorpusProblem, match="keeps that model's vocabulary"):
        prepared(corpus, tmp_path, *words, "--vocabulary", str(trained))
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
    for told in run.updates(tmp_path, facts):
        moved[told.step] = {name for name, weight in run.model.named_parameters() if not torch.equal(weight, before[name])}
    new = {name for name in before if name.startswith(("encoder.blocks.1.", "encoder.blocks.3."))}
    assert moved[5] == {name for name in new if "query" not in name and "key" not in name}
    taught = {name for name in before if not name.endswith("key.bias")}  # which softmax does not see
    assert taught <= moved[6]
    assert taught <= moved[10]


def test_layers_whose_looking_is_held_learn_all_but_where_to_look(trained, corpus, tmp_path):
    run, facts = prepared(corpus, tmp_path, "--init-from", str(trained), "--steps", "3", "--muon", "--freeze-attention", "2")
    before = {name: weight.detach().clone() for name, weight in run.model.named_parameters()}
    assert [told.step for told in run.updates(tmp_path, facts)] == [1, 2, 3]
    stayed = {name for name, weight in run.model.named_parameters() if torch.equal(weight, before[name])}
    held = {f"encoder.blocks.1.attention.{part}.{kind}" for part in ("query", "key") for kind in ("weight", "bias")}
    assert held <= stayed <= held | {"encoder.blocks.0.attention.key.bias"}  # which softmax does not see


def test_a_run_that_is_taken_up_again_holds_what_it_held_whatever_is_said_of_its_origin(trained, corpus, tmp_path):
    words = ("--layers", "4", "--steps", "4")
    run, facts = prepared(corpus, tmp_path, *words, "--init-from", str(trained))
    for told in run.updates(tmp_path, facts):
        run.stop_requested = told.step == 2
    again, _ = prepared(corpus, tmp_path, *words, "--freeze-old", "0.6")
    assert again.frozen_at_first == run.frozen_at_first
    assert {"encoder.blocks.1.attention.query.weight", "encoder.blocks.0.attention.value.weight"} < set(again.frozen_at_first)
