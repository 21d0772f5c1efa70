"""The small classifier: it learns, it stops and goes on, and it says where it looked."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tx_core.training.classifier import (
    classify,
    evaluate_classifier,
    score_labels,
    start_training,
)
from tx_core.training.classifier_data import opinions
from tx_core.training.classifier_model import OPINIONS

SHORT = replace(OPINIONS, epochs=2, batch_size=16, num_heads=4, num_layers=2)


@pytest.fixture(scope="module")
def learned():
    training = start_training(replace(OPINIONS, epochs=6), opinions())
    return training, list(training.updates())


def test_it_learns_to_tell_opinions_apart(learned):
    training, progress = learned
    assert len(progress) == training.batches == 60 * 6
    ends = [record.test for record in progress if record.test is not None]
    assert len(ends) == 6
    assert ends[-1].accuracy > 0.78
    assert np.mean([record.values["loss"] for record in progress[-60:]]) < 0.1
    assert np.mean([record.values["accuracy"] for record in progress[:20]]) < 0.7


def test_the_confusion_table_counts_every_text_held_back_once(learned):
    training, progress = learned
    last = progress[-1].test
    assert last.names == ("negative", "positive")
    assert last.confusion.sum(axis=1).tolist() == [240, 240]
    assert last.accuracy == pytest.approx(last.confusion.trace() / 480)
    given = score_labels(training, training.test_rows).argmax(-1)
    wrong_way = (given == 1) & (torch.tensor(training.data.test_labels) == 0)
    assert last.confusion[0, 1] == int(wrong_way.sum())


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I loved it, the acting is wonderful!", "positive"),
        ("the ending was not terrible at all", "positive"),
        ("I expected a great film but it was awful", "negative"),
    ],
)
def test_a_sentence_of_ones_own_is_labelled_with_where_the_model_looked(learned, text, label):
    training, _ = learned
    prediction = classify(training, text)
    assert prediction.label == label
    assert sum(prediction.probabilities) == pytest.approx(1)
    stack = prediction.trace.attention
    words = len(stack.query_tokens)
    assert stack.weights.shape == (1, 2, words, words)
    np.testing.assert_allclose(stack.weights.sum(-1), 1, atol=1e-6)


def test_what_the_words_said_and_the_bias_make_the_labels_scores(learned):
    training, _ = learned
    prediction = classify(training, "the plot was quite dull, I left before the end")
    scores = prediction.contributions.sum(axis=1) + training.model.head.label.bias.detach().numpy()
    shares = np.exp(scores - scores.max())
    np.testing.assert_allclose(shares / shares.sum(), prediction.probabilities, atol=1e-5)
    words = prediction.trace.attention.query_tokens.tokens
    assert prediction.contributions.shape == (2, len(words))
    assert prediction.contributions[0, words.index("dull")] > 0 > prediction.contributions[1, words.index("dull")]


def test_the_label_of_a_text_does_not_depend_on_the_batch_around_it(learned):
    training, _ = learned
    short, long = min(training.test_rows, key=len), max(training.test_rows, key=len)
    with torch.no_grad():
        torch.testing.assert_close(score_labels(training, [short, long])[:1], score_labels(training, [short]), atol=1e-5, rtol=0)


def test_the_score_of_each_template_counts_its_texts(learned):
    training, progress = learned
    scores = progress[-1].test.frames
    given = score_labels(training, training.test_rows).argmax(-1).tolist()
    data = training.data
    for score in scores:
        places = [place for place, frame in enumerate(data.test_frames) if frame == score.frame]
        right = [data.test_labels[place] == given[place] for place in places]
        assert (score.correct, score.total, score.new) == (sum(right), len(right), score.frame in data.new_frames)
    assert sum(score.total for score in scores) == 480
    assert [score.new for score in scores] == sorted((score.new for score in scores), reverse=True)


def test_a_run_that_was_stopped_goes_on_as_if_it_never_had_been():
    whole = [record.values["loss"] for record in start_training(SHORT, opinions(100)).updates()]
    training = start_training(SHORT, opinions(100))
    stopped = training.updates()
    first = [next(stopped).values["loss"] for _ in range(7)]
    stopped.close()
    rest = list(training.updates())
    assert first + [record.values["loss"] for record in rest] == whole
    assert [record.done for record in rest] == [8, 9, 10]
    assert rest[-1].test.accuracy == evaluate_classifier(training).accuracy


def test_the_vocabulary_is_built_without_the_texts_held_back():
    data = opinions(100)
    data = replace(data, test_texts=("zeppelin", *data.test_texts[1:]))
    assert "zeppelin" not in start_training(SHORT, data).vocabulary.words
