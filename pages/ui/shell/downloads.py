"""Keep the files that a page offers while the page runs again.

Streamlit forgets a session's files when its page begins to run, until the run has drawn their buttons again. Where the runs of
two other visitors end meanwhile, the files are deleted, and a click on a button that still stands there gets a 404.
No heavy package is imported here: pages/main.py imports this module before a page's title.
"""

import streamlit as st
from streamlit.runtime import Runtime

OFFERED_FILES = "offered_files"
"""Session entry of the files that were offered last: content and kind by name."""
MAX_OFFERED, MAX_OFFERED_BYTES = 8, 1_000_000
"""Of files that are kept, and of one of them; a larger one is offered as it is."""


def remember_download(content: bytes, mime: str, file_name: str) -> None:
    """Remember a file that a page offers."""
    if len(content) > MAX_OFFERED_BYTES:
        return
    others = {name: file for name, file in st.session_state.get(OFFERED_FILES, {}).items() if name != file_name}
    st.session_state[OFFERED_FILES] = dict([*others.items(), (file_name, (content, mime))][-MAX_OFFERED:])


def keep_downloads() -> None:
    """Let Streamlit know, at the beginning of a run, that the files that were offered last are still in use."""
    for number, (name, (content, mime)) in enumerate(st.session_state.get(OFFERED_FILES, {}).items()):
        files = Runtime.instance().media_file_mgr
        files.add(content, mime, f"offered-{number}", file_name=name, is_for_static_download=True)
