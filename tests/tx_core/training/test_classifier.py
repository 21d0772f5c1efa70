"""The small classifier: its words, its scores, what it says of a sentence, and that it stops and goes on. The page trains it."""

from dataclasses import replace

import numpy as np
import pytest

from tx_core.errors import TextProblem
from tx_core.training.classifier import classify, score_labels, start_training
from tx_core.training.classifier_data import opinions
from tx_core.training.classifier_model import OPINIONS, build_vocabulary, encode_words

SHORT = replace(OPINIONS, epochs=2, batch_size=16, num_heads=4, num_layers=2)


@pytest.fixture(scope="module")
def learned():
    training = start_training(SHORT, opinions(400))
    return training, list(training.updates())


def test_the_score_counts_every_text_held_back_by_label(learned):
    training, progress = learned
    last, data = progress[-1].test, training.data
    given = score_labels(training, training.test_rows).argmax(-1).numpy()
    truth = np.array(data.test_labels)
    assert last.confusion.tolist() == [[int(((truth == a) & (given == b)).sum()) for b in (0, 1)] for a in (0, 1)]
    assert last.accuracy == pytest.approx((truth == given).mean())


def test_what_the_words_said_and_the_bias_make_the_labels_scores(learned):
    training, _ = learned
    prediction = classify(training, "the plot was quite dull, I left before the end")
    scores = prediction.contributions.sum(axis=1) + training.model.head.label.bias.detach().numpy()
    shares = np.exp(scores - scores.max())
    np.testing.assert_allclose(shares / shares.sum(), prediction.probabilities, atol=1e-5)
    stack = prediction.trace.attention
    assert prediction.contributions.shape == (2, len(stack.query_tokens))
    assert stack.weights.shape == (2, 4, len(stack.query_tokens), len(stack.query_tokens))


def test_the_label_of_a_text_does_not_depend_on_the_batch_around_it(learned):
    training, _ = learned
    short, long = min(training.test_rows, key=len), max(training.test_rows, key=len)
    alone, beside = (score_labels(training, rows)[0].detach().numpy() for rows in ([short], [short, long]))
    assert len(short) < len(long)
    np.testing.assert_allclose(beside, alone, atol=1e-5)


def test_the_commonest_words_of_the_training_texts_get_the_first_numbers_and_others_are_marked():
    vocabulary = build_vocabulary(["b a c", "c b", "c d"], most_words=3)
    assert vocabulary == {"c": 2, "b": 3, "a": 4}
    encoding = encode_words("C don't!", vocabulary | {"!": 9}, most=3)
    assert (encoding.ids, encoding.tokens, encoding.unknown) == ((2, 1, 9), ("c", "don't", "!"), (1,))
    for text, problem in (("  ", "one word or more"), ("a b c d", "reads 3 words at the most, the text has 4")):
        with pytest.raises(TextProblem, match=problem):
            encode_words(text, vocabulary, most=3)
    data = opinions(100)
    assert "zeppelin" not in start_training(SHORT, replace(data, test_texts=("zeppelin", *data.test_texts[1:]))).vocabulary
