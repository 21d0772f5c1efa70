"""What a model answers about blanks, written down: every number is in the table."""

from pages.ui.panels.predictions import SentencePredictions, prediction_rows
from pages.ui.panels.texts import PREDICTION_COLUMNS
from tx_core.engine import catalogue
from tx_core.fill_mask.predictions import fill_jointly, predict
from tx_core.fill_mask.word_scores import read_words, score_words


def answer_of(text: str, words: str) -> SentencePredictions:
    engine = catalogue.load(catalogue.DEFAULT)
    filling = predict(engine, text, top_k=3)
    scores = tuple(score_words(engine, text, read_words(words), blank=blank.number) for blank in filling.blanks)
    return SentencePredictions(text, filling, scores, fill_jointly(engine, text, best=2) if len(filling.blanks) > 1 else ())


def test_the_table_holds_every_number_of_the_charts():
    found = answer_of("A ___ and a ___.", "cat, banana")
    table = prediction_rows(found)
    assert len(table) == 2 * 3 + 2 * 2 + 2
    assert all(len(row) == len(PREDICTION_COLUMNS) for row in table)
    assert [row[5] for row in table[:3]] == [entry.probability for entry in found.filling.blanks[0].predictions]
    assert [row[4] for row in table[:3]] == [str(entry.id) for entry in found.filling.blanks[0].predictions]
    assert table[-2][7] == found.joint[0].sentence
