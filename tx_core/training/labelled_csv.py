"""A visitor's own data: a CSV with the columns text and label, bounded and checked line by line."""

from tx_core.corpus.text_file import NO_TEXT, csv_rows, decode
from tx_core.errors import TextProblem
from tx_core.training.classifier_data import LabelledTexts, split

MAX_CSV_BYTES = 1_000_000
MAX_CSV_ROWS = 20_000
MAX_EXAMPLE_CHARACTERS = 5_000
MAX_LABEL_CHARACTERS = 40
RULE = "The file must be a CSV with a first line that names the columns text and label"


def read_csv(data: bytes, name: str = "your file") -> LabelledTexts:
    """Read texts and labels, and hold a fifth of them back for the test.

    Commas, semicolons or tabs between the columns; UTF-8, UTF-16 with its mark, or Windows-1252.
    Raises TextProblem that names the line and the rule.
    """
    if len(data) > MAX_CSV_BYTES:
        raise TextProblem(f"The file may have {MAX_CSV_BYTES:,} bytes, this one has {len(data):,}: use fewer examples.")
    texts, labels = [], []
    rows = csv_rows(_decode(data))
    header = [column.strip().casefold() for column in next(rows, (0, []))[1]]
    if header.count("text") != 1 or header.count("label") != 1:
        raise TextProblem(f"{RULE}; this one begins with: {', '.join(header)[:80] or 'nothing'}.")
    at_text, at_label = header.index("text"), header.index("label")
    for line, row in rows:
        if not any(cell.strip() for cell in row):
            continue
        example, label = _check_row(row, len(header), at_text, at_label, line)
        texts.append(example)
        labels.append(label)
        if len(texts) > MAX_CSV_ROWS:
            raise TextProblem(f"The file may have {MAX_CSV_ROWS:,} examples; this one has more.")
    return split(name, texts, labels)


def _decode(data: bytes) -> str:
    try:
        return decode(data)
    except TextProblem as unreadable:
        raise TextProblem(f"{RULE}; this one is {NO_TEXT}.") from unreadable


def _check_row(row: list[str], columns: int, at_text: int, at_label: int, line: int) -> tuple[str, str]:
    if len(row) != columns:
        raise TextProblem(
            f"Line {line} of the file has {len(row)} columns, the first line has {columns}. "
            "Put quotation marks around texts that hold a separator."
        )
    text, label = row[at_text].strip(), row[at_label].strip()
    if not text or len(text) > MAX_EXAMPLE_CHARACTERS:
        raise TextProblem(f"The text in line {line} must have 1 to {MAX_EXAMPLE_CHARACTERS:,} characters, it has {len(text):,}.")
    if not label or len(label) > MAX_LABEL_CHARACTERS:
        raise TextProblem(f"The label in line {line} must have 1 to {MAX_LABEL_CHARACTERS} characters, it has {len(label):,}.")
    return text, label
