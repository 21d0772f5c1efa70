"""A visitor's file of sentences: read in several encodings, refused where it is none, and nothing is left out in silence."""

import io

import pytest

from tx_core.corpus import sentence_file
from tx_core.corpus.sentence_file import MAX_LINES_NAMED, Sentences, describe_left_out, read_sentences
from tx_core.errors import TextProblem

MAX_BYTES = sentence_file.MAX_FILE_BYTES
NATURAL = "Grüße aus Köln, é à ñ.\nNiño quoted it twice.\n"


def read(data: str | bytes, name: str = "mine.txt", column: str = "") -> Sentences:
    return read_sentences(io.BytesIO(data.encode() if isinstance(data, str) else data), name, column)


def reasons(found: Sentences) -> dict[str, tuple[int, tuple[int, ...]]]:
    return {one.why: (one.count, one.lines) for one in found.left_out}


def test_each_line_is_a_sentence_with_its_number_and_without_the_space_around_it():
    found = read("One.\r\n\r\n  Two.  \rThree.")
    assert found.texts == ("One.", "Two.", "Three.")
    assert found.lines == (1, 3, 4)
    assert reasons(found) == {"empty": (1, (2,))}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_the_encoding_is_found_out(encoding: str):
    assert read(NATURAL.encode(encoding)).texts == tuple(NATURAL.splitlines())


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\x01\x02\x03\x04 a few letters",
        "Two bytes a letter, and no mark.\n".encode("utf-16-le"),
    ],
)
def test_what_is_no_text_is_refused_and_the_reader_is_told_what_to_do(data: bytes):
    with pytest.raises(TextProblem, match="not text that can be read. Save it as plain text in UTF-8"):
        read(data)


@pytest.mark.parametrize("data", [b"\n\n \r\n", b"\xef\xbb\xbf"])
def test_a_file_without_a_sentence_is_refused(data: bytes):
    with pytest.raises(TextProblem, match="empty|no sentence"):
        read(data)


class Endless(io.RawIOBase):
    size, taken = 1_000_000_000, 0

    def read(self, size: int = -1) -> bytes:
        part = b"a" * (self.size - self.taken if size < 0 else min(size, self.size - self.taken))
        self.taken += len(part)
        return part


def test_a_file_on_disk_is_read_by_the_name_it_was_opened_under(tmp_path):
    (tmp_path / "mine.csv").write_text("text,sentence\nignored,It flies.\n")
    with (tmp_path / "mine.csv").open("rb") as file:
        found = read_sentences(file)
    assert (found.texts, found.source) == (("It flies.",), "mine.csv")


def test_of_a_gigabyte_no_more_is_read_than_may_be_used():
    file = Endless()
    with pytest.raises(TextProblem, match=f"more than {MAX_BYTES:,} bytes"):
        read_sentences(file, "huge.txt")
    assert file.taken == MAX_BYTES + 1


def test_one_line_of_a_megabyte_is_left_out_by_its_number_and_the_others_stay():
    found = read("Short.\n" + "word " * 200_000 + "\nAnother.\n")
    assert found.texts == ("Short.", "Another.")
    why = sentence_file.LINE_TOO_LONG.format(most=sentence_file.MAX_TEXT_CHARACTERS)
    assert reasons(found) == {why: (1, (2,))}
    line = sentence_file.LEFT_OUT_LINE.format(why=why, lines="2")
    assert describe_left_out(found.left_out) == sentence_file.LEFT_OUT.format(reasons=line)


def test_too_many_sentences_are_refused_and_as_many_as_allowed_are_read():
    assert len(read("a\n" * 20_000)) == 20_000
    with pytest.raises(TextProblem, match="more than 20,000 sentences"):
        read("a\n" * 20_001)


def test_of_many_lines_left_out_all_are_counted_and_the_first_are_named():
    found = read("a\n" + "\n" * 100_000 + "b\n")
    (empty,) = found.left_out
    assert (empty.count, len(empty.lines)) == (100_000, MAX_LINES_NAMED)
    assert describe_left_out(found.left_out).endswith(f"101 and {100_000 - MAX_LINES_NAMED:,} more).")


TABLE = 'id,sentence,label\n1,"He said ""no"", twice.",a\n\n2,,b\n3,Too,many,cells\n4,"Over\ntwo lines.",c\n'


def test_a_column_of_a_csv_is_read_and_its_rows_are_counted_by_lines():
    found = read(TABLE, "mine.csv")
    assert found.columns == ("id", "sentence", "label")
    assert found.column == "sentence"
    assert found.texts == ('He said "no", twice.', "Over\ntwo lines.")
    assert found.lines == (2, 7)
    assert reasons(found) == {sentence_file.EMPTY: (2, (3, 4)), sentence_file.WRONG_COLUMNS.format(columns=3): (1, (5,))}


@pytest.mark.parametrize(
    ("data", "name", "column", "sentences"),
    [
        (TABLE, "mine.CSV", "label", ("a", "b", "c")),
        ("what;when\nOne, two.;now\n", "mine.csv", "", ("One, two.",)),
        ("\n\nsentence\nWell, I go home.\nYou stay, too.\n", "mine.csv", "", ("Well, I go home.", "You stay, too.")),
        ("a,a,\none,two,three\n", "mine.csv", "column 3", ("three",)),
    ],
)
def test_the_column_that_is_asked_for_is_read_else_one_of_a_usual_name_else_the_first(data, name, column, sentences):
    assert read(data, name, column).texts == sentences


@pytest.mark.parametrize("data", ['text\n"open', "text\n" + "a" * 1_000_000])
def test_a_csv_that_breaks_off_or_holds_a_cell_of_a_megabyte_names_the_line(data: str):
    with pytest.raises(TextProblem, match="Line 2 of the file is no CSV"):
        read(data, "mine.csv")
