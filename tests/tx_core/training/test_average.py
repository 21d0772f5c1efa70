"""The mean of models: every number of it, and what cannot be averaged."""

import torch
from safetensors.torch import load_file

from tests.support.torch_weights import SMALL_BERT, shake
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.checkpoint_files import read_json
from tx_core.training import average
from tx_core.training.pretraining.export import export_checkpoint
from tx_core.training.pretraining.vocabulary import from_pieces
from tx_core.transformer.bert import random_bert


def test_a_mean_is_written_and_what_has_none_is_refused(tmp_path, capsys):
    backend = from_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqr"])
    for seed, name in enumerate(("first", "second")):
        weights = shake(random_bert(SMALL_BERT, seed), seed).state_dict()
        export_checkpoint(tmp_path / name, SMALL_BERT, weights, backend, {"settings": {"seed": seed}})
    first, second, mean = (str(tmp_path / name) for name in ("first", "second", "mean"))
    for words, says in {
        (first, second, "--shares", "0.5", "0.6"): "1 in all, got [0.5, 0.6]",
        (first, "assets/models/embedded"): "differ in size",
        (first, str(tmp_path / "none")): "none",
    }.items():
        assert average.main([*words, "--out", mean]) == 2
        assert says in capsys.readouterr().err
        assert not (tmp_path / "mean").exists()
    assert average.main([first, second, "--out", mean, "--shares", "0.75", "0.25"]) == 0
    one, other, both = (load_file(f"{folder}/model.safetensors") for folder in (first, second, mean))
    assert any(not torch.equal(one[name], other[name]) for name in one)
    for name, weights in both.items():
        torch.testing.assert_close(weights.float(), 0.75 * one[name].float() + 0.25 * other[name].float(), rtol=1e-3, atol=1e-3)
    assert load_bert(tmp_path / "mean").config == SMALL_BERT
    told = read_json(tmp_path / "mean" / "manifest.json")["training"]
    assert told == {
        "shares": [0.75, 0.25],
        "mean_of": [read_json(tmp_path / name / "manifest.json") for name in ("first", "second")],
    }
