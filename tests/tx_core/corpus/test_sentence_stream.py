"""Files of any size: the sentences that the page would read, in parts, in bounded memory; one line for what cannot be read."""

import gzip
import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tx_core.corpus import sentence_stream
from tx_core.corpus.sentence_file import EMPTY, Sentences, read_sentences
from tx_core.corpus.sentence_stream import check_column, describe_files, parts, source_files
from tx_core.errors import TextProblem

LINES = "One.\r\n\r\n  Two, and “more”.  \rThree.\nBell \x07.\n" + "word " * 9000 + "\nLast."


def table(file: Path, **columns: list) -> Path:
    parquet.write_table(pyarrow.table(columns), file)
    return file


def all_of(files: list[Path], column: str = "", size: int = 1000, skip: int = 0) -> Sentences:
    found = list(parts(files, column, size, skip))
    texts, lines = (tuple(value for one in found for value in getattr(one, name)) for name in ("texts", "lines"))
    return Sentences("", texts, lines, tuple(one for each in found for one in each.left_out))


@pytest.mark.parametrize("name", ["a.TXT", "a.txt.gz"])
def test_lines_of_text_are_read_as_on_the_page(tmp_path: Path, name: str):
    data = LINES.encode("utf-8-sig")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    expected, found = read_sentences(io.BytesIO(data), "a.txt"), all_of([tmp_path / name])
    assert (found.texts, found.lines) == (expected.texts, expected.lines)
    assert sorted(found.left_out, key=str) == sorted(expected.left_out, key=str)


def test_rows_of_parquet_are_counted_and_empty_ones_left_out(tmp_path: Path):
    file = table(tmp_path / "a.parquet", id=[1, 2, 3], Sentence=["One.", None, "Two\nlines."], note=["x", "y", "z"])
    found = all_of([file])
    assert (found.texts, found.lines) == (("One.", "Two\nlines."), (1, 3))
    assert [(one.why, one.count, one.lines) for one in found.left_out] == [(EMPTY, 1, (2,))]
    assert all_of([file], "note").texts == ("x", "y", "z")


def test_lines_are_counted_through_all_files_and_a_folder_stands_for_its_files(tmp_path: Path):
    (tmp_path / "b.txt").write_text("Three.\n\n")
    (tmp_path / "a.txt").write_text("One.\nTwo.")
    (tmp_path / "notes.md").write_text("none")
    table(tmp_path / "c.parquet", text=["Four."])
    files = source_files([tmp_path])
    assert [file.name for file in files] == ["a.txt", "b.txt", "c.parquet"]
    found = all_of(files)
    assert (found.texts, found.lines) == (("One.", "Two.", "Three.", "Four."), (1, 2, 3, 5))
    assert [one.size for one in describe_files(files)[:2]] == [9, 8]


def test_memory_does_not_grow_with_the_file(tmp_path: Path):
    file, peaks = tmp_path / "a.parquet", []
    for count in (10_000, 40_000):
        texts = [f"The man number {number} stood in front of the house." for number in range(count)]
        parquet.write_table(pyarrow.table({"text": texts}), file, row_group_size=5000)
        tracemalloc.start()
        for _ in parts([file], "", 500):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 50_000


def damaged_gzip(folder: Path) -> list[Path]:
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"One.\n" * 5000)[:-20])
    return [folder / "a.txt.gz"]


def latin(folder: Path) -> list[Path]:
    (folder / "a.txt").write_bytes("Grüße.\n".encode("latin-1"))
    return [folder / "a.txt"]


def damaged_parquet(folder: Path) -> list[Path]:
    file = table(folder / "a.parquet", text=[f"{number} is a number" for number in range(5000)])
    data = bytearray(file.read_bytes())
    data[200:2000] = bytes(1800)
    file.write_bytes(data)
    return [file]


@pytest.mark.parametrize("make", [damaged_gzip, latin, damaged_parquet])
def test_a_file_that_cannot_be_read_says_so_in_one_line(tmp_path: Path, make: Callable[[Path], list[Path]]):
    files = make(tmp_path)
    with pytest.raises(TextProblem, match="cannot be read after line") as told:
        check_column(files, "") or all_of(files)
    assert files[0].name in str(told.value)
    assert "\n" not in str(told.value)


def test_what_is_no_file_of_sentences_is_named(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.csv").write_text("text\nOne.\n")
    for path, template in (("none.txt", sentence_stream.NO_FILE), ("a.csv", sentence_stream.UNKNOWN_KIND)):
        with pytest.raises(TextProblem) as told:
            source_files([tmp_path / path])
        assert str(told.value).startswith(template.partition("{kinds}")[0].format(file=tmp_path / path))
    with pytest.raises(TextProblem, match="empty: there is no file in it"):
        source_files([tmp_path / "empty"])
    with pytest.raises(TextProblem, match="--column names"):
        check_column([tmp_path / "a.txt"], "text")
