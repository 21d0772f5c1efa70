"""A file that a page offers is there as long as its button, whoever else visits; a browser gets the theme that Streamlit writes,
which is written once and not at every run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session, media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from pages.ui.shell import run_start
from pages.ui.shell.run_start import MAX_OFFERED, MAX_OFFERED_BYTES, OFFERED_FILES, keep_downloads, remember_download

STREAMLIT_WRITES = app_session._populate_theme_msg
LESSON = (b"title: Birds", "application/yaml", "lesson.yaml")


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    """Streamlit's files, with one session whose page runs."""
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: "session")
    monkeypatch.setattr(run_start, "st", SimpleNamespace(session_state={}))
    monkeypatch.setattr(run_start.Runtime, "instance", lambda: SimpleNamespace(media_file_mgr=manager))
    return manager


def others_end(files: MediaFileManager) -> None:
    """Let the runs of three other visitors end."""
    for _ in range(3):
        files.remove_orphaned_files()


def test_a_file_is_there_while_its_page_runs_again(files: MediaFileManager):
    content, mime, name = LESSON
    address = files.add(content, mime, "1.0", file_name=name, is_for_static_download=True)
    remember_download(*LESSON)
    files.clear_session_refs("session")  # as Streamlit does when a page begins to run
    keep_downloads()
    others_end(files)
    assert files.read_file(Path(address).name).content == content


def test_a_file_that_no_page_offers_any_more_is_deleted_with_the_session(files: MediaFileManager):
    remember_download(*LESSON)
    keep_downloads()
    files.clear_session_refs("session")
    others_end(files)
    assert files._file_metadata == {}


def test_the_last_few_small_files_of_a_session_are_remembered(files: MediaFileManager):
    remember_download(b"x" * (MAX_OFFERED_BYTES + 1), *LESSON[1:])
    assert OFFERED_FILES not in run_start.st.session_state
    for number in range(MAX_OFFERED + 2):
        remember_download(b"%d" % number, "text/csv", f"{number}.csv")
    remember_download(b"new", "text/csv", "5.csv")
    offered = run_start.st.session_state[OFFERED_FILES]
    assert list(offered) == [*(f"{number}.csv" for number in (2, 3, 4, 6, 7, 8, 9)), "5.csv"]
    assert offered["5.csv"] == (b"new", "text/csv")


@pytest.fixture
def written_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    run_start.theme_section.cache_clear()
    run_start.write_theme_once()
    yield
    run_start.theme_section.cache_clear()


def whole_theme(write: Callable[..., None]) -> CustomThemeConfig:
    """Write every section as the first message of a run does."""
    message = CustomThemeConfig()
    write(message)
    for section, part in (
        ("theme.light", message.light),
        ("theme.dark", message.dark),
        ("theme.sidebar", message.sidebar),
        ("theme.light.sidebar", message.light.sidebar),
        ("theme.dark.sidebar", message.dark.sidebar),
    ):
        write(part, section)
    return message


@pytest.mark.usefixtures("written_once")
def test_a_browser_gets_the_theme_as_streamlit_writes_it():
    written, copied, again = whole_theme(STREAMLIT_WRITES), *(whole_theme(app_session._populate_theme_msg) for _ in range(2))
    assert copied.light.primary_color == config.get_option("theme.light.primaryColor") != ""
    assert written.HasField("dark")
    assert not written.HasField("sidebar")
    assert written.SerializeToString() == copied.SerializeToString() == again.SerializeToString()


@pytest.mark.usefixtures("written_once")
def test_a_further_run_reads_no_option_of_the_theme(monkeypatch: pytest.MonkeyPatch):
    read, look_up = [], config.get_options_for_section
    monkeypatch.setattr(config, "get_options_for_section", lambda section: (read.append(section), look_up(section))[1])
    whole_theme(app_session._populate_theme_msg)
    assert len(read) == len(set(read)) == 6
    whole_theme(app_session._populate_theme_msg)
    assert len(read) == 6


@pytest.mark.usefixtures("written_once")
def test_a_configuration_that_is_read_again_brings_its_theme():
    before = whole_theme(app_session._populate_theme_msg).primary_color
    try:
        config.get_config_options(force_reparse=True, options_from_flags={"theme.primaryColor": "#123456"})
        assert whole_theme(app_session._populate_theme_msg).primary_color == "#123456" != before
    finally:
        config.get_config_options(force_reparse=True, options_from_flags={})
    assert whole_theme(app_session._populate_theme_msg).primary_color == before
