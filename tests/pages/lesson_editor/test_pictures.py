"""Every page that a lesson may name gives a picture of its view, as its export draws it."""

import threading
import time
from base64 import b64decode
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
from pages.lesson_editor import pictures
from pages.lesson_editor.pictures import MAX_PICTURE_BYTES, StoredPicture, picture_of, stored_picture
from pages.ui.export.menu import COLLECTOR
from pages.ui.export.records import Export, WebPage
from pages.ui.panels import training
from tests.support.drawings import unpacked
from tx_core.errors import TextProblem

WITHOUT_FIGURE = "bertviz_page"
"""Other people's scripts draw it; the map of the page Attention stands for it."""


@pytest.mark.parametrize("page", [page.key for page in PAGES if page.computes and page.key != WITHOUT_FIGURE])
def test_a_visit_to_a_page_gives_a_small_picture_with_a_text(open_app, page: str):
    found: list[StoredPicture] = []
    app = open_app(page)
    app.session_state[COLLECTOR] = lambda exports: found.extend(filter(None, map(picture_of, exports.values())))
    end = time.monotonic() + 60
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
    monkeypatch.setattr(pictures, "visit", lambda page, view, collect, end: asked.append((page, view)))
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
    pictures.visit("encoder_decoder", {}, seen.append, time.monotonic() + seconds)
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
