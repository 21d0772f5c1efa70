"""What Streamlit knows of the visitor's session: how this run came about, and the uploaded files.

The only home of `streamlit.runtime`: nothing public says any of this (Streamlit 1.67).
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile


def came_by_history() -> bool:
    """Return whether the browser's Back or Forward led to this run."""
    return bool((context := get_script_run_ctx()) and context.is_history_navigation)


def uploaded_file(key: str) -> UploadedFile | None:
    """Return the file in a box by the key of its widget; None where it is empty, or its file is no longer kept."""
    file = st.session_state.get(key)
    return file if isinstance(file, UploadedFile) else None
