"""The start page: a sentence's way to a prediction, its changes, and doors that stay open."""

import pytest

from pages.start import texts
from pages.ui.shell import cache
from pages.ui.stage import texts as stage_texts
from tests.support.staged import ask_stage, staged
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
    assert sent["meaning"] == texts.MEANINGS[catalogue.DEFAULT, texts.SENTENCE, "cut~4-2~5"]
    assert staged(open_app("start", text=texts.SENTENCE, changes="cut~4-1~5"))["meaning"] == ""


def test_a_damaged_model_leaves_the_doors_open(open_app, monkeypatch):
    def damaged(name: str, **_: object) -> None:
        raise CheckpointProblem("The weights are damaged.")

    monkeypatch.setattr(cache, "engine", damaged)
    app = open_app("start")
    assert not app.exception
    assert "The weights are damaged." in [one.value for one in app.text]
    assert len(app.main.get("page_link")) >= len(texts.DOORS)


def test_a_sentence_of_ones_own_has_a_word_blanked_and_a_click_on_another_one_moves_the_blank(open_app):
    app = open_app("start")
    app.text_input(key="start_text").set_value("My dog eats bread").run()
    sent = staged(app)
    assert (sent["typed"], sent["text"], sent["end"]) == ("My dog eats bread", "My dog [MASK] bread.", "added")
    assert sent["tokens"][sent["place"]] == "[MASK]" and sent["isChosen"]
    assert sent["address"]["own"] == {"text": "My dog eats bread"}
    ask_stage(app, "interventions", {"word": {"number": 1, "text": "My dog eats bread"}})
    assert app.session_state["start_text"] == "My [MASK] eats bread"
    assert staged(app)["text"] == "My [MASK] eats bread."
    ask_stage(app, "interventions", {"end": False})
    assert (staged(app)["text"], staged(app)["end"]) == ("My [MASK] eats bread", "left out")
    assert staged(app)["address"]["own"]["noend"] == "1"
    app.text_input(key="start_text").set_value("...").run()  # dots in the place of the only word
    assert staged(app)["text"] == "[MASK]"
    app.text_input(key="start_text").set_value("!!").run()
    assert staged(app)["text"] == "[MASK]" and staged(app)["guesses"]
    assert app.session_state["start_text"] == "!!"


@pytest.mark.parametrize("text", ["Meine Schwester schreibt morgen einen langen Brief", "私の犬はパンを食べます"])
def test_it_says_that_the_model_reads_english_where_a_text_is_not(open_app, text: str):
    app = open_app("start", text=text)
    assert staged(app)["guesses"]
    assert stage_texts.ENGLISH_ONLY in [one.value for one in app.info]


def test_a_model_that_writes_on_is_given_no_full_stop(open_app):
    sent = staged(open_app("start", text="Once upon a", model="writer"))
    assert (sent["text"], sent["end"], sent["next"]) == ("Once upon a", "", True)
