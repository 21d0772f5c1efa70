"""Labelled texts: the set of our own, a visitor's CSV, and every way in which one can be wrong."""

import sys

import pytest

from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.training.classifier_data import imdb, main, opinions, read_csv, split, to_csv

ROWS = [("a fine film, really", "good"), ("a sad “film”", "bad")] * 12


def csv_of(rows=ROWS, header="text,label", separator=",") -> str:
    return "\r\n".join([header, *(f'"{text}"{separator}{label}' for text, label in rows)])


def test_the_opinions_are_balanced_distinct_and_never_both_learned_and_tested():
    data = opinions()
    assert (len(data.train_texts), len(data.test_texts)) == (1920, 480)
    assert sum(data.train_labels) == 960
    assert sum(data.test_labels) == 240
    assert len({*data.train_texts, *data.test_texts}) == 2400


def test_the_same_seed_makes_the_same_opinions():
    assert opinions(200, seed=3) == opinions(200, seed=3)
    assert opinions(200, seed=3) != opinions(200, seed=4)


def test_a_quarter_of_the_test_has_frames_that_training_never_shows():
    data = opinions(1000)
    new = [text for text in data.test_texts if text.startswith(("nothing about", "never ")) or " and " in text]
    assert len([text for text in data.test_texts if text.startswith("nothing about")]) > 5
    assert len(new) >= 50
    assert not [text for text in data.train_texts if text.startswith(("nothing about", "never "))]


def test_a_fifth_of_each_label_is_held_back_and_nothing_is_lost():
    texts = [f"text {number}" for number in range(40)]
    labels = ["a"] * 25 + ["b"] * 13 + ["c"] * 2
    data = split("mine", texts, labels)
    assert data.names == ("a", "b", "c")
    assert sorted(data.train_texts + data.test_texts) == sorted(texts)
    assert [data.test_labels.count(label) for label in range(3)] == [5, 2, 1]
    for text, label in zip(data.train_texts + data.test_texts, data.train_labels + data.test_labels, strict=True):
        assert labels[int(text.split()[1])] == data.names[label]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b"] * 5, "At least 20 examples"),
        (["a"] * 30, "Between 2 and 10 different labels are needed, there are 1"),
        ([str(n) for n in range(11)] * 2, "there are 11"),
        (["a"] * 30 + ["lonely"], "“lonely” has one"),
    ],
)
def test_too_little_to_learn_from_is_refused(labels, message):
    with pytest.raises(TextProblem, match=message):
        split("mine", [f"text {n}" for n in range(len(labels))], labels)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_is_read_in_every_usual_encoding_and_with_every_usual_separator(encoding, separator):
    data = read_csv(csv_of(header=f"Text{separator}LABEL", separator=separator).encode(encoding), "opinions.csv")
    assert data.names == ("bad", "good")
    assert "a sad “film”" in data.train_texts
    assert len(data.train_texts) + len(data.test_texts) == 24
    assert data.source == "opinions.csv"


def test_columns_may_stand_in_any_order_and_others_beside_them():
    rows = "id,label,text\n" + "\n".join(f"{n},{label},{text.split(',')[0]}" for n, (text, label) in enumerate(ROWS))
    assert read_csv(rows.encode()).names == ("bad", "good")


def test_empty_lines_are_no_examples_and_line_breaks_within_quotes_are_text():
    data = read_csv((csv_of([("one\ntwo", "x"), ("three", "y")] * 10) + "\n\n,\n").encode())
    assert "one\ntwo" in data.train_texts
    assert len(data.train_texts) + len(data.test_texts) == 20


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "begins with: nothing"),
        (b"review,stars\ngood,5", "begins with: review, stars"),
        (b"text,text,label\na,b,c", "begins with: text, text, label"),
        (b'text,label\nfine,good\n"open,bad', "is no CSV"),
        (csv_of([("", "good")]).encode(), "The text in line 2 must have 1 to 5,000 characters, it has 0"),
        (csv_of([*ROWS, ("x" * 5001, "good")]).encode(), "line 26 must have 1 to 5,000 characters, it has 5,001"),
        (csv_of([("fine", "")]).encode(), "The label in line 2"),
        (csv_of([("fine", "l" * 41)]).encode(), "1 to 40 characters, it has 41"),
        (b"text,label\na,b,c", "Line 2 of the file has 3 columns, the first line has 2"),
        (csv_of().encode().replace(b"fine", b"fi\0ne"), "not text that can be read"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "not text that can be read"),
        (b"PK\x03\x04\x8d\x81", "not text that can be read"),
        (b"x" * 1_000_001, "may have 1,000,000 bytes, this one has 1,000,001"),
        (csv_of([("a", "b")] * 5).encode(), "At least 20 examples"),
        (b"text,label\n" + b"a,b\n" * 20_001, "20,000 examples"),
    ],
)
def test_a_file_that_cannot_be_used_says_why_and_where(data, message):
    with pytest.raises(TextProblem, match=message):
        read_csv(data)


def test_what_is_written_as_csv_is_read_again():
    data = opinions(100)
    again = read_csv(to_csv(data).encode())
    assert sorted(again.train_texts + again.test_texts) == sorted(data.train_texts + data.test_texts)


def test_the_command_writes_the_set_down(tmp_path):
    main([str(tmp_path / "opinions.csv"), "--examples", "50"])
    assert (tmp_path / "opinions.csv").read_text(encoding="utf-8").count("\n") == 51


def test_imdb_without_its_library_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ModelUnavailable, match="pip install datasets"):
        imdb()
