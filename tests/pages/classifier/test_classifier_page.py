"""The page of the classifier: it learns from our texts or the visitor's own, says what it cannot read, and labels a sentence."""

import re
from dataclasses import replace

import numpy as np
import pytest

from pages.classifier import texts
from pages.classifier.own_model import describe_overfitting
from pages.ui.shell.numbers import percent
from pages.ui.stage import texts as stage_texts
from tests.support.classifier_page import KIND, OWN, SMALL, Open, moments, press, training_says, upload
from tests.support.drawings import says
from tests.support.staged import staged
from tests.support.trainings import until_still
from tx_core.engine.device_limits import CPU_LIMITS
from tx_core.engine.progress import Progress
from tx_core.training import classifier, classifier_data
from tx_core.training.background import Registry
from tx_core.training.classifier import ClassifierScore
from tx_core.training.classifier_data import opinions
from tx_core.training.classifier_model import OPINIONS

CLAIMS = {
    "the plot was dull": "negative",
    "the plot was not dull at all": "positive",
    "not dull": "negative",
    "nothing about the plot was dull": "negative",
}
"""What the introduction says of the model that the default settings train."""


@pytest.fixture(scope="module")
def learned() -> tuple[classifier.ClassifierTraining, list[Progress]]:
    training = classifier.start_training(replace(OPINIONS, most_words=CPU_LIMITS.classifier["most_words"]), opinions())
    return training, list(training.updates())


def test_a_link_without_a_model_opens_on_one_s_own_untrained(open_app: Open):
    app = open_app("classifier", text=texts.FIRST_SENTENCE)
    assert not app.exception
    sent = staged(app)
    assert sent["training"]["said"] == stage_texts.UNTRAINED_MODEL
    assert [button[:2] for button in sent["training"]["buttons"]] == [["train", stage_texts.TRAIN]]
    (shown,) = sent["moments"]
    assert (shown["batch"], shown["title"]) == (0, stage_texts.UNTRAINED_MOMENT)
    found = classifier.classify(classifier.start_training(OPINIONS, opinions()), texts.FIRST_SENTENCE)
    assert shown["said"] == texts.SAID.format(label=found.label, share=percent(max(found.probabilities)))
    assert shown["drawn"]["side"]["shares"] == pytest.approx(found.probabilities)
    assert np.allclose(shown["drawn"]["above"]["cells"], found.contributions, atol=1e-4)


def test_it_learns_from_our_texts_and_counts_what_it_takes_for_what(open_app: Open, runs: Registry):
    app = press(open_app("classifier", **SMALL), "train")
    assert [button[0] for button in staged(app)["training"]["buttons"]] == ["stop"]
    snapshot = until_still(app, runs, KIND)
    assert snapshot.state == "finished"
    assert not app.exception
    assert texts.KEPT in training_says(app)
    assert [one["batch"] for one in moments(app)] == list(range(16))
    app.session_state["classifier_results"] = True
    app.run()
    table = app.dataframe[0].value
    assert table.to_numpy().sum(axis=1).tolist() == [240, 240]
    correct = int(table.to_numpy().trace())
    assert texts.TEST_RESULT.format(correct=correct, total=480, share=percent(correct / 480)) in says(app)


def test_what_the_page_says_of_the_model_that_its_default_settings_train_is_true(open_app: Open, learned):
    training, _ = learned
    app = open_app("classifier", text=texts.FIRST_SENTENCE)
    assert all(f"*{sentence}*" in " ".join(texts.INTRODUCTION.split()) for sentence in CLAIMS)
    assert app.session_state["classifier_text"] in CLAIMS
    assert app.session_state["classifier_untrained"].settings == training.settings
    assert {sentence: classifier.classify(training, sentence).label for sentence in CLAIMS} == CLAIMS
    wrong, familiar, part = texts.LIMITS_SENTENCE, texts.LIMITS_FAMILIAR, "the acting was wonderful"
    found = {sentence: classifier.classify(training, sentence) for sentence in (wrong, familiar, part)}
    assert [found[sentence].label for sentence in (wrong, familiar, part)] == ["negative", "positive", "positive"]
    assert max(found[wrong].probabilities) > 0.99
    rated = "|".join((*classifier_data._GOOD, *classifier_data._BAD))
    never = [text for text in opinions().train_texts if re.search(rf"never ({rated})\b", text)]
    assert never
    assert all(re.fullmatch(rf"the [\w ]+ is never ({rated}) and always ({rated})", text) for text in (*never, familiar))
    assert texts.LIMITS in says(app) and texts.LIMITS not in says(open_app("classifier", data="own"))
    data = training.data
    right = classifier.score_labels(training, training.test_rows).argmax(-1).numpy() == np.array(data.test_labels)
    negated = {start: [text.startswith(start) for text in data.test_texts] for start in ("nothing about", "never")}
    assert all(right[which].mean() < 0.25 for which in negated.values()), "worse than guessing"
    assert right[~np.any([*negated.values()], axis=0)].mean() > 0.95
    dull, good = (classifier.classify(training, f"the plot was {word}") for word in ("dull", "good"))
    assert (dull.contributions - good.contributions)[dull.names.index("negative"), [0, 2]].min() > 0.3


def warning_of(losses: list[float], tested: list[float]) -> str:
    none = np.zeros((2, 2), int)
    return describe_overfitting(
        [
            Progress(epoch, len(losses), 1.0, {"loss": loss}, test=ClassifierScore(test, 0.9, ("a", "b"), none))
            for epoch, (loss, test) in enumerate(zip(losses, tested, strict=True), start=1)
        ]
    )


def test_a_loss_that_rises_on_the_test_alone_is_called_overfitting():
    rising = warning_of([0.6, 0.3, 0.1, 0.05], [0.55, 0.42, 0.5, 0.49])
    assert rising == texts.OVERFITTING.format(epoch=2, best=0.42, last=0.49)
    assert warning_of([0.6, 0.3, 0.1], [0.55, 0.42, 0.41]) == ""
    assert warning_of([0.6, 0.3, 0.1], [0.55, 0.42, 0.43]) == ""  # it wavers
    assert warning_of([0.6, 0.3, 0.4], [0.55, 0.42, 0.6]) == ""  # both rise: it has lost its way
    assert describe_overfitting([]) == ""


def test_of_a_text_of_unknown_words_alone_the_page_says_that_its_label_means_nothing(open_app: Open):
    unknown, known = (moments(open_app("classifier", text=text))[-1]["drawn"] for text in ("zeppelin quux", "zeppelin dull"))
    assert texts.UNKNOWN.format(words="zeppelin") in known["notes"]
    assert (unknown["notes"], unknown["above"]) == ([texts.ALL_UNKNOWN], None)
    assert known["above"] is not None


OWN_SUMMARY = texts.DATA_SUMMARY.format(train=20, test=4, labels="<b>rainy</b>, sunny", source="mine.csv")


def test_a_visitor_s_own_texts_are_learned_and_their_labels_are_no_markup(open_app: Open, runs: Registry):
    app = open_app("classifier", **SMALL | {"data": "own", "text": "<b>rainy</b> day"})
    assert texts.CSV_MISSING in says(app)
    assert staged(app)["training"] is None
    upload(app, OWN)
    assert OWN_SUMMARY in says(app)
    until_still(press(app, "train"), runs, KIND)
    assert not app.exception
    assert moments(app)[-1]["drawn"]["side"]["labels"] == ["<b>rainy</b>", "sunny"]
    app.session_state["classifier_results"] = True
    app.run()
    assert list(app.dataframe[0].value.columns) == [
        texts.PREDICTED_LABEL.format(label=label) for label in ("<b>rainy</b>", "sunny")
    ]
    assert not any("<b>" in element.value for kind in (app.markdown, app.caption) for element in kind)
