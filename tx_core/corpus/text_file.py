"""A file that somebody brought along, as text: its encoding found out, its rows counted, what is no text refused."""

import csv
import io
import re
from collections.abc import Iterator

from tx_core.errors import TextProblem

CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
"""What no text holds: all control characters but tab, form feed and the ends of lines."""
MAX_CONTROL_SHARE = 0.01
"""The share of control characters beyond which a file is taken for something else than text."""
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
NO_TEXT = "not text that can be read. Save it as plain text in UTF-8"

NO_DELIMITER = "\x1f"  # the unit separator, which no text holds: control characters are refused before


def decode(data: bytes) -> str:
    """Read UTF-8, UTF-16 with its mark, or Windows-1252, of which printed Latin-1 is a part.

    Raises TextProblem for anything else: pictures, archives, documents of an office program.
    """
    for encoding in ("utf-16",) if data[:2] in UTF16_MARKS else ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text and len(CONTROL.findall(text)) <= MAX_CONTROL_SHARE * len(text):
            return text
        break
    raise TextProblem(f"This file is {NO_TEXT}.")


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Give every line, counted from 1 as editors count them."""
    yield from enumerate((line.rstrip("\n") for line in io.StringIO(text, newline=None)), 1)


def csv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Give every row, empty ones too, with the number of the line that it ends in.

    Commas, semicolons or tabs stand between the columns: whichever the first line has most of. Where it has none of
    them the table has one column, and a comma in it is a comma.
    Raises TextProblem that names the line where the file is no CSV.
    """
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as broken:
        raise TextProblem(f"Line {rows.line_num} of the file is no CSV: {broken}. Is a quotation mark open?") from broken


def _delimiter(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max("\t;,", key=first.count) if any(sign in first for sign in ",;\t") else NO_DELIMITER
