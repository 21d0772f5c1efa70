"""A lesson's file may be damaged in any way: it is read or refused soon, and what is wrong in a line is named with that line."""

import random
import re
import time

import pytest

from tests.support.serving import ROOT
from tests.tx_core.classroom.test_lesson_file import SMALL
from tx_core.classroom import lesson_file
from tx_core.classroom.lesson_file import Lesson, read_lesson, write_lesson
from tx_core.errors import LessonProblem

pytestmark = pytest.mark.ci

SHIPPED = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "assets" / "lessons").glob("*.yaml"))}
WHOLE_FILE = (lesson_file.NOT_TEXT, lesson_file.TOO_LARGE.partition("{")[0])
"""How the messages begin that are not about a line."""
PIECES = (
    *"\x00\x07\u2028\ufeff\\\"'{}[]:!|>%#,\t\n\r@`~é😀",
    *[": ", "- ", "? ", "& ", "*a", "\n---\n", "\n...\n", "<<: ", "0x", "1e999", ".nan", "1:60", "2024-02-30", "yes", "=: 1"],
    *('"\\ud800"', '"\\x00"', "9" * 400, " " * 50, "\ud800", "{{", "]]", '? "a"\n'),
)
"""What is put into a file, or in the place of a part of it."""
SECONDS = 10
"""Of a processor, so that other work beside it does not count."""


def read(written: bytes, what: str) -> Lesson | None:
    """Read bytes as a lesson; hold what is said of them, and how long it took."""
    began = time.thread_time()
    try:
        lesson = read_lesson(written)
    except LessonProblem as problem:
        lesson = None
        said = str(problem)
        said.encode()  # it can be sent to a browser
        assert len(said) < 5000, what
        lines = len(re.split("\r\n|[\r\n\x85\u2028\u2029]", written.decode("utf-8-sig", "replace")))
        for message in [] if said.startswith(WHOLE_FILE) else said.split("\n"):
            number = re.match(r"Line (\d+)(?:, |: )", message)
            assert number, (what, message)
            assert 1 <= int(number[1]) <= lines, (what, message)
    assert time.thread_time() - began < SECONDS, what
    if lesson is not None:  # what was read can be written and read again
        assert read_lesson(write_lesson(lesson).encode()) == lesson, what
    return lesson


def damaged(text: str, draw: random.Random) -> str:
    """Damage a file: a piece put in, a part cut out, a line doubled, moved, indented or cut off."""
    lines = text.split("\n")
    line, start = draw.randrange(len(lines)), draw.randrange(len(text))
    kind = draw.randrange(7)
    if kind == 0:
        return text[:start] + draw.choice(PIECES) + text[start:]
    if kind == 1:
        return text[:start] + text[start + draw.randrange(1, 40) :]
    if kind == 2:
        lines.insert(draw.randrange(len(lines)), lines[line])
    elif kind == 3:
        lines.insert(draw.randrange(len(lines)), lines.pop(line))
    elif kind == 4:
        lines[line] = " " * draw.randrange(1, 6) + lines[line]
    elif kind == 5:
        lines[line] = lines[line].partition(":")[0] + ": " + draw.choice(PIECES)
    else:
        lines[line] = lines[line].lstrip()
    return "\n".join(lines)


@pytest.mark.parametrize(("name", "count"), [("small", 500), *((name, 20) for name in SHIPPED)])
def test_a_damaged_file_is_read_or_refused_with_the_lines_of_what_is_wrong(name: str, count: int):
    text = ({"small": SMALL} | SHIPPED)[name]
    assert read(text.encode(), name)
    refused = 0
    for seed in range(count):
        draw = random.Random(f"{name} {seed}")
        written = text
        for _ in range(draw.randrange(1, 4)):
            written = damaged(written, draw) or "x"
        refused += read(written.encode("utf-8", "surrogatepass"), f"{name} {seed}") is None
    assert count / 3 < refused < count
