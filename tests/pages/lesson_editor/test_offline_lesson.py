"""A lesson as one HTML file: whole, without a script or a request, its numbers those of the model, every text a text."""

import re
from html import escape
from html.parser import HTMLParser

import pytest

from pages.lesson_editor import offline, texts
from pages.lesson_editor.offline import lesson_web_page, measure_of_view, picture
from pages.ui.panels import lesson
from pages.ui.shell.numbers import percent
from tests.support.hostile import TEXTS
from tx_core import load
from tx_core.classroom.lesson_file import Lesson, Step
from tx_core.classroom.measures import Answer, compute_answer

LOADING = {
    "script",
    "img",
    "link",
    "iframe",
    "object",
    "embed",
    "audio",
    "video",
    "source",
    "base",
    "form",
    "input",
    "image",
    "use",
}


class Reader(HTMLParser):
    """Reads what a file holds: its elements, their attributes and its text."""

    def __init__(self, file: str):
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(file)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("name", lesson.shipped_names())
def test_a_lesson_is_whole_and_loads_nothing(name: str):
    one = lesson.shipped_lesson(name)
    read = Reader(lesson_web_page(one))
    shown = "\n".join(read.words)
    assert all(step.text in shown and step.title in shown for step in one.steps)
    assert all(step.question.ask in shown for step in one.steps if step.question)
    assert LOADING.isdisjoint(read.tags)
    assert {"src", "href", "action"}.isdisjoint(attribute for attribute, _ in read.attributes)
    assert read.tags.count("details") == sum(step.question is not None for step in one.steps)
    assert read.tags.count("svg") >= sum(bool(step.question and step.question.answer) for step in one.steps) / 2
    assert offline.POLICY in dict(read.attributes).values() or escape(offline.POLICY) in lesson_web_page(one)


def test_its_answers_are_the_models():
    step = lesson.shipped_lesson(lesson.LEARNING_PATH).steps[1]
    answer = compute_answer(load("embedded"), step.question.answer)
    file = lesson_web_page(lesson.shipped_lesson(lesson.LEARNING_PATH))
    for name, share in zip(answer.options, answer.shares, strict=True):
        assert f"<title>{escape(name)}: {percent(share)}</title>" in file


def test_a_map_marks_the_right_cell_and_colours_follow_the_numbers():
    options, shares = ("a → a", "a → b", "b → a", "b → b"), (0.0, 0.64, 0.04, 0.32)
    answer = Answer("a → b", 0.64, options, shares, ("a", "b"), ("a", "b"))
    cells = re.findall(r"<rect [^>]*><title>[^<]*</title>", picture(answer))
    assert [re.search("<title>(.*):", cell)[1] for cell in cells] == list(answer.options)
    assert ["#c2410c" in cell for cell in cells] == [False, True, False, False]
    reds = [int(re.search(r"rgb\((\d+)", cell)[1]) for cell in cells]
    assert reds == [round(243 + (8 - 243) * share**0.5) for share in answer.shares]


def test_a_number_alone_has_no_picture():
    assert picture(Answer("7", 7.0)) == ""


def test_a_view_without_a_question_is_pictured_where_it_can_be():
    common = {"title": "Look", "text": "Look."}
    view = {"text": "Mary lost her keys.", "heads": "2-8_1-1"}
    assert measure_of_view(Step(page="attention", view=view, **common)).head == "2-8"
    assert measure_of_view(Step(page="fill_mask", view={"text": "A [MASK]."}, **common)).measure == "top_word"
    assert measure_of_view(Step(page="masks", view=view, **common)) is None


@pytest.mark.parametrize(
    ("page", "view"),
    [
        ("fill_mask", {"text": " "}),
        ("fill_mask", {}),
        ("fill_mask", {"text": "x" * 301}),
        ("attention", {"text": "A bird sings.", "heads": "x"}),
        ("attention", {"text": "A bird sings."}),
        ("attention", {"text": "A bird sings.", "heads": "1-1", "changes": "x" * 301}),
    ],
)
def test_a_view_that_cannot_be_measured_has_a_sentence_instead_of_a_picture(page: str, view: dict[str, str]):
    steps = [{"title": "Look", "page": page, "view": view, "text": "Look."}]
    one = Lesson.model_validate(
        {"title": "One", "language": "en", "level": "beginner", "minutes": 1, "about": "One.", "steps": steps}
    )
    read = Reader(lesson_web_page(one))
    assert texts.NO_PICTURE in read.words
    assert "svg" not in read.tags


@pytest.mark.parametrize("text", [text[:200] for text in TEXTS[:20] if text.strip()])
def test_a_hostile_text_is_text(text: str):
    steps = [{"title": f"T {text}", "page": "attention", "view": {"text": text, "heads": "1-1"}, "text": f"X {text}"}]
    one = Lesson.model_validate(
        {"title": f"L {text}", "language": "en", "level": "beginner", "minutes": 1, "about": f"A {text}", "steps": steps}
    )
    read = Reader(lesson_web_page(one))
    assert LOADING.isdisjoint(read.tags)
    assert not any(attribute.startswith("on") for attribute, _ in read.attributes)
    assert texts.OPEN_ANSWER not in read.words
