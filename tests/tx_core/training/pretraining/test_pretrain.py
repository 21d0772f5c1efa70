"""Pre-training as a whole: it learns, others can read what comes out, bad data stops it first, and killed equals unkilled."""

import json
import math

import pytest
import torch
import transformers
from safetensors.torch import load_file

from tests.support.small_training import SMALL, prepared, train, write_corpus
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.training import pretrain
from tx_core.training.pretraining.corpus import CorpusProblem
from tx_core.training.pretraining.training import PretrainingSettings, load_state

pytestmark = pytest.mark.ci


def test_the_rate_rises_holds_and_falls_and_a_longer_run_begins_alike():
    short = PretrainingSettings(steps=20, warm_up_steps=4, decay_steps=5, peak_rate=2.0)
    rates = [short.learning_rate(step) for step in range(20)]
    assert rates[:5] == [0.5, 1.0, 1.5, 2.0, 2.0]
    assert rates[4:16] == [2.0] * 12 and rates[16:] == pytest.approx([1.6, 1.2, 0.8, 0.4])
    longer = PretrainingSettings(steps=50, warm_up_steps=4, decay_steps=5, peak_rate=2.0)
    assert [longer.learning_rate(step) for step in range(16)] == rates[:16]
    falling = PretrainingSettings(steps=20, warm_up_steps=4, peak_rate=2.0)
    assert [falling.learning_rate(step) for step in (3, 4, 12, 19)] == pytest.approx([2.0, 2.0, 1.0, 0.125])


def test_training_lowers_the_loss_on_held_out_text_and_the_manifest_tells_where_the_model_comes_from(trained):
    told = json.loads((trained / "manifest.json").read_text())["training"]
    assert [(source["name"], len(source["sha256"])) for source in told["data"]] == [("long", 64), ("short", 64)]
    assert told["settings"]["steps"] == 24 and told["code"] and told["hardware"]["threads"] == 1
    assert set(told["held_out"]) == {"short", "all"}
    card = (trained / "README.md").read_text(encoding="utf-8")
    assert "cc-by-sa-4.0" in card and "| short | CC0 |" in card
    curve = told["progress"]["curve"]
    assert [point["step"] for point in curve] == [5, 10, 15, 20, 24]
    assert curve[0]["loss"] == pytest.approx(math.log(90), abs=0.4)
    assert curve[-1]["loss"] < curve[0]["loss"] - 0.25 and curve[-1]["held_out"] < curve[0]["held_out"]


def test_transformers_and_our_loader_read_the_model_and_its_tokenizer_and_agree(trained):
    theirs = transformers.BertForMaskedLM.from_pretrained(trained, dtype=torch.float32, attn_implementation="eager").eval()
    read = transformers.AutoTokenizer.from_pretrained(trained)("The cat sees [MASK].", "My sister likes.", return_tensors="pt")
    ours, own = load_bert(trained), load_tokenizer(trained).encode("The cat sees [MASK].", "My sister likes.")
    assert read["input_ids"][0].tolist() == list(own.ids)
    with torch.no_grad():
        found = ours.predict(ours(read["input_ids"], torch.tensor([own.segments])).output)
        assert (found - theirs(**read).logits).abs().max() < 1e-4


def test_the_mean_is_what_is_exported_in_half_precision_and_tied_weights_once(trained):
    tensors = load_file(trained / "model.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    assert not any("decoder" in name for name in tensors)
    state, exported = load_state(trained.parent), load_bert(trained).state_dict()
    for name, weights in exported.items():
        torch.testing.assert_close(weights, state["mean"][f"module.{name}"].half().float(), rtol=0, atol=0)
    assert not torch.allclose(exported["head.dense.weight"], state["model"]["head.dense.weight"], atol=1e-3)


def test_bad_data_stops_the_command_before_it_trains(corpus, tmp_path, capsys):
    bad = write_corpus(tmp_path / "bad")
    (bad / "long.txt").write_bytes(b"\xff\xfe\x00")
    assert pretrain.main(["--corpus", str(bad), "--out", str(tmp_path / "out"), *SMALL, "--steps", "3"]) == 2
    assert "long.txt is not UTF-8 text" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    (write_corpus(tmp_path / "worse") / "valid" / "short.txt").write_bytes("café".encode("latin-1"))
    assert pretrain.main(["--corpus", str(tmp_path / "worse"), "--out", str(tmp_path / "out"), *SMALL, "--steps", "3"]) == 2
    assert "short.txt is not UTF-8 text" in capsys.readouterr().err
    assert pretrain.main(["--corpus", str(corpus), "--out", str(tmp_path / "out"), *SMALL, "--heads", "5"]) == 2
    assert "num_heads, got 24 and 5" in capsys.readouterr().err


def test_a_run_is_not_resumed_with_other_settings_and_a_damaged_state_is_reported(corpus, tmp_path):
    train(corpus, tmp_path, "--steps", "5")
    with pytest.raises(CorpusProblem, match=r"other settings: seed was 4, now 5. Choose another --out"):
        prepared(corpus, tmp_path, "--steps", "9", "--seed", "5")
    longer, _ = prepared(corpus, tmp_path, "--steps", "9")
    assert longer.progress.step == 5 and not longer.finished
    file = tmp_path / "state.pt"
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(CorpusProblem, match="is damaged: delete it"):
        load_state(tmp_path)


def test_layers_whose_looking_is_held_learn_all_but_where_to_look(trained, corpus, tmp_path):
    run, facts = prepared(corpus, tmp_path, "--init-from", str(trained), "--steps", "3", "--freeze-attention", "2")
    list(run.updates(tmp_path, facts))
    before = dict(load_bert(trained).named_parameters())
    stayed = {name for name, weight in run.model.named_parameters() if torch.equal(weight.cpu(), before[name])}
    held = {f"encoder.blocks.1.attention.{part}.{kind}" for part in ("query", "key") for kind in ("weight", "bias")}
    assert held <= stayed <= held | {"encoder.blocks.0.attention.key.bias"}  # which softmax does not see
