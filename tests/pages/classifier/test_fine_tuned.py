"""The classifier that ships: what the page says of it is true, and it says what it cannot do."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.classifier import fine_tuned, texts
from tests.support.classifier_page import moments
from tests.support.drawings import says
from tests.support.staged import staged
from tx_core.engine import catalogue
from tx_core.lessons.labels import FINE_TUNED, label_text
from tx_core.training.fine_tune import mcnemar

Open = Callable[..., AppTest]


@pytest.fixture(scope="module")
def engine():
    return catalogue.load(FINE_TUNED, weights=True)


def test_the_page_opens_on_it_with_its_map_its_words_and_its_score(open_app: Open, engine):
    app = open_app("classifier")
    assert not app.exception
    (moment,) = moments(app)
    found = label_text(engine, texts.FILM_SENTENCE)
    assert moment["drawn"]["side"]["shares"] == pytest.approx(found.probabilities, abs=1e-5)
    assert np.allclose(moment["drawn"]["above"]["cells"], found.of_words()[1], atol=1e-4)
    sent = staged(app)
    assert [(stack["layers"], stack["heads"]) for stack in sent["stacks"] or moment["stacks"]] == [(6, 8)]
    assert sent["training"]["buttons"] == []
    assert sent["training"]["said"] == fine_tuned.describe_score()
    app.session_state["classifier_model"] = "own"
    app.run()
    assert [button[0] for button in staged(app)["training"]["buttons"]] == ["train"]


def test_contributions_add_up_to_what_the_words_change(engine):
    found = label_text(engine, "a film of great beauty")
    encoding = found.trace.attention.query_tokens
    masked = [i if special else engine.tokenizer.mask_id for i, special in zip(encoding.ids, encoding.special, strict=True)]
    scores = engine.label_gradients(encoding, 1, np.stack([engine.embed(encoding.ids), engine.embed(masked)])).scores
    assert found.contributions[1].sum() == pytest.approx(scores[0] - scores[1], abs=1e-2)
    assert np.array_equal(found.contributions[0], -found.contributions[1])
    logits = engine.label_logits(engine.trace("a film of great beauty", keep=("hidden",)).hidden[-1])
    assert scores[0] == pytest.approx(logits[1] - logits.mean(), abs=1e-4)


def test_its_card_has_the_numbers_that_were_measured():
    found = fine_tuned.measured_score()
    assert all(found["interval"][0] < found[share] < found["interval"][1] for share in ("accuracy", "naive_bayes"))
    card = (catalogue.MODELS / FINE_TUNED / "README.md").read_text(encoding="utf-8")
    shares = [found["accuracy"], *found["interval"], found["naive_bayes"], found["always_one_label"]]
    assert all(f"{100 * share:.1f} %" in card for share in shares)
    assert all(f" {count} |" in card for row in found["confusion"] for count in row)
    assert sum(map(sum, found["confusion"])) == found["sentences"]
    model, bayes = found["only_model_and_only_naive_bayes_right"]
    assert f"{model} are labelled correctly by this model only, and {bayes} by naive Bayes only" in card
    assert f"p = {mcnemar(model, bayes):.2f}" in card


FAILURES = {
    texts.NOT_BORING: ("negative", "boring"),
    texts.LIMITS_SENTENCE: ("negative", "boring"),
    texts.BOREDOM: ("positive", "masterpiece"),
    texts.NO_REVIEW: ("negative", "noon"),
}
"""What the page says that it cannot do: the label, and the word that adds most to it."""


@pytest.mark.parametrize(("sentence", "label", "word"), [(sentence, *claim) for sentence, claim in FAILURES.items()])
def test_what_the_page_says_that_it_cannot_do_is_true(engine, sentence: str, label: str, word: str):
    found = label_text(engine, sentence)
    words, numbers = found.of_words()
    assert found.label == label
    assert words[int(numbers[found.names.index(label)].argmax())].lower() == word
    assert f"*{sentence}*" in texts.FAILURES and f"*{word}*" in texts.FAILURES
    if sentence == texts.NOT_BORING:  # “not … at all” turns nothing round
        negative = dict(zip(words, numbers[0], strict=True))
        assert negative["not"] + negative["all"] > 0


def test_it_leans_to_negative_without_noon_too_and_no_word_is_said_to_be_the_cause(engine):
    shares = [label_text(engine, sentence).probabilities[0] for sentence in (texts.NO_REVIEW, texts.NO_NOON)]
    assert shares == pytest.approx([0.84, 0.66], abs=0.005)
    assert all(f"at {share:.0%}".replace("%", " %") in texts.FAILURES for share in shares)
    assert not re.search("because of|decides", texts.FAILURES + "".join(texts.NOTICES[False].values()))


def test_what_is_to_be_noticed_in_the_first_sentence_is_there(engine):
    words, numbers = label_text(engine, texts.FILM_SENTENCE).of_words()
    positive = dict(zip(words, numbers[1], strict=True))
    assert words[int(numbers[1].argmax())] == "wonderful" and words[int(numbers[1].argmin())] == "never"
    assert positive["wonderful"] > 0 > positive["never"]


def test_the_sentences_to_try_are_one_click_away_each_with_what_to_notice(open_app: Open):
    app = open_app("classifier")
    for number, sentence in enumerate(texts.TRIES[False].values()):
        app.button(key=f"classifier_try{number}").click().run()
        assert app.text_input(key="classifier_text").value == sentence
        assert texts.NOTICES[False][sentence] in says(app)
    assert texts.FAILURES.strip() in says(app)
