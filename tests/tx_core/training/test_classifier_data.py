"""Labelled texts: the set of our own, a visitor's CSV, and every way in which one can be wrong."""

import re

import pytest

from tx_core.corpus.sentence_file import NO_TEXT
from tx_core.errors import TextProblem
from tx_core.training import classifier_data as messages
from tx_core.training.classifier_data import examples_csv, opinions, read_csv, split

MOST_EXAMPLES = messages.MAX_EXAMPLES
ROWS = [("a fine film, really", "good"), ("a sad “film”", "bad")] * 12


def csv_of(rows=ROWS, header="text,label", separator=",") -> str:
    return "\r\n".join([header, *(f'"{text}"{separator}{label}' for text, label in rows)])


def test_the_opinions_are_balanced_distinct_and_never_both_learned_and_tested():
    data = opinions()
    assert (len(data.train_texts), len(data.test_texts)) == (1920, 480)
    assert sum(data.train_labels) == 960
    assert sum(data.test_labels) == 240
    assert len({*data.train_texts, *data.test_texts}) == 2400


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b"] * 5, messages.TOO_FEW_EXAMPLES.format(least=20, examples=10)),
        (["a"] * 30, messages.WRONG_NUMBER_OF_LABELS.format(most=10, labels=1)),
        ([str(n) for n in range(11)] * 2, messages.WRONG_NUMBER_OF_LABELS.format(most=10, labels=11)),
        (["a"] * 30 + ["lonely"], messages.LONELY_LABEL.format(label="lonely")),
    ],
)
def test_too_little_to_learn_from_is_refused(labels, message):
    with pytest.raises(TextProblem, match=re.escape(message)):
        split("mine", [f"text {n}" for n in range(len(labels))], labels)


@pytest.mark.parametrize(("encoding", "separator"), [("utf-8", ","), ("utf-8-sig", ";"), ("utf-16", "\t"), ("cp1252", ";")])
def test_a_csv_is_read_in_every_usual_encoding_and_with_every_usual_separator(encoding, separator):
    data = read_csv(csv_of(header=f"Text{separator}LABEL", separator=separator).encode(encoding), "opinions.csv")
    assert data.names == ("bad", "good")
    assert "a sad “film”" in data.train_texts
    assert len(data.train_texts) + len(data.test_texts) == 24
    assert data.source == "opinions.csv"
    again = read_csv(examples_csv(data))
    assert sorted(again.train_texts + again.test_texts) == sorted(data.train_texts + data.test_texts)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", messages.WRONG_HEADER.format(header=messages.EMPTY_HEADER)),
        (b"review,stars\ngood,5", messages.WRONG_HEADER.format(header="review, stars")),
        (b'text,label\nfine,good\n"open,bad', "is no CSV"),
        (
            csv_of([*ROWS, ("x" * 5001, "good")]).encode(),
            messages.WRONG_LENGTH.format(column="text", line=26, most=5000, characters=5001),
        ),
        (csv_of([("fine", "l" * 41)]).encode(), messages.WRONG_LENGTH.format(column="label", line=2, most=40, characters=41)),
        (b"text,label\na,b,c", messages.WRONG_NUMBER_OF_COLUMNS.format(line=2, columns=3, expected=2)),
        (csv_of().encode().replace(b"fine", b"fi\0ne"), NO_TEXT),
        (b"x" * 1_000_001, messages.EXAMPLES_TOO_LARGE.format(most=1_000_000, bytes=1_000_001)),
        (b"text,label\n" + b"a,b\n" * (MOST_EXAMPLES + 1), messages.TOO_MANY_EXAMPLES.format(most=MOST_EXAMPLES)),
    ],
)
def test_a_file_that_cannot_be_used_says_why_and_where(data, message):
    with pytest.raises(TextProblem, match=re.escape(message)):
        read_csv(data)
