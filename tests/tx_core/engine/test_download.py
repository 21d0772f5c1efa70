"""Fetching from the model hub."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import ModelInfo, constants

from tx_core.engine import download
from tx_core.errors import ModelUnavailable

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_a_hub_that_cannot_be_reached_says_so_and_how_to_have_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable, match="someone/model could not be fetched") as told:
        download.fetch("someone/model", None)
    _, folder, cache = str(told.value).splitlines()
    assert folder.startswith("hf download someone/model --local-dir models/model ") and "TX_MODELS_DIR=models" in folder
    assert cache.startswith("HF_HOME=hub hf download someone/model ") and "HF_HOME=hub)" in cache
    with pytest.raises(ModelUnavailable, match=f"hf download someone/model --revision {COMMIT} --local-dir models/model "):
        download.fetch("someone/model", COMMIT)
    command = shlex.split(folder.partition(" (")[0])
    assert subprocess.run([sys.executable, "-m", "huggingface_hub.cli.hf", *command[1:], "--help"], check=False).returncode == 0
    assert not download.reaches_hub("someone/model")


def test_settings_without_weights_are_not_taken_for_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    snapshot = tmp_path / "models--someone--model" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert not download.is_cached("someone/model", COMMIT)
    with pytest.raises(ModelUnavailable):
        download.fetch("someone/model", COMMIT)
    (snapshot / "model.safetensors").write_bytes(b"weights")
    assert download.is_cached("someone/model", COMMIT) and download.fetch("someone/model", COMMIT) == snapshot


def info(**megabytes: float) -> ModelInfo:
    names = {"weights": "model.safetensors", "pickle": "pytorch_model.bin", "settings": "config.json"}
    files = [{"rfilename": names[name], "size": int(size * 1e6)} for name, size in megabytes.items()]
    return ModelInfo(id="someone/model", siblings=files)


def test_a_model_is_refused_before_its_download_where_its_weights_do_not_fit_into_memory(host):
    host(max_model_megabytes=10)
    download.check_space("someone/model", info(weights=10, settings=1, pickle=5000))
    with pytest.raises(ModelUnavailable) as told:
        download.check_space("someone/model", info(weights=10.5))
    assert str(told.value) == download.TOO_LARGE_FOR_MEMORY.format(title="someone/model", megabytes=10.5, limit=10)


def test_a_model_is_refused_where_the_downloads_that_are_there_leave_no_space(
    host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    blobs = tmp_path / "hub" / "models--someone--other" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "weights").write_bytes(bytes(2_000_000))
    host(max_download_megabytes=10)
    assert download.space_for_downloads() == 8_000_000
    download.check_space("someone/model", info(weights=7, settings=1, pickle=5000))
    with pytest.raises(ModelUnavailable) as told:
        download.check_space("someone/model", info(weights=7, settings=1.5))
    assert str(told.value) == download.NO_SPACE_FOR_DOWNLOAD.format(hub_id="someone/model", megabytes=8.5, space=8)
    begun = tmp_path / "hub" / "models--someone--model" / "blobs"
    begun.mkdir(parents=True)
    (begun / "weights.incomplete").write_bytes(bytes(6_000_000))
    download.check_space("someone/model", info(weights=7, settings=1))  # another visitor's download of the same model
