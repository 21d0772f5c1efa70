"""A checkpoint directory becomes an engine, or a clear error: never a pickle, never its code, never random weights."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from tests.support import checkpoints
from tests.support.serving import ROOT
from tx_core.engine.hub import load
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.transformer.attention import attend

TEXT, PAIR = "Time flies like an arrow", "fruit flies"


def test_heads_that_share_keys_and_values_are_run_as_the_library_runs_them(tmp_path: Path):
    checkpoints.write_llama(tmp_path, seed=5)
    attention = load.load_engine(tmp_path, "llama", "Llama").trace(TEXT).attention
    model = transformers.AutoModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    with torch.inference_mode():
        expected = model(input_ids=torch.tensor([attention.query_tokens.ids]), output_attentions=True).attentions
    np.testing.assert_allclose(attention.weights, torch.cat(expected).numpy(), atol=1e-6)


def test_a_head_that_the_checkpoint_lacks_is_no_head(tmp_path: Path):
    ours = load.load_engine(checkpoints.write_electra(tmp_path, discriminator=True), "electra", "ELECTRA")
    assert not ours.info.fills_blanks
    assert ours.trace(TEXT, PAIR).attention.weights.shape[:2] == (checkpoints.LAYERS, checkpoints.HEADS)
    with pytest.raises(ValueError, match="no masked-word head"):
        ours.blank_logits([ours.encode("a ___")])


def rewrite(directory: Path, renamed: Callable[[str], str | None]) -> Path:
    """Rename the tensors of a checkpoint; None leaves one out."""
    tensors = load_file(directory / "model.safetensors")
    kept = {new: tensor for old, tensor in tensors.items() if (new := renamed(old)) is not None}
    save_file(kept, directory / "model.safetensors", metadata={"format": "pt"})
    return directory


def test_half_a_head_is_no_head(tmp_path: Path):
    directory = checkpoints.write_roberta(tmp_path)
    rewrite(directory, lambda name: None if name == "lm_head.dense.weight" else name)
    assert not load.load_engine(directory, "x", "x").info.fills_blanks


def test_a_bart_without_a_head_of_its_own_fills_blanks_by_its_word_vectors(tmp_path: Path):
    """The published bart-base is such a file: names without a prefix, no biases of the logits."""
    directory = checkpoints.write_bart(tmp_path)
    rewrite(directory, lambda name: None if name == "final_logits_bias" else name.removeprefix("model."))
    assert load.load_engine(directory, "x", "x").info.fills_blanks


def test_a_missing_layer_is_not_drawn_at_random(tmp_path: Path):
    directory = checkpoints.write_distilbert(tmp_path)
    rewrite(directory, lambda name: None if "layer.1.attention.q_lin" in name else name)
    with pytest.raises(CheckpointProblem, match=r"lacks distilbert\.transformer\.layer\.1\.attention\.q_lin"):
        load.load_engine(directory, "x", "x")


@pytest.fixture
def copied(checkpoint, tmp_path: Path):
    """A copy of a family's checkpoint that a test may damage."""
    return lambda family: Path(shutil.copytree(checkpoint(family), tmp_path / family))


def change_config(directory: Path, **settings) -> None:
    file = directory / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | settings), encoding="utf-8")


def test_a_pickle_is_never_opened(copied):
    directory = copied("roberta")
    (directory / "model.safetensors").unlink()
    torch.save({}, directory / "pytorch_model.bin")
    with pytest.raises(CheckpointProblem, match="only safetensors"):
        load.load_engine(directory, "x", "x")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.99])
def test_truncated_weights_are_a_clear_error(copied, share: float):
    weights = copied("distilbert") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: int(share * weights.stat().st_size)])
    with pytest.raises(CheckpointProblem, match="download"):
        load.load_engine(weights.parent, "x", "x")


@pytest.mark.parametrize("settings", [{"hidden_size": 40}, {"num_hidden_layers": 5}, {"num_attention_heads": 7}])
def test_weights_of_other_sizes_than_the_settings_are_a_clear_error(copied, settings: dict):
    directory = copied("roberta")
    change_config(directory, **settings)
    with pytest.raises(CheckpointProblem, match="do not fit|lacks"):
        load.load_engine(directory, "x", "x")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", ["", "{", "[1]", '{"model_type": "roberta", "vocab_size": "many"}'])
def test_a_damaged_settings_file_is_a_clear_error(copied, name: str, content: str):
    directory = copied("roberta")
    (directory / name).write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointProblem):
        load.load_engine(directory, "x", "x")


def test_an_unknown_architecture_is_named_and_its_code_is_not_run(copied):
    directory = copied("roberta")
    change_config(directory, model_type="my-own", auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model"})
    (directory / "evil.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    with pytest.raises(ModelUnavailable, match="'my-own'.*never run"):
        load.load_engine(directory, "x", "x")


def test_code_that_comes_with_a_known_architecture_is_not_run(copied):
    directory = copied("roberta")
    change_config(directory, auto_map={"AutoConfig": "evil.Config", "AutoModelForMaskedLM": "evil.Model"})
    (directory / "evil.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    assert load.load_engine(directory, "x", "x").info.fills_blanks


def test_an_architecture_whose_attention_is_its_own_is_refused(tmp_path: Path):
    backend = checkpoints.word_pieces(checkpoints.BERT_MARKS)
    config = transformers.DebertaV2Config(vocab_size=backend.get_vocab_size(), **checkpoints.SIZES)
    checkpoints.write(tmp_path, transformers.DebertaV2ForMaskedLM(config), backend, checkpoints.BERT_MARKS, seed=1)
    with pytest.raises(ModelUnavailable, match="deberta-v2.*cannot be shown"):
        load.load_engine(tmp_path, "x", "x")


def test_an_architecture_that_gives_another_outcome_through_our_attention_is_refused(checkpoint, monkeypatch):
    def with_soft_cap(query, key, value, mask, *, scale, bias, weigh):
        return attend(torch.tanh(query), key, value, mask, scale=scale, bias=bias, weigh=weigh)

    monkeypatch.setattr("tx_core.engine.hub.recorder.attend", with_soft_cap)
    with pytest.raises(ModelUnavailable, match="cannot be shown"):
        load.load_engine(checkpoint("roberta"), "x", "x")


RUN_FROM_CACHE = """
from tx_core.engine import catalogue
engine = catalogue.load("someone/tiny-model")
heads = engine.trace("Time flies").attention.weights.shape[1]
print(type(engine).__name__, engine.title, engine.info.num_layers, heads, engine.info.fills_blanks)
"""


@pytest.mark.parametrize(("family", "engine"), [("roberta", "HubEngine"), ("bert", "BertEngine")])
def test_a_model_in_the_local_hub_cache_is_loaded_offline_where_any_is_allowed(
    checkpoint, tmp_path: Path, family: str, engine: str
):
    commit = "0123456789abcdef0123456789abcdef01234567"
    home = tmp_path / "hub" / "models--someone--tiny-model"
    shutil.copytree(checkpoint(family), home / "snapshots" / commit)
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text(commit, encoding="utf-8")
    settings = {
        "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "TX_ANY_MODEL": "1",
        "PYTHONPATH": str(ROOT),
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TX_"))}
    run = subprocess.run([sys.executable, "-c", RUN_FROM_CACHE], env=kept | settings, capture_output=True, text=True, timeout=100)
    assert run.stdout.split() == [engine, "someone/tiny-model", "3", "4", "True"], run.stderr
    assert run.stderr == ""
