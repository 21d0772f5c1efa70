"""A lesson as one HTML file: whole, without a script or a request, its numbers those of the model, every text a text."""

import re
import threading
import time
from base64 import b64decode, b64encode
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from unittest.mock import MagicMock

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.runtime import Runtime
from streamlit.runtime.caching.storage.dummy_cache_storage import MemoryCacheStorageManager
from streamlit.runtime.dataframe_source_manager import DataframeSourceManager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.pages_manager import PagesManager

from pages.contents import PAGES
from pages.lesson_editor import offline, texts
from pages.lesson_editor.offline import MAX_PICTURE_BYTES, StoredPicture, lesson_web_page, picture, picture_of, stored_picture
from pages.ui.export.menu import COLLECTOR, POLICY
from pages.ui.export.records import Export, WebPage
from pages.ui.panels import lesson, lesson_question, training
from pages.ui.shell.numbers import weight
from tests.support.drawings import unpacked
from tests.support.hostile import TEXTS
from tx_core import load
from tx_core.classroom.lesson_file import Lesson
from tx_core.classroom.measures import Answer, compute_answer
from tx_core.errors import TextProblem

HOSTILE = "</figcaption><script>alert(1)</script>"
LOADING = {
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


@pytest.fixture(autouse=True)
def views(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """The views that a file asks to be drawn. How they are drawn is held below and, in a server, by the browser."""
    asked = []

    def draw(page: str, view: object) -> StoredPicture:
        asked.append((page, view))
        return StoredPicture(f"{HOSTILE} {len(asked)}", "QUJD")

    monkeypatch.setattr(offline, "stored_picture", draw)
    return asked


@pytest.mark.parametrize("name", lesson.shipped_names())
def test_a_lesson_is_whole_and_loads_nothing(name: str, views):
    one = lesson.shipped_lesson(name)
    file = lesson_web_page(one)
    read = Reader(file)
    shown = "\n".join(read.words)
    assert all(step.text in shown and step.title in shown for step in one.steps)
    assert all(step.question.ask in shown for step in one.steps if step.question)
    assert LOADING.isdisjoint(read.tags)
    assert {"src", "href", "action"}.isdisjoint(attribute for attribute, _ in read.attributes)
    assert read.tags.count("details") == sum(step.question is not None for step in one.steps)
    assert read.tags.count("svg") >= sum(bool(step.question and step.question.answer) for step in one.steps) / 2
    assert views == [(step.page, step.view) for step in one.steps]
    places = [
        file.index(escape(f"{HOSTILE} {number}</figcaption>", quote=False)[:-20]) for number in range(1, len(one.steps) + 1)
    ]
    assert places == sorted(places)
    assert len(file.encode()) < offline.MAX_MEGABYTES * 1e6


def test_the_one_script_of_a_file_is_named_by_its_hash(views):
    file = lesson_web_page(lesson.shipped_lesson(lesson.LEARNING_PATH))
    [script] = re.findall("<script>(.*?)</script>", file, re.DOTALL)
    assert file.count("<script") == 1
    policies = [value for name, value in Reader(file).attributes if name == "content" and "default-src" in value]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert policies == [POLICY.format(digest=f"sha256-{digest}")]


def test_what_has_no_room_and_no_time_is_named_instead(monkeypatch: pytest.MonkeyPatch, views):
    one = lesson.shipped_lesson(lesson.LEARNING_PATH)
    file = lesson_web_page(one)
    kept, drawn = file.count("data-picture="), sum(map(len, re.findall("<svg.*?</svg>", file)))
    monkeypatch.setattr(offline, "MAX_PICTURES_BYTES", drawn + 1700)
    assert 0 < lesson_web_page(one).count('data-picture="') < kept
    views.clear()
    monkeypatch.setattr(offline, "MAX_SECONDS", -1)
    monkeypatch.setattr(offline, "compute", lambda step: pytest.fail("an answer is computed after the time is over"))
    file = lesson_web_page(one)
    assert (file.count('data-picture="'), views) == (0, [])
    assert file.count(texts.NO_PICTURE) == len(one.steps)
    assert file.count(texts.NO_TIME) == sum(bool(step.question and step.question.answer) for step in one.steps)


def test_answers_are_asked_for_before_views_which_may_take_all_of_the_time(monkeypatch: pytest.MonkeyPatch):
    one, seconds = lesson.shipped_lesson(lesson.LEARNING_PATH), [0.0]

    def take_long(page: str, view: object) -> None:
        seconds[0] += offline.MAX_SECONDS

    monkeypatch.setattr(offline, "monotonic", lambda: seconds[0])
    monkeypatch.setattr(offline, "stored_picture", take_long)
    assert texts.NO_TIME not in lesson_web_page(one)
    assert seconds == [offline.MAX_SECONDS]  # of the first view alone


def test_an_answer_that_the_writer_has_seen_is_not_computed_again(monkeypatch: pytest.MonkeyPatch):
    one = lesson.shipped_lesson(lesson.LEARNING_PATH)
    file = lesson_web_page(one)
    monkeypatch.setattr(lesson_question, "compute_answer", lambda *_: pytest.fail("an answer is computed again"))
    again = lesson_web_page(one)
    assert again.count("<svg") == file.count("<svg") > 0


def test_its_answers_are_the_models():
    step = lesson.shipped_lesson(lesson.LEARNING_PATH).steps[1]
    answer = compute_answer(load("embedded"), step.question.answer)
    file = lesson_web_page(lesson.shipped_lesson(lesson.LEARNING_PATH))
    for name, share in zip(answer.options, answer.shares, strict=True):
        assert f"<title>{escape(name)}: {weight(share)}</title>" in file


@pytest.mark.parametrize(
    ("measure", "numbers"), [("strongest_cell", [".64", ".04", ".32"]), ("head_with_largest_effect", ["64", "4", "32"])]
)
def test_a_map_marks_the_right_cell_and_colours_follow_the_numbers(measure: str, numbers: list[str]):
    options, shares = ("a → a", "a → b", "b → a", "b → b"), (0.0, 0.64, 0.04, 0.32)
    answer = Answer("a → b", 0.64, options, shares, ("a", "b"), ("a", "b"))
    cells = re.findall(r"<rect [^>]*><title>[^<]*</title>", picture(answer, measure))
    assert [re.search("<title>(.*):", cell)[1] for cell in cells] == list(answer.options)
    assert re.findall(r">([.\d]+)</text>", picture(answer, measure)) == numbers
    assert ["#c2410c" in cell for cell in cells] == [False, True, False, False]
    reds = [int(re.search(r"rgb\((\d+)", cell)[1]) for cell in cells]
    assert reds == [round(243 + (8 - 243) * share**0.5) for share in answer.shares]


def test_a_number_alone_has_no_picture():
    assert picture(Answer("7", 7.0), "rank_of") == ""


@pytest.mark.parametrize("text", [text[:200] for text in TEXTS[:20] if text.strip()])
def test_a_hostile_text_is_text(text: str):
    steps = [{"title": f"T {text}", "page": "attention", "view": {"text": text, "heads": "1-1"}, "text": f"X {text}"}]
    one = Lesson.model_validate(
        {"title": f"L {text}", "language": "en", "level": "beginner", "minutes": 1, "about": f"A {text}", "steps": steps}
    )
    read = Reader(lesson_web_page(one))
    assert LOADING.isdisjoint(read.tags)
    assert read.tags.count("script") == 1
    assert not any(attribute.startswith("on") for attribute, _ in read.attributes)
    assert texts.OPEN_ANSWER not in read.words


WITHOUT_FIGURE = "bertviz_page"
"""Other people's scripts draw it; the map of the page Attention stands for it."""


@pytest.mark.parametrize("page", [page.key for page in PAGES if page.computes and page.key != WITHOUT_FIGURE])
def test_a_visit_to_a_page_gives_a_small_picture_with_a_text(open_app, page: str):
    found: list[StoredPicture] = []
    app = open_app(page)
    app.session_state[COLLECTOR] = lambda exports: found.extend(filter(None, map(picture_of, exports.values())))
    end = time.monotonic() + 120
    while not found and time.monotonic() < end:  # a page may wait for a library
        app.run()
    assert not app.exception
    packed = b64decode(found[0].data)
    assert 0 < len(packed) <= MAX_PICTURE_BYTES
    assert unpacked(packed)[0]["alt"]
    assert found[0].caption


def test_nothing_is_collected_where_nobody_asks(open_app):
    app = open_app("attention")
    assert COLLECTOR not in app.session_state
    assert any(one.key == "attention_export" for one in app.expander)


def test_the_map_of_the_same_head_stands_for_a_view_of_bertviz(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(offline, "visit", lambda page, view, collect, end: asked.append((page, view)))
    stored_picture("bertviz_page", {"text": "A bird.", "picture": "head", "layer": "3", "head": "5", "heads": "0_1"})
    assert asked == [("attention", {"text": "A bird.", "heads": "3-5"})]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a script needs of a server, as Streamlit's own tests of apps have it."""
    runtime, drawings = MagicMock(spec=Runtime), BidiComponentManager()
    drawings.discover_and_register_components(start_file_watching=False)
    runtime.media_file_mgr = MediaFileManager(MemoryMediaFileStorage("/media"))
    runtime.dataframe_source_mgr = DataframeSourceManager()
    runtime.cache_storage_manager = MemoryCacheStorageManager()
    runtime.bidi_component_registry = drawings
    monkeypatch.setattr(Runtime, "_instance", runtime)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)


@pytest.mark.parametrize("seconds", [60, 0])
def test_a_visit_leaves_nothing_behind(server, seconds: float):
    before, seen, threads = dict(training._sessions), [], set(threading.enumerate())
    offline.visit("encoder_decoder", {}, seen.append, time.monotonic() + seconds)
    assert bool(seen) == bool(seconds)
    for thread in set(threading.enumerate()) - threads:  # that of a visit that was stopped
        thread.join(60)
    assert training._sessions.items() <= before.items()  # a visit may drop sessions that are over


def export(figure) -> Export:
    return Export("Title", "Caption", "stem", figure, WebPage("", (), "", bytes), (), None, {})


@pytest.mark.parametrize("size", [0, MAX_PICTURE_BYTES + 1])
def test_no_figure_and_one_that_is_too_large_give_no_picture(size: int):
    assert picture_of(lambda: export(None)) is None
    assert picture_of(lambda: export(lambda: bytes(size))) is None
    assert picture_of(lambda: export(lambda: bytes(5))).caption == "Caption"


def test_a_run_that_cannot_be_repeated_gives_no_picture():
    def fail() -> Export:
        raise TextProblem("No words.")

    assert picture_of(fail) is None
