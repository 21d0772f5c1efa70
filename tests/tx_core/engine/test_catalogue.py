"""The catalogue and the way from a name to an engine."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from tests.support.serving import wait_until
from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import read_json
from tx_core.engine.download import CATALOGUE
from tx_core.errors import CheckpointProblem, ModelUnavailable


def test_every_model_has_a_name_of_its_own_size_licence_heads_and_no_invented_revision():
    cards = catalogue.catalogue()
    assert len({card.name for card in cards}) == len(cards)
    for card in cards:
        assert card.licence and card.note and card.title
        assert min(card.num_layers, card.num_heads, card.megabytes) > 0
        assert card.is_embedded or "/" in card.hub_id
        assert not card.fine_tuned_from or catalogue.card(card.fine_tuned_from)
    for entry in json.loads(CATALOGUE.read_text(encoding="utf-8")):
        revision = entry.get("revision")
        assert revision is None or (len(revision) == 40 and set(revision) <= set("0123456789abcdef"))


def test_the_embedded_model_is_said_to_know_as_many_capitals_as_its_card_measured():
    card = (catalogue.MODELS / catalogue.DEFAULT / "README.md").read_text("utf-8")
    rows = [card.partition(f"| capitals, {asked} (25)")[2] for asked in ("other", "wording never seen")]
    measured = [float(row.split("| ")[1].split(" ")[0]) for row in rows]
    assert (
        "most capitals (of 25 other countries {:.0f}, of 25 in a wording that it never read {:.0f})".format(
            *(share * 25 / 100 for share in measured)
        )
        in card
    )
    assert "most capitals" in catalogue.card(catalogue.DEFAULT).note and min(measured) > 50


@pytest.mark.parametrize("name", [catalogue.DEFAULT, catalogue.WRITER])
def test_the_revision_of_an_embedded_model_is_the_hash_of_its_weights(name: str):
    weights = (catalogue.MODELS / name / "model.safetensors").read_bytes()
    assert catalogue.revision(name) == f"sha256 {hashlib.sha256(weights).hexdigest()[:16]}"


@pytest.mark.parametrize("name", [catalogue.DEFAULT, catalogue.WRITER])
def test_an_embedded_model_is_described_as_it_is(name: str):
    card, info = catalogue.card(name), catalogue.load(name).info
    assert (card.num_layers, card.num_heads, card.family) == (info.num_layers, info.num_heads, info.family)
    assert (card.fills_blanks, card.predicts_next) == (info.fills_blanks, info.predicts_next)
    weights = (catalogue.MODELS / card.name / "model.safetensors").stat().st_size
    assert card.megabytes == round(weights / 1e6) <= 25
    assert catalogue.catalogue()[0].name == catalogue.DEFAULT


@pytest.fixture
def models_dir(tmp_path: Path, checkpoint: Callable[[str], Path], host) -> Path:
    """A host's directory of models with two checkpoints, and others beside it that are nobody's business."""
    root = tmp_path / "models"
    shutil.copytree(checkpoint("bert"), root / "own bert-1.0")
    shutil.copytree(checkpoint("roberta"), root / "own_roberta")
    shutil.copytree(checkpoint("bert"), tmp_path / "secret")
    host(models_dir=root)
    return root


def test_the_checkpoints_of_the_hosts_directory_are_offered_by_name_and_open(models_dir: Path):
    bert, roberta = catalogue.offered()[len(catalogue.catalogue()) :]
    assert (bert.name, roberta.name) == ("local:own bert-1.0", "local:own_roberta")
    settings = read_json(models_dir / "own bert-1.0" / "config.json")
    assert (bert.num_layers, bert.num_heads) == (settings["num_hidden_layers"], settings["num_attention_heads"])
    for card in (bert, roberta):
        engine = catalogue.load(card.name)
        assert (engine.name, engine.title) == (card.name, card.title)
        assert engine.info.num_layers == card.num_layers
        assert engine.trace("A cat sat.").attention.weights.shape[:2] == (card.num_layers, card.num_heads)


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("/models/own", "no folder '/models/own'"),
        ("models/own", "TX_ANY_MODEL"),
        ("~nobody/x", "no folder '~nobody/x'"),
        ("x" * 5000, "There is no model named"),
        ("local:own", "TX_MODELS_DIR to the directory that holds the folder 'own'"),
    ],
)
def test_a_name_that_no_model_has_says_how_it_could_be_opened(name: str, needed: str):
    with pytest.raises(ModelUnavailable) as told:
        catalogue.load(name)
    assert needed in str(told.value)


LEADING_OUT = (
    "local:..",
    "local:../secret",
    "local:own bert-1.0/../../secret",
    "local:{secret}",
    "local:%2e%2e%2fsecret",
    "local:own bert-1.0\0",
    "{secret}",
    "models/own bert-1.0",
    "../secret",
    "/etc/passwd",
    "a/b/c",
    "a/..",
)


@pytest.mark.parametrize("any_model", [0, 1])
def test_no_name_leads_out_of_the_hosts_directory(models_dir: Path, host, any_model: int):
    host(any_model=any_model)
    if any_model:
        assert catalogue.card("someone/their-model").hub_id == "someone/their-model"
    for name in LEADING_OUT:
        with pytest.raises(ModelUnavailable) as told:
            catalogue.load_named(name.format(secret=models_dir.parent / "secret"))
        assert str(models_dir.parent) not in str(told.value).replace(name, "") or "{secret}" in name


def test_links_that_lead_out_of_the_hosts_directory_are_not_offered(models_dir: Path, host):
    secret = models_dir.parent / "secret"
    (models_dir / "linked").symlink_to(secret)
    (models_dir / "upwards").symlink_to("..")
    shutil.copytree(secret, models_dir / "with a link")
    (models_dir / "with a link" / "model.safetensors").unlink()
    (models_dir / "with a link" / "model.safetensors").symlink_to(secret / "model.safetensors")
    (models_dir / "inside").symlink_to(models_dir / "own_roberta")
    host(models_dir=models_dir / ".")
    assert [card.directory.name for card in catalogue.offered() if card.directory] == ["inside", "own bert-1.0", "own_roberta"]


def test_what_is_no_checkpoint_is_not_offered_and_half_a_checkpoint_says_what_is_wrong(models_dir: Path, host):
    for name, settings in {"half": "{", "list": "[]", "deep": "[" * 100_000, "large": " " * 2_000_000, "empty": "{}"}.items():
        (models_dir / name).mkdir()
        (models_dir / name / "config.json").write_text(settings, encoding="utf-8")
    (models_dir / "nothing").mkdir()
    (models_dir / "a file").write_text("text", encoding="utf-8")
    (models_dir / ".hidden").mkdir()
    (models_dir / ".hidden" / "config.json").write_text("{}", encoding="utf-8")
    (models_dir / "*[x](y)").mkdir()
    (models_dir / "*[x](y)" / "config.json").write_text("{}", encoding="utf-8")
    offered = [card for card in catalogue.offered() if card.directory]
    assert [card.directory.name for card in offered] == ["deep", "empty", "half", "large", "list", "own bert-1.0", "own_roberta"]
    for card in offered[:5]:
        with pytest.raises((CheckpointProblem, ModelUnavailable)) as told:
            catalogue.load(card.name)
        assert str(models_dir) not in str(told.value)


def test_nobody_waits_for_the_hub_which_is_asked_once_and_what_it_lacks_is_named(monkeypatch: pytest.MonkeyPatch):
    answered, asked = Event(), []

    def slow(hub_id: str) -> bool:
        asked.append(hub_id)
        answered.wait(120)
        return False

    monkeypatch.setattr(catalogue, "is_cached", lambda hub_id, _revision: hub_id == "google-bert/bert-base-uncased")
    monkeypatch.setattr(catalogue, "reaches_hub", slow)
    reach = catalogue.HubReach()
    assert [reach.out_of_reach() for _ in range(3)] == [frozenset()] * 3
    answered.set()
    wait_until(lambda: reach.missing, 120, "the check of the hub")
    assert len(asked) == 1
    assert reach.missing == {card.name for card in catalogue.catalogue() if card.hub_id} - {"bert-base-uncased"}
    monkeypatch.setattr(catalogue, "reaches_hub", lambda _hub_id: True)
    reach.check()
    assert reach.missing == set()
