"""The start page: a sentence's way to a prediction, its changes, and doors that stay open."""

import pytest

from pages.start import texts
from pages.ui.shell import cache
from tests.support.staged import staged
from tx_core.causal.cut_effects import cut_effects
from tx_core.engine import catalogue
from tx_core.errors import CheckpointProblem


def test_the_stage_is_sent_the_guesses_of_each_layer_and_no_arc_before_it_is_painted(open_app):
    app = open_app("start")
    assert not app.exception
    sent = staged(app)
    found = cut_effects(catalogue.load(catalogue.DEFAULT), texts.SENTENCE, queries=[])
    assert "arcs" not in sent
    assert sent["place"] == found.place
    assert len(sent["guesses"]) == sent["layers"] + 1
    word, share = sent["guesses"][-1][0]
    assert (word, share) == (found.word, pytest.approx(found.probability, abs=1e-4))
    assert sent["likely"][0]["after"] == sent["likely"][0]["before"] == pytest.approx(found.probability, abs=1e-4)


def test_of_a_model_that_writes_on_the_last_token_is_shown_with_its_next_word(open_app, checkpoint, host):
    folder = checkpoint("gpt2")
    host(models_dir=folder.parent)
    app = open_app("start", text="the quick fox", model=f"local:{folder.name}")
    assert not app.exception
    sent = staged(app)
    assert sent["next"]
    assert sent["place"] == len(sent["tokens"]) - 1
    assert sent["likely"][0]["word"] == sent["guesses"][-1][0][0] == sent["word"]


def test_with_a_cut_the_likely_words_are_those_of_the_changed_run_beside_what_they_had(open_app):
    sent = staged(open_app("start", text=texts.SENTENCE, changes="cut~4-2~5"))
    found = cut_effects(catalogue.load(catalogue.DEFAULT), texts.SENTENCE)
    assert sent["word"] == "go"
    (went,) = [one for one in sent["likely"] if one["word"] == "went"]
    assert went["before"] == pytest.approx(found.probability, abs=1e-4)
    assert went["after"] == pytest.approx(found.after[4, 3, 1], abs=1e-4)
    assert [one["link"] for one in sent["changes"]] == ["cut~4-2~5"]


def test_a_damaged_model_leaves_the_doors_open(open_app, monkeypatch):
    def damaged(name: str, **_: object) -> None:
        raise CheckpointProblem("The weights are damaged.")

    monkeypatch.setattr(cache, "engine", damaged)
    app = open_app("start")
    assert not app.exception
    assert "The weights are damaged." in [one.value for one in app.text]
    assert len(app.main.get("page_link")) >= len(texts.DOORS)
