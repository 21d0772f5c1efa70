"""What Streamlit knows of the visitor's session: how this run came about, the session that was lost, and the uploaded files.

The only home of `streamlit.runtime`: nothing public says any of this (Streamlit 1.67).
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

PROTOCOLS = "Sec-WebSocket-Protocol"
"""Header of a websocket whose third entry is the session that the browser had before (Streamlit 1.67)."""


def has_lost_session() -> bool:
    """Return whether this browser had a session before, at a server that is gone."""
    entries = (st.context.headers.get(PROTOCOLS) or "").split(",")
    context = get_script_run_ctx(suppress_warning=True)
    return len(entries) > 2 and entries[2].strip() not in ("", context.session_id if context else "")


def came_by_history() -> bool:
    """Return whether the browser's Back or Forward led to this run."""
    return bool((context := get_script_run_ctx()) and context.is_history_navigation)


def uploaded_file(key: str) -> UploadedFile | None:
    """Return the file in a box by the key of its widget; None where it is empty, or its file is no longer kept."""
    file = st.session_state.get(key)
    return file if isinstance(file, UploadedFile) else None


def has_upload() -> bool:
    """Return whether a file of this visitor is in any box."""
    return any(isinstance(value, UploadedFile) for value in st.session_state.to_dict().values())
