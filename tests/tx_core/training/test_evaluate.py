"""The evaluator: a model built to know the answer gets 100 %, one that knows nothing gets chance; its command, with one table."""

import math

import numpy as np
import pytest
import torch

from tests.support.known_texts import BACKEND, VOCAB, WORDS, Knowing, held_out_files, pairs, untrained, write_data
from tx_core.analysis.grammar import read_grammar
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.words import Word
from tx_core.training import evaluate
from tx_core.training.evaluate import measure_heads
from tx_core.training.evaluation.predictions import (
    HERE,
    Prompt,
    SentencePair,
    capital_prompts,
    log_likelihoods,
    measure_cloze,
    measure_held_out,
    read_agreement,
    share_likelier,
)
from tx_core.training.pretraining.export import export_checkpoint


def test_a_model_that_knows_the_good_sentences_prefers_them_all():
    for known, share in (([pair.good for pair in pairs()], 1.0), ([pair.bad for pair in pairs()], 0.0)):
        engine = Knowing(known)
        shares = share_likelier(engine, pairs())
        assert shares == dict.fromkeys(("sees", "see", "runs", "run"), share)


def test_a_pseudo_log_likelihood_sums_the_pieces_each_blanked_alone():
    engine, sentence = untrained(), "the cat sees bananas ."
    ids = BACKEND.encode(sentence).ids
    by_hand = 0.0
    for place in range(1, len(ids) - 1):
        row = torch.tensor([ids])
        row[0, place] = 4
        with torch.no_grad():
            logits = engine.model.predict(engine.model(row).output)
        by_hand += float(logits[0, place].log_softmax(0)[ids[place]])
    found = log_likelihoods(engine, ["the dog runs .", sentence, "he was cold , she was hot ."])[1]
    assert found == pytest.approx(by_hand, abs=1e-4)


def test_agreement_tells_nouns_that_distract_from_those_that_do_not(tmp_path):
    (tmp_path / "prep.jsonl").write_text(
        '{"case": "sing_MS_MV_plur_ES", "sents": ["the cat behind dogs runs", "the cat behind dogs run"]}\n'
        '{"case": "sing_MS_MV_sing_ES", "sents": ["the cat behind a dog runs", "the cat behind a dog run"]}\n'
    )
    (tmp_path / "npi_x.jsonl").write_text('{"case": "past", "sents": ["a", "b", "c"]}\n')
    assert read_agreement(tmp_path, 0) == [
        SentencePair("the cat behind dogs runs .", "the cat behind dogs run .", "attractor"),
        SentencePair("the cat behind a dog runs .", "the cat behind a dog run .", "no attractor"),
    ]


def test_an_answer_counts_where_it_is_among_the_first_and_one_of_several_pieces_as_wrong():
    prompts = [Prompt("the [MASK] sees a dog .", ("cat",)), Prompt("tea was [MASK] .", ("cold", "hot"))]
    assert measure_cloze(Knowing(["the cat sees a dog .", "tea was hot ."]), prompts) == (1.0, 1.0, 1.0, 1.0)
    prompts = [Prompt("he sees [MASK] .", (word,)) for word in ("zebra", "tea")]
    assert measure_cloze(Knowing(["he sees tea ."]), prompts) == (0.5, 0.5, 0.5, 0.5)
    capitals = capital_prompts(HERE / "seen_capitals.tsv")
    assert len(capitals) == 25 and Prompt("The capital of England is [MASK].", ("London",)) in capitals


def test_a_model_that_knows_the_texts_loses_nothing_on_them(tmp_path):
    files, lines = held_out_files(tmp_path)
    measured = measure_held_out(Knowing(lines), files, 100)
    assert set(measured) == {"cats", "dogs", "all"}
    for held in measured.values():
        assert held.accuracy == 1.0 and held.loss < 1e-4 and held.word_loss < 1e-4
    assert measured["all"].pieces == measured["cats"].pieces + measured["dogs"].pieces
    assert measure_held_out(Knowing(), files, 100)["all"].loss == pytest.approx(math.log(VOCAB)), "of one that knows nothing"


def grown_trees(count: int) -> Sentences:
    chance = np.random.default_rng(3)
    annotated = {}
    while len(annotated) < count:
        size = int(chance.integers(7, 12))
        heads = [None, *(int(chance.choice([place for place in range(size) if place != own])) for own in range(1, size))]
        forms = chance.choice(WORDS[:12], size).tolist()
        words = tuple(Word(form, deprel="nmod" if place else "root", head=heads[place]) for place, form in enumerate(forms))
        annotated[" ".join(forms)] = words
    return Sentences("grown", tuple(annotated), tuple(range(count)), (), annotated=annotated)


def test_a_head_built_to_follow_a_relation_is_found_and_gets_everything():
    trees = grown_trees(60)

    def attention(row):
        weights = torch.full((2, 3, len(row), len(row)), 1 / len(row))
        weights[1, 2] = 0
        for place, word in enumerate(trees.annotated[row.text]):
            weights[1, 2, place + 1, (place if word.head is None else word.head) + 1] = 1
        return weights

    best, followed = measure_heads(Knowing(attention=attention), trees)
    (only,) = followed
    assert (only.layer, only.head, only.relation, only.direction, only.accuracy) == (1, 2, "nmod", "to head", 1.0)
    assert only.baseline < 0.25
    assert [(one.layer, one.head, one.accuracy) for one in best] == [(1, 2, 1.0)]


@pytest.fixture
def checkpoint(tmp_path):
    model = untrained().model
    return export_checkpoint(tmp_path / "mine" / "model", model.config, model.state_dict(), BACKEND, {})


def test_a_checkpoint_is_measured_into_one_table_and_its_card_once_and_the_rest_of_the_card_stays(checkpoint, tmp_path, capsys):
    data, before = write_data(tmp_path / "data"), (checkpoint / "README.md").read_text("utf-8")
    assert "## Data and licence" in before
    words = [str(checkpoint), "--data", str(data), "--held-out", str(data / "texts"), "--grammar", "--card"]
    assert evaluate.main([*words, "--only", "cloze"]) == evaluate.main(words) == 0
    shown = capsys.readouterr().out.splitlines()
    table = shown[shown.index("| | mine |", 1) :]
    for label in ("held out, cats", "BLiMP, agreement", "everyday (200)", "relation det"):
        assert any(line.startswith(f"| {label}") for line in table), label
    assert all(one.accuracy - one.baseline >= 0.1 for heads in read_grammar(checkpoint).values() for one in heads)
    after = (checkpoint / "README.md").read_text("utf-8")
    assert after.count("## Evaluated") == 1 and all(line in after for line in table)
    assert after.index("## Evaluated") < after.index("## Data and licence")
    assert [line for line in after.splitlines() if line and line in before] == [line for line in before.splitlines() if line]


def test_what_cannot_be_read_is_reported(tmp_path, checkpoint, capsys):
    assert evaluate.main([str(tmp_path / "gone")]) == 2
    assert "no checkpoint named gone" in capsys.readouterr().err
    assert evaluate.main([str(checkpoint), "--data", str(tmp_path / "gone"), "--only", "blimp"]) == 2
    assert evaluate.NO_FILES.format(pattern="*.jsonl", folder=tmp_path / "gone" / "blimp") in capsys.readouterr().err
    assert evaluate.main([str(checkpoint), "--held-out", str(tmp_path), "--only", "held_out"]) == 2
    assert evaluate.NO_FILES.format(pattern="*.txt", folder=tmp_path) in capsys.readouterr().err
