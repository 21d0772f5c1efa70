"""A file that a page offers is there as long as its button, whoever else visits."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from pages.ui.shell import downloads
from pages.ui.shell.downloads import MAX_OFFERED, MAX_OFFERED_BYTES, OFFERED_FILES, keep_downloads, remember_download

LESSON = (b"title: Birds", "application/yaml", "lesson.yaml")


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    """Streamlit's files, with one session whose page runs."""
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: "session")
    monkeypatch.setattr(downloads, "st", SimpleNamespace(session_state={}))
    monkeypatch.setattr(downloads.Runtime, "instance", lambda: SimpleNamespace(media_file_mgr=manager))
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
    assert OFFERED_FILES not in downloads.st.session_state
    for number in range(MAX_OFFERED + 2):
        remember_download(b"%d" % number, "text/csv", f"{number}.csv")
    remember_download(b"new", "text/csv", "5.csv")
    offered = downloads.st.session_state[OFFERED_FILES]
    assert list(offered) == [*(f"{number}.csv" for number in (2, 3, 4, 6, 7, 8, 9)), "5.csv"]
    assert offered["5.csv"] == (b"new", "text/csv")
