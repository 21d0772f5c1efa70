"""Fetching from the model hub, and writing down which commit of each model was meant."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants

from tx_core.engine import download
from tx_core.errors import ModelUnavailable

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ENTRIES = [
    {"name": "embedded", "title": "Ours – here", "family": "bert"},
    {"name": "one", "hub_id": "someone/one", "title": "One"},
    {"name": "two", "hub_id": "someone/two", "title": "Two", "revision": "f" * 40},
]


class Hub:
    """The hub, as far as pin() asks it: commits by id; a model that it lacks is a connection that fails."""

    def __init__(self, **commits: str | None):
        self.commits = commits

    def model_info(self, hub_id: str) -> SimpleNamespace:
        name = hub_id.removeprefix("someone/")
        if name not in self.commits:
            raise ConnectionError("no route")
        return SimpleNamespace(sha=self.commits[name])


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    file = tmp_path / "catalogue.json"
    file.write_text(json.dumps(ENTRIES), encoding="utf-8")
    return file


def revisions(catalogue: Path) -> list[str | None]:
    return [entry.get("revision") for entry in json.loads(catalogue.read_text(encoding="utf-8"))]


def test_the_hubs_commits_are_written_and_the_rest_is_kept(catalogue: Path):
    assert download.pin(catalogue, Hub(one=COMMIT, two="a" * 40)) == {"one": COMMIT, "two": "a" * 40}
    assert revisions(catalogue) == [None, COMMIT, "a" * 40]
    assert [entry["title"] for entry in json.loads(catalogue.read_text(encoding="utf-8"))] == ["Ours – here", "One", "Two"]


def test_a_model_that_the_hub_does_not_answer_for_keeps_what_it_had(catalogue: Path):
    assert download.pin(catalogue, Hub(one=COMMIT)) == {"one": COMMIT, "two": None}
    assert revisions(catalogue) == [None, COMMIT, "f" * 40]


@pytest.mark.parametrize("hub", [Hub(), Hub(one=None, two="main"), Hub(one="", two=COMMIT[:39])])
def test_without_a_commit_from_the_hub_the_file_is_untouched_and_none_is_invented(catalogue: Path, hub: Hub):
    before = catalogue.read_bytes()
    assert set(download.pin(catalogue, hub).values()) == {None}
    assert catalogue.read_bytes() == before


def test_the_command_says_what_it_takes(capsys: pytest.CaptureFixture[str]):
    assert download.main([]) == 2
    assert f"{download.__name__} pin" in capsys.readouterr().out


@pytest.mark.parametrize("revision", [None, COMMIT])
def test_a_hub_that_cannot_be_reached_says_so_and_what_works_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, revision: str | None
):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable, match=r"someone/model could not be fetched.*embedded model works without a connection"):
        download.fetch("someone/model", revision)


def test_settings_that_lie_in_the_cache_without_weights_are_not_taken_for_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    snapshot = tmp_path / "models--someone--model" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable):
        download.fetch("someone/model", COMMIT)
    assert not download.is_cached("someone/model", COMMIT)
    (snapshot / "model.safetensors").write_bytes(b"weights")
    assert download.fetch("someone/model", COMMIT) == snapshot
    assert download.is_cached("someone/model", COMMIT)
    assert not download.is_cached("someone/other", COMMIT)


def test_a_hub_that_does_not_answer_is_not_reached(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    assert not download.reaches_hub("someone/model")
