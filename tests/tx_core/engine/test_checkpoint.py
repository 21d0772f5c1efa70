"""A checkpoint loads strictly or says what is wrong with it."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertForMaskedLM

from tests.support.checkpoints import write_bert
from tx_core.engine import catalogue
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.checkpoint_files import WEIGHTS
from tx_core.errors import CheckpointProblem

SIZES = {
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 9,
    "type_vocab_size": 2,
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_bert(tmp_path / "bert", seed=1, **SIZES)
    return tmp_path / "bert"


def rewrite(directory: Path, change) -> None:
    """Save the weights again after `change` (a function of name and tensor, to name and tensor or None)."""
    tensors = load_file(directory / WEIGHTS)
    changed = [change(name, tensor) for name, tensor in tensors.items()]
    save_file(dict(pair for pair in changed if pair), directory / WEIGHTS, metadata={"format": "pt"})


def output(directory: Path) -> torch.Tensor:
    return load_bert(directory)(torch.arange(6)[None]).output


def test_the_old_names_of_a_norm_are_read(directory: Path):
    before = output(directory)
    rewrite(
        directory,
        lambda name, tensor: (
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"),
            tensor,
        ),
    )
    assert any(name.endswith("gamma") for name in load_file(directory / WEIGHTS))
    assert torch.equal(output(directory), before)


@pytest.mark.parametrize(("part", "order"), [("weight", 1), ("weight", -1), ("bias", 1)])
def test_a_head_of_its_own_beside_settings_that_tie_it_gives_what_the_library_gives(directory: Path, part: str, order: int):
    tensors = load_file(directory / WEIGHTS)
    tied = {"weight": "bert.embeddings.word_embeddings.weight", "bias": "cls.predictions.bias"}[part]
    tensors[f"cls.predictions.decoder.{part}"] = tensors[tied].flip(0).contiguous()
    save_file(dict(sorted(tensors.items())[::order]), directory / WEIGHTS, metadata={"format": "pt"})
    ids, ours = torch.arange(6)[None], load_bert(directory)
    theirs = BertForMaskedLM.from_pretrained(directory).eval()
    with torch.inference_mode():
        torch.testing.assert_close(ours.predict(ours(ids).output), theirs(ids).logits, atol=1e-5, rtol=0)


def test_a_tensor_that_is_missing_is_named(directory: Path):
    rewrite(directory, lambda name, tensor: None if "layer.1.attention.self.key.bias" in name else (name, tensor))
    with pytest.raises(CheckpointProblem, match=r"encoder\.blocks\.1\.attention\.key\.bias"):
        load_bert(directory)


@pytest.mark.parametrize(
    "settings",
    [{"model_type": "gpt2"}, {"position_embedding_type": "relative_key"}, {"hidden_act": "swish"}, {"is_decoder": True}],
)
def test_a_configuration_that_is_no_plain_bert_is_refused(directory: Path, settings: dict):
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    (directory / "config.json").write_text(json.dumps(config | settings), encoding="utf-8")
    with pytest.raises(CheckpointProblem):
        load_bert(directory)


def test_the_embedded_model_is_held_to_its_manifest(tmp_path: Path):
    copy = shutil.copytree(catalogue.MODELS / catalogue.DEFAULT, tmp_path / "embedded")
    load_bert(copy)
    (copy / WEIGHTS).write_bytes((copy / WEIGHTS).read_bytes()[:-1] + b"\x01")
    with pytest.raises(CheckpointProblem, match=r"model\.safetensors of embedded is not the file that its manifest"):
        load_bert(copy)
