"""A checkpoint directory becomes an engine, or a clear error: never a pickle, never its code, never random weights."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from tests.support import checkpoints
from tests.support.checkpoints import change_config
from tests.support.serving import ROOT
from tx_core.engine.checkpoint import load_bert
from tx_core.engine.hub import load
from tx_core.errors import CheckpointProblem, ModelUnavailable
from tx_core.transformer.bert import random_bert

TEXT, PAIR = "Time flies like an arrow", "fruit flies"


def rewrite(directory: Path, renamed: Callable[[str], str | None]) -> Path:
    tensors = load_file(directory / "model.safetensors")
    kept = {new: tensor for old, tensor in tensors.items() if (new := renamed(old)) is not None}
    save_file(kept, directory / "model.safetensors", metadata={"format": "pt"})
    return directory


LOADED_MEANWHILE = """
import sys, threading
from pathlib import Path
from tx_core.engine import catalogue
catalogue.load("embedded")
threading.Thread(target=__import__, args=["tx_core.engine.hub"]).start()
while "transformers" not in sys.modules:
    pass
print(catalogue.load(Path(sys.argv[1])).info.family)
"""
"""Source that loads a model while another thread has begun to import the library, as the page on BERT does."""


@pytest.mark.ci
def test_a_model_that_is_loaded_while_another_thread_imports_the_library_waits_for_it(checkpoint):
    command = [sys.executable, "-c", LOADED_MEANWHILE, str(checkpoint("gpt2"))]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert run.stdout == "gpt2\n", run.stderr


def test_a_missing_layer_is_not_drawn_at_random(tmp_path: Path):
    directory = checkpoints.write_family("distilbert", tmp_path)
    rewrite(directory, lambda name: None if "layer.1.attention.q_lin" in name else name)
    with pytest.raises(CheckpointProblem, match=r"lacks distilbert\.transformer\.layer\.1\.attention\.q_lin"):
        load.load_engine(directory, "x", "x")


@pytest.fixture
def copied(checkpoint, tmp_path: Path):
    return lambda family: Path(shutil.copytree(checkpoint(family), tmp_path / family))


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


def test_marian_loads_though_its_files_lack_the_tables_that_the_library_computes(tmp_path: Path):
    checkpoints.write_family("marian", tmp_path)
    assert not any("embed_positions" in name for name in load_file(tmp_path / "model.safetensors"))
    stacks = load.load_engine(tmp_path, "marian", "Marian").trace(TEXT, PAIR).stacks
    model = transformers.MarianMTModel.from_pretrained(tmp_path, attn_implementation="eager").eval()
    ids = {"input_ids": stacks[0].query_tokens.ids, "decoder_input_ids": stacks[1].query_tokens.ids}
    with torch.inference_mode():
        expected = model(**{name: torch.tensor([row]) for name, row in ids.items()}, output_attentions=True)
    for stack, theirs in zip(
        stacks, (expected.encoder_attentions, expected.decoder_attentions, expected.cross_attentions), strict=True
    ):
        np.testing.assert_allclose(stack.weights, torch.cat(theirs).numpy(), atol=1e-6)


@pytest.mark.parametrize("family", ["roberta", "gpt2"])
def test_a_padding_token_without_a_vector_is_replaced_where_batches_are_padded(copied, family: str):
    """As where a padding token was added to the tokenizer of GPT-2, and its id to the settings."""
    directory = copied(family)
    expected = load.load_engine(directory, "x", "x")
    beyond = expected.tokenizer.vocab_size
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    tokenizer.add_special_tokens({"pad_token": "[A NEW PAD]"})
    tokenizer.save_pretrained(directory)
    if family == "gpt2":  # RoBERTa's positions depend on the id in its settings
        change_config(directory, pad_token_id=beyond)
    ours = load.load_engine(directory, "x", "x")
    assert ours.tokenizer.backend.token_to_id("[A NEW PAD]") == beyond
    rows = [ours.encode(text) for text in (TEXT, "Time")]
    weights = ours.over_weights(rows, lambda layers: layers[-1].numpy())
    np.testing.assert_allclose(
        weights[1, :, : len(rows[1]), : len(rows[1])], expected.trace("Time").attention.weights[-1], atol=1e-5, rtol=0
    )


def test_relative_positions_that_the_library_would_leave_out_are_refused(copied):
    directory = copied("roberta")
    change_config(directory, position_embedding_type="relative_key")
    with pytest.raises(ModelUnavailable, match="relative positions"):
        load.load_engine(directory, "x", "x")


@pytest.mark.parametrize("hook", ["__init__", "_init_weights"])
def test_a_model_that_is_drawn_while_another_is_loaded_has_the_weights_of_its_seed(checkpoint, monkeypatch, hook: str):
    directory, config, beside = checkpoint("roberta"), load_bert(checkpoint("bert")).config, []
    alone = random_bert(config, 3).state_dict()
    built_by = getattr(transformers.RobertaForMaskedLM, hook)

    def draw_beside(*arguments: object, **options: object) -> None:
        with ThreadPoolExecutor(1) as other_visitor:
            beside.append(other_visitor.submit(random_bert, config, 3).result().state_dict())
        built_by(*arguments, **options)

    monkeypatch.setattr(transformers.RobertaForMaskedLM, hook, draw_beside)
    load.load_engine(directory, "x", "x")
    assert beside
    assert all(torch.equal(drawn[name], alone[name]) for drawn in beside for name in alone)


RUN_FROM_CACHE = """
from tx_core.engine import catalogue
for name in ("someone/roberta", "someone/bert"):
    engine = catalogue.load(name)
    heads = engine.trace("Time flies").attention.weights.shape[1]
    print(type(engine).__name__, engine.title, engine.info.num_layers, heads, engine.info.fills_blanks)
"""


@pytest.mark.ci
def test_a_model_in_the_local_hub_cache_is_loaded_offline_where_any_is_allowed(checkpoint, tmp_path: Path):
    commit = "0123456789abcdef0123456789abcdef01234567"
    for family in ("roberta", "bert"):
        home = tmp_path / "hub" / f"models--someone--{family}"
        shutil.copytree(checkpoint(family), home / "snapshots" / commit)
        (home / "refs").mkdir()
        (home / "refs" / "main").write_text(commit, encoding="utf-8")
    settings = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "TX_ANY_MODEL": "1", "PYTHONPATH": str(ROOT)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TX_"))}
    run = subprocess.run([sys.executable, "-c", RUN_FROM_CACHE], env=kept | settings, capture_output=True, text=True, timeout=240)
    told = ["HubEngine someone/roberta 3 4 True", "OwnEngine someone/bert 3 4 True"]
    assert run.stdout.splitlines() == told, run.stderr
    assert run.stderr == ""
