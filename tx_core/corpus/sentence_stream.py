"""Sentences of files of any size, in parts: lines of UTF-8 text, plain or gzipped, or a column of Parquet.

Memory holds one part, however many lines the files have. Lines and rows are counted from 1 through all files in their order.
"""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow
from pyarrow import parquet

from tx_core.corpus.sentence_file import COLUMN_NAMES, LINE_TOO_LONG, Notes, Sentences, SourceFile, why_unfit
from tx_core.engine.tokenizer import MAX_TEXT_CHARACTERS
from tx_core.errors import TextProblem

TEXT, TEXT_GZIP, PARQUET = ".txt", ".txt.gz", ".parquet"
BATCH_ROWS, BYTES_AT_ONCE = 1024, 1 << 20
MAX_COLUMNS_NAMED = 20

NO_FILE = "{file}: there is no such file."
UNKNOWN_KIND = "{file}: only {kinds} can be read."
NOT_UTF8 = "it is not UTF-8 text"
WHICH_COLUMN = "{file}: name the column of the sentences by --column; its columns of text: {columns}."
_READ_ERRORS = (OSError, EOFError, UnicodeDecodeError, zlib.error, pyarrow.ArrowException)


def source_files(paths: Sequence[Path]) -> list[Path]:
    """List the files at these paths, each folder replaced by its readable files in order of name.

    Raises TextProblem if a path does not exist, or names nothing that can be read.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.is_file() and _kind(file))
            if not inside:
                raise TextProblem(f"{path}: there is no file in it that ends in {_kinds()}.")
            found += inside
        elif not path.is_file():
            raise TextProblem(NO_FILE.format(file=path))
        elif not _kind(path):
            raise TextProblem(UNKNOWN_KIND.format(file=path, kinds=_kinds()))
        else:
            found.append(path)
    return found


def describe_files(files: Sequence[Path]) -> list[SourceFile]:
    """Describe files as they are now."""
    stats = [(file.name.encode(errors="replace").decode(), file.stat()) for file in files]
    return [SourceFile(name, about.st_size, about.st_mtime_ns) for name, about in stats]


def check_column(files: Sequence[Path], column: str) -> None:
    """Raise TextProblem if a Parquet file lacks the column, or if none is named and the choice is ambiguous."""
    tables = [file for file in files if _kind(file) == PARQUET]
    if column and not tables:
        raise TextProblem("--column names a column of Parquet, and no file is one.")
    for file in tables:
        try:
            with parquet.ParquetFile(file) as table:
                _column(file, table.schema_arrow, column)
        except _READ_ERRORS as broken:
            raise _unreadable(file, 0, broken) from broken


def parts(files: Sequence[Path], column: str, size: int, skip: int = 0) -> Iterator[Sentences]:
    """Yield the sentences of the files in parts of `size`, without the first `skip` parts.

    Raises TextProblem if a file cannot be read to its end; names the line.
    """
    texts, lines, notes = [], [], Notes()
    for line, text in _numbered(files, column):
        why = LINE_TOO_LONG.format(most=MAX_TEXT_CHARACTERS) if text is None else why_unfit(text.strip())
        if why:
            notes.note(why, line)
            continue
        if len(texts) == size:
            if not skip:
                yield Sentences("", tuple(texts), tuple(lines), notes.all())
            texts, lines, notes, skip = [], [], Notes(), max(0, skip - 1)
        texts.append(text.strip())
        lines.append(line)
    if (texts or notes.all()) and not skip:
        yield Sentences("", tuple(texts), tuple(lines), notes.all())


def _numbered(files: Sequence[Path], column: str) -> Iterator[tuple[int, str | None]]:
    """Yield the number and text of each line or row; None for a line longer than the limit of a text."""
    line = 0
    for file in files:
        before = line
        try:
            for text in _rows(file, column) if _kind(file) == PARQUET else _lines(file):
                line += 1
                yield line, text
        except _READ_ERRORS as broken:
            raise _unreadable(file, line - before, broken) from broken


def _unreadable(file: Path, line: int, broken: Exception) -> TextProblem:
    """Return the problem of a file that cannot be read. line: the last line that was read."""
    why = NOT_UTF8 if isinstance(broken, UnicodeDecodeError) else str(broken).partition("\n")[0].rstrip(".")
    return TextProblem(f"{file}: cannot be read after line {line:,}: {why}.")


def _lines(file: Path) -> Iterator[str | None]:
    most = 2 * MAX_TEXT_CHARACTERS  # twice: the space around a sentence does not count
    open_text = gzip.open if _kind(file) == TEXT_GZIP else open
    with open_text(file, "rt", encoding="utf-8-sig", newline=None) as text:
        while line := text.readline(most):
            long = len(line) == most and not line.endswith("\n")
            while long and (rest := text.readline(most)) and not rest.endswith("\n"):
                pass
            yield None if long else line


def _rows(file: Path, column: str) -> Iterator[str]:
    with parquet.ParquetFile(file, buffer_size=BYTES_AT_ONCE) as table:
        name = _column(file, table.schema_arrow, column)
        for rows in table.iter_batches(BATCH_ROWS, columns=[name]):
            yield from (cell or "" for cell in rows.column(0).to_pylist())


def _column(file: Path, schema: pyarrow.Schema, wanted: str) -> str:
    """Return the column to read: the requested one, else one with a usual name, else the only text column."""
    kinds = [(one.name, one.type.value_type if pyarrow.types.is_dictionary(one.type) else one.type) for one in schema]
    names = [name for name, kind in kinds if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)]
    usual = [name for usual in COLUMN_NAMES for name in names if name.casefold() == usual]
    if wanted not in names if wanted else not usual and len(names) != 1:
        raise TextProblem(WHICH_COLUMN.format(file=file, columns=", ".join(names[:MAX_COLUMNS_NAMED]) or "none"))
    return wanted or (usual or names)[0]


def _kind(file: Path) -> str:
    """Return the ending of a readable file's name, "" for any other file."""
    return next((kind for kind in (TEXT, TEXT_GZIP, PARQUET) if file.name.casefold().endswith(kind)), "")


def _kinds() -> str:
    return f"{TEXT}, {TEXT_GZIP} and {PARQUET}"
