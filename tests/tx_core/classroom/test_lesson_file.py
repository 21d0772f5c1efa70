"""A lesson file is read whole or refused, with the line of what is wrong; it may come from anybody."""

import base64
import json
import random
import re
import zlib
from pathlib import Path

import pytest
import yaml

from tests.support.serving import ROOT
from tx_core.classroom import lesson_file
from tx_core.classroom.lesson_file import (
    MAX_LESSON_BYTES,
    MAX_PACKED_CHARACTERS,
    PACKED_MARK,
    WRONG_FIELD,
    pack_lesson,
    read_lesson,
    unpack_lesson,
    with_line,
    write_lesson,
)
from tx_core.classroom.questions import Question
from tx_core.errors import ChangeProblem, ExplorerError, LessonProblem, ModelUnavailable, TextProblem

SMALL = """\
title: One step
language: en
level: beginner
minutes: 5
about: What a lesson needs.
steps:
  - title: Look
    page: attention
    view: {text: A bird sings., heads: 1-2}
    text: Look at the map.
    question:
      ask: Which word?
      kind: token
      answer: {measure: strongest_key, text: A bird sings., head: 1-2, query: sings}
"""


def problem(written: str | bytes) -> str:
    with pytest.raises(LessonProblem) as raised:
        read_lesson(written.encode() if isinstance(written, str) else written)
    return str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "line", "field"),
    [
        ("minutes: 5", "minutes: soon", 4, "minutes"),
        ("level: beginner", "level: hard", 3, "level"),
        ("title: One step", "title: ~", 1, "title"),
        ("    text: Look at the map.", "    text: null", 10, "steps › 1 › text"),
        ("    page: attention", "    page: ../../etc", 8, "steps › 1 › page"),
        ("    text: Look at the map.", "    txt: Look.", 10, "steps › 1 › txt"),
        ("measure: strongest_key", "measure: os.system", 14, "steps › 1 › question › answer › measure"),
        ("head: 1-2, query", "query", 14, "steps › 1 › question › answer"),
        ("kind: token", "kind: number", 12, "steps › 1 › question"),
        ("    text: Look at the map.", "    text: Look at the map.\n    done: read", 11, "steps › 1 › done"),
        (SMALL[SMALL.index("      answer:") :], "", 12, "steps › 1 › question"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old: str, new: str, line: int, field: str):
    assert old in SMALL
    said = problem(SMALL.replace(old, new)).splitlines()
    assert any(one.startswith(f"Line {line}, {field}: ") for one in said), said
    assert not any(one.startswith("Line 7, steps: ") for one in said), said


@pytest.mark.parametrize(
    ("problem", "line", "field"),
    [
        (LessonProblem("No such token.", "query"), 18, "question › answer › query"),
        (LessonProblem("These cannot be read.", "changes"), 15, "question › answer › changes"),  # left out: at what lacks them
        (TextProblem("No blank."), 16, "question › answer › text"),
        (ChangeProblem("No such layer."), 15, "question › answer › changes"),
        (ModelUnavailable("No such model."), 9, "view › model"),
    ],
)
def test_what_only_the_model_can_tell_is_named_with_its_line(problem: ExplorerError, line: int, field: str):
    answer = "answer:\n        measure: strongest_key\n        text: A bird sings.\n        head: 1-2\n        query: sings\n"
    written = SMALL.replace("answer: {measure: strongest_key, text: A bird sings., head: 1-2, query: sings}\n", answer)
    said = with_line(problem, written, 1)
    assert isinstance(said, LessonProblem)
    assert str(said) == WRONG_FIELD.format(line=line, field=f"steps › 1 › {field}", problem=str(problem).rstrip("."))


def test_a_value_that_does_not_exist_is_named_with_its_line_and_no_value_is_more_than_a_text():
    for value in ("2024-13-45", "9" * 5000, '"\\ud800"', '!!python/object/apply:os.system ["true"]'):
        assert problem(SMALL.replace("minutes: 5", f"minutes: {value}")).startswith("Line 4, minutes: ")
    character = problem(SMALL.replace("minutes: 5", 'minutes: "\\UFFFFFFFF"'))
    assert character == lesson_file.NO_SUCH_CHARACTER.format(line=4)
    twice = SMALL.replace("heads: 1-2}", "heads: 1-2, text: B}")
    assert problem(twice) == lesson_file.TWICE.format(line=9, name="text")
    assert problem(f"~: x\n{SMALL}") == lesson_file.NO_NAME.format(line=1, name="~")
    date = read_lesson(SMALL.replace("    text: Look at the map.", "    text: 2024-01-05\n    notes:\n    then: null").encode())
    assert (date.steps[0].text, date.steps[0].notes, date.steps[0].then) == ("2024-01-05", None, None)
    word = read_lesson(SMALL.replace("title: One step", 'title: "null"').replace("title: Look", "title: nullify").encode())
    assert (word.title, word.steps[0].title) == ("null", "nullify")


def test_a_lesson_that_fills_all_its_bounds_is_read():
    names = [f"{first}{second}" for first in "abcde" for second in "abcdef"]
    answer = {"measure": "strongest_key", "text": "x", "head": "1-1", "query": "x", "key": "x", "word": "x", "changes": "x"}
    question = {"ask": "x", "kind": "choice", "options": list("abcdefgh"), "tolerance": 0.5, "answer": answer}
    step = {"title": "x", "page": "x", "view": dict.fromkeys(names, "x"), "controls": names, "text": "x", "then": "x"}
    step |= {"notes": "x", "question": question}
    written = yaml.safe_load(SMALL) | {"steps": [step] * lesson_file.MAX_STEPS}
    file = json.dumps(written, separators=(", ", ": ")).encode()
    assert len(read_lesson(file).steps) == lesson_file.MAX_STEPS


@pytest.mark.ci
@pytest.mark.parametrize("path", sorted((ROOT / "assets" / "lessons").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_damaged_file_is_read_and_can_be_written_or_is_refused_with_a_line_of_it(path: Path):
    text, refused = path.read_text("utf-8"), 0
    for seed in range(16):
        chance = random.Random(seed)
        start, end = sorted(chance.randrange(len(text)) for _ in "ab")
        damage = (text[:start] + chance.choice('\0\\"{[&*:\t\u2028\ud800') + text[start:], text[:start] + text[end:], text[:end])
        lesson, told, written = None, "", chance.choice(damage)
        try:
            lesson = read_lesson(written.encode("utf-8", "surrogatepass"))
        except LessonProblem as problem:
            told = str(problem)
        assert bool(told.encode()) == (lesson is None)
        assert lesson is None or read_lesson(write_lesson(lesson).encode()) == lesson
        lines = re.findall(r"^Line (\d+)", told, re.M)
        assert lesson or lines or told == lesson_file.NOT_TEXT
        assert all(1 <= int(line) <= len(re.split("[\n\u2028]", written)) for line in lines)
        refused += lesson is None
    assert refused > 3


def test_a_choice_needs_options_and_nothing_else_has_them():
    assert Question(ask="Why?", kind="open").answer is None
    for wrong in ({"kind": "choice"}, {"kind": "choice", "options": ["a"]}, {"kind": "word", "options": ["a", "b"]}):
        with pytest.raises(ValueError, match="two to eight options"):
            Question(ask="Which?", **wrong)
    assert Question(ask="Which?", kind="choice", options=["a", "b"]).answer is None


def test_a_lesson_that_is_too_long_for_an_address_is_a_file():
    long = read_lesson(SMALL.encode()).model_copy(update={"notes": "".join(chr(161 + i * i * i % 7919) for i in range(3000))})
    with pytest.raises(LessonProblem) as raised:
        pack_lesson(long)
    assert str(raised.value).endswith(lesson_file.TOO_LONG_TO_PACK.rpartition("}")[2])


def packed(data: bytes) -> str:
    return PACKED_MARK + base64.urlsafe_b64encode(data).decode().rstrip("=")


def test_a_lesson_in_an_address_is_read_whole_or_refused():
    lesson = read_lesson(SMALL.encode())
    whole = pack_lesson(lesson)
    assert unpack_lesson(whole) == lesson and len(whole) < len(SMALL)
    for wrong in ("", PACKED_MARK, f"{PACKED_MARK}ä", packed(b"not compressed"), whole[:-9], whole + "A" * MAX_PACKED_CHARACTERS):
        with pytest.raises(LessonProblem) as raised:
            unpack_lesson(wrong)
        assert str(raised.value) == lesson_file.NOT_PACKED


def test_what_would_fill_memory_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lesson_file.yaml, "load", None)
    size = MAX_LESSON_BYTES + 1
    assert problem(b"x" * size) == lesson_file.TOO_LARGE.format(size=size, limit=MAX_LESSON_BYTES)
    assert problem("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n") == lesson_file.NO_ALIASES.format(line=2)
    assert problem("[" * 40_000) == lesson_file.TOO_DEEP.format(line=1, limit=lesson_file.MAX_DEPTH)
    for bomb, said in (
        (b"steps: [" + b"x," * 12_000 + b"]", lesson_file.TOO_MANY.format(line=1, limit=lesson_file.MAX_ENTRIES)),
        (b"#" * 2_500_000, lesson_file.TOO_LARGE.format(size=size, limit=MAX_LESSON_BYTES)),
    ):
        link = packed(zlib.compress(bomb, 9))
        assert len(link) <= MAX_PACKED_CHARACTERS
        with pytest.raises(LessonProblem) as raised:
            unpack_lesson(link)
        assert str(raised.value) == said
