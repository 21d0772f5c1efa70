"""The command that evaluates: one table for several checkpoints, stored numbers, the model card, and what cannot be read."""

import json
import shutil

import pytest

from tests.support.checkpoints import write_bert
from tests.support.known_texts import BACKEND, CONLLU, held_out_files, pairs, untrained
from tx_core.analysis.grammar import FILE, HeadRelation, read_grammar
from tx_core.training import evaluate
from tx_core.training.evaluate import lines_of_table
from tx_core.training.pretraining.export import export_checkpoint


def write_data(folder):
    for name in ("blimp", "marvin_linzen", "ud_english_ewt", "capitals", "texts"):
        (folder / name).mkdir()
    items = [
        json.dumps({"sentence_good": pair.good, "sentence_bad": pair.bad, "UID": "verbs", "linguistics_term": "agreement"})
        for pair in pairs()
    ]
    (folder / "blimp" / "verbs.jsonl").write_text("\n".join(items) + "\n")
    (folder / "marvin_linzen" / "s.jsonl").write_text('{"case": "sing_MV", "sents": ["the cat runs", "the cat run"]}\n')
    (folder / "ud_english_ewt" / "en_ewt-ud-dev.conllu").write_text(CONLLU * 120)
    (folder / "capitals" / "heldout_capitals.tsv").write_text("country\tcapital\nPeru\tLima\n")
    held_out_files(folder / "texts")
    return folder


@pytest.fixture
def two_checkpoints(tmp_path):
    made = []
    for seed, name in enumerate(("first", "second")):
        model = untrained(seed).model
        made.append(export_checkpoint(tmp_path / name / "model", model.config, model.state_dict(), BACKEND, {}))
    return made


def test_several_checkpoints_stand_side_by_side_in_one_table_and_in_json(two_checkpoints, tmp_path, capsys):
    (tmp_path / "data").mkdir()
    data = write_data(tmp_path / "data")
    words = ["--data", str(data), "--held-out", str(data / "texts"), "--json", str(tmp_path / "out.json")]
    assert evaluate.main([*map(str, two_checkpoints), *words]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "| | first | second |"
    assert all(line.count("|") == 4 for line in shown)
    for label in (
        "held out, cats",
        "BLiMP, mean",
        "BLiMP, agreement",
        "subject-verb agreement, no attractor",
        "everyday (200)",
        "facts (60)",
        "capitals, wording never seen (1)",
        "relation det",
        "best previous-token head",
        "share on [SEP]",
        'two meanings of "flies"',
    ):
        assert any(line.startswith(f"| {label}") for line in shown), label
    stored = json.loads((tmp_path / "out.json").read_text())
    assert set(stored) == {"first", "second"} and stored["first"] != stored["second"]
    assert set(stored["first"]) == {"held_out", "blimp", "agreement", "cloze", "relations", "habits", "followed", "two_meanings"}


def test_the_grammar_that_heads_follow_is_stored_beside_the_first_checkpoint(two_checkpoints, tmp_path):
    (tmp_path / "data").mkdir()
    data, out = write_data(tmp_path / "data"), tmp_path / "out.json"
    words = ["--data", str(data), "--only", "heads", "--grammar", "--json", str(out)]
    assert evaluate.main([*map(str, two_checkpoints), *words]) == 0
    followed = json.loads(out.read_text())["first"]["followed"]
    stored = [one for relations in read_grammar(two_checkpoints[0]).values() for one in relations]
    assert sorted(map(str, stored)) == sorted(str(HeadRelation(**one)) for one in followed)
    assert not (two_checkpoints[1] / FILE).exists()


def test_a_part_can_be_measured_alone_and_without_data(two_checkpoints, capsys):
    assert evaluate.main([str(two_checkpoints[0]), "--only", "two_meanings"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 4 and "flies" in shown[2]


def test_the_table_goes_into_the_model_card_once_and_the_rest_of_the_card_stays(two_checkpoints, tmp_path, capsys):
    checkpoint = tmp_path / "mine"
    shutil.copytree(two_checkpoints[0], checkpoint)
    before = (checkpoint / "README.md").read_text("utf-8")
    assert "## Data and licence" in before
    for _ in range(2):
        assert evaluate.main([str(checkpoint), "--only", "two_meanings", "--card"]) == 0
    after = (checkpoint / "README.md").read_text("utf-8")
    table = capsys.readouterr().out.splitlines()[-3:]
    assert after.count("## Evaluated") == 1 and all(line in after for line in table)
    assert after.index("## Evaluated") < after.index("## Data and licence")
    assert [line for line in after.splitlines() if line and line in before] == [line for line in before.splitlines() if line]


def test_of_a_model_without_a_masked_word_head_heads_and_vectors_are_measured(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    data = write_data(tmp_path / "data")
    checkpoint = write_bert(tmp_path / "headless", with_head=False)
    assert evaluate.main([str(checkpoint), "--data", str(data), "--held-out", str(data / "texts")]) == 0
    told = capsys.readouterr()
    left_out = {line.split()[1] for line in told.err.splitlines() if "left out" in line}
    assert left_out == set(evaluate.OF_PREDICTIONS)
    labels = [line.split("|")[1].strip() for line in told.out.splitlines()[2:]]
    assert any(label.startswith("relation det") for label in labels)
    assert any("flies" in label for label in labels)
    assert not any("BLiMP" in label or "everyday" in label for label in labels)


def test_what_cannot_be_read_is_told(tmp_path, two_checkpoints, capsys):
    assert evaluate.main([str(tmp_path / "gone")]) == 2
    assert "no checkpoint named gone" in capsys.readouterr().err
    assert evaluate.main([str(two_checkpoints[0]), "--data", str(tmp_path / "gone"), "--only", "blimp"]) == 2
    assert evaluate.NO_FILES.format(pattern="*.jsonl", folder=tmp_path / "gone" / "blimp") in capsys.readouterr().err
    assert evaluate.main([str(two_checkpoints[0]), "--held-out", str(tmp_path), "--only", "held_out"]) == 2
    assert evaluate.NO_FILES.format(pattern="*.txt", folder=tmp_path) in capsys.readouterr().err


def test_a_figure_that_one_checkpoint_lacks_is_left_open():
    shown = lines_of_table({"a": {"blimp": {"mean": 0.5}}, "b": {"agreement": {"attractor": 0.25}}})
    assert shown[2:] == ["| BLiMP, mean | 50.0 % | – |", "| subject-verb agreement, attractor | – | 25.0 % |"]
