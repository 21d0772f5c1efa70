"""The view of a step as a stored picture: its page is run without a browser, and draws what it would offer for export."""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from threading import Event
from time import monotonic, sleep
from urllib.parse import urlencode

from streamlit.runtime import caching, get_instance
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.state import SessionState

from pages import contents
from pages.ui.export.menu import COLLECTOR
from pages.ui.export.records import Export, Exports
from tx_core.errors import ExplorerError

MAIN = Path(__file__).parents[1] / "main.py"
OF_BERTVIZ = ("text", "pair", "model", "stack")
"""What the page of bertviz has in common with the page Attention."""
MAX_SECONDS, WAIT_SECONDS = 20, 0.5
"""For one page to be run, and between two looks at one that waits for a model to be loaded."""
MAX_PICTURE_BYTES = 100_000
"""Of one picture: a head of 128 tokens takes 16,384, the 144 heads of a large model about 60,000."""
_scripts = ScriptCache()


@dataclass(frozen=True)
class StoredPicture:
    """A view as a drawing of ours takes it.

    Attributes:
        caption: what it shows: model, sentence, settings.
        data: the packed drawing, as base64.
    """

    caption: str
    data: str


def stored_picture(page: str, view: Mapping[str, str]) -> StoredPicture | None:
    """Draw a view of a page as its export does; None where it has no figure, or one that is too large."""
    found: list[StoredPicture] = []

    def collect(exports: Exports) -> None:
        if not found:
            found.extend(picture for make in exports.values() if (picture := picture_of(make)))

    if page == "bertviz_page":  # it draws with scripts of its own: our map of the same head stands for it
        head = f"{view.get('layer', '1')}-{view.get('head', '1')}"
        page, view = "attention", {name: view[name] for name in OF_BERTVIZ if name in view} | {"heads": head}
    end = monotonic() + MAX_SECONDS
    while visit(page, view, collect, end) and not found and monotonic() < end:
        sleep(WAIT_SECONDS)
    return found[0] if found else None


def picture_of(make: Callable[[], Export]) -> StoredPicture | None:
    """Draw an export, if it has a figure that is small enough."""
    try:
        export = make()
        packed = export.figure() if export.figure else b""
    except ExplorerError:  # a run that left the cache may fail when it is repeated
        return None
    if not 0 < len(packed) <= MAX_PICTURE_BYTES:
        return None
    return StoredPicture(export.caption, b64encode(packed).decode("ascii"))


def visit(page: str, view: Mapping[str, str], collect: Callable[[Exports], None], end: float) -> bool:
    """Run a page as for a new visitor who opens this view; what its menus would offer is collected, nothing is sent anywhere.

    Returns whether the page waits for something that is still being computed. end: when to give up.
    """
    session, done, waits = SessionState(), Event(), Event()
    loop, name = asyncio.new_event_loop(), f"picture-{token_hex(8)}"
    session[COLLECTOR] = collect
    listed = contents.page(page)
    runner = ScriptRunner(
        session_id=name,
        main_script_path=str(MAIN),
        session_state=session,
        uploaded_file_mgr=MemoryUploadedFileManager("/none"),
        script_cache=_scripts,
        initial_rerun_data=RerunData(query_string=urlencode(view), page_name=listed.address or listed.key),
        user_info={},
        fragment_storage=MemoryFragmentStorage(),
        pages_manager=PagesManager(str(MAIN), _scripts),
        event_loop=loop,
    )

    def listen(_: ScriptRunner | None, event: ScriptRunnerEvent, **more: object) -> None:
        if event == ScriptRunnerEvent.SHUTDOWN:
            loop.close()
            forget(name)
            done.set()
        elif event == ScriptRunnerEvent.ENQUEUE_FORWARD_MSG and more["forward_msg"].WhichOneof("type") == "auto_rerun":
            waits.set()

    runner.on_event.connect(listen, weak=False)
    runner.start()
    if not done.wait(end - monotonic()):
        runner.request_stop()
    return done.is_set() and waits.is_set()


def forget(session: str) -> None:
    """Drop what a visit left behind, as the end of a visitor's session does."""
    get_instance().media_file_mgr.clear_session_refs(session)
    get_instance().dataframe_source_mgr.clear_session_refs(session)
    caching.clear_session_data_cache(session)
    caching.clear_session_resource_cache(session)
