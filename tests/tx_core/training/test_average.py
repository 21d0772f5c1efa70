"""The mean of two models: every number of it, what its manifest says, and what cannot be averaged."""

import json

import pytest
import torch
from safetensors.torch import load_file

from tests.support.small_training import write_corpus
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.tokenizer import load_tokenizer
from tx_core.training import average, pretrain
from tx_core.training.pretraining.deepen import deepen_model
from tx_core.training.pretraining.export import AVERAGED, export_checkpoint


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("average")
    corpus = write_corpus(folder / "corpus")
    shape = "--layers 1 --heads 2 --hidden 16 --intermediate 20 --positions 16 --batch-tokens 64 --threads 1 --warm-up-steps 1"
    small = ["--corpus", str(corpus), *shape.split()]
    assert pretrain.main([*small, "--out", str(folder / "one"), "--vocabulary-size", "90", "--steps", "2"]) == 0
    first = folder / "one" / "model"
    more = ["--out", str(folder / "other"), "--init-from", str(first), "--steps", "3", "--peak-rate", "0.05"]
    assert pretrain.main([*small, *more]) == 0
    return first, folder / "other" / "model"


def test_every_weight_is_the_mean_that_was_asked_for_and_the_model_can_be_read(pair, tmp_path):
    first, second = pair
    assert average.main([str(first), str(second), "--out", str(tmp_path / "mean"), "--share", "0.25"]) == 0
    one, other, mean = (load_file(folder / "model.safetensors") for folder in (first, second, tmp_path / "mean"))
    assert any(not torch.equal(one[name], other[name]) for name in one)
    for name, weights in mean.items():
        torch.testing.assert_close(weights.float(), 0.75 * one[name].float() + 0.25 * other[name].float(), rtol=1e-3, atol=1e-6)
        assert weights.dtype == torch.float16
    assert load_bert(tmp_path / "mean").config == load_bert(second).config
    told = json.loads((tmp_path / "mean" / "manifest.json").read_text())["training"]
    parents = [json.loads((folder / "manifest.json").read_text())["files"]["model.safetensors"]["sha256"] for folder in pair]
    assert told["averaged"] == {"weights": parents, "share_of_the_second": 0.25}
    assert "held_out" not in told and told["progress"]["step"] == 3  # how it was trained, but not what the second measured
    card = (tmp_path / "mean" / "README.md").read_text(encoding="utf-8")
    assert AVERAGED.format(counts="25%") in card


def test_blocks_by_which_the_second_was_deepened_are_its_own(pair, tmp_path):
    first, second = pair
    trained = deepen_model(load_bert(second), 2)
    for weights in trained.encoder.blocks[1].parameters():
        weights.data += 1
    tokenizer = load_tokenizer(second).backend
    export_checkpoint(tmp_path / "deeper", trained.config, trained.state_dict(), tokenizer, {})
    mean = load_bert(average.average(first, tmp_path / "deeper", tmp_path / "mean", 0.5))
    one, other, old = load_bert(first).state_dict(), load_bert(tmp_path / "deeper").state_dict(), "encoder.blocks.0."
    assert mean.config.num_layers == 2
    for name, weights in mean.state_dict().items():
        expected = other[name] if "blocks.1." in name else 0.5 * (one[name] + other[name])
        torch.testing.assert_close(weights, expected, rtol=2e-3, atol=1e-4)
    assert any(not torch.equal(one[name], other[name]) for name in one if name.startswith(old))


def test_what_has_no_mean_is_refused_and_nothing_is_written(pair, tmp_path, capsys):
    first, second = map(str, pair)
    out = str(tmp_path / "mean")
    for given, says in {
        (first, second, "--share", "1.5"): "share must lie in",
        (first, "assets/models/embedded"): "differ in their sizes",
        (first, str(tmp_path / "none")): "none",
    }.items():
        assert average.main([*given, "--out", out]) == 2
        assert says in capsys.readouterr().err
        assert not (tmp_path / "mean").exists()
