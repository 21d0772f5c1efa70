"""Mend what Streamlit does whenever a page begins to run: it forgets the files that the page offers, and writes the theme anew.

No heavy package is imported here: app.py and pages/main.py import this module before a page's title.
"""

from functools import cache

import streamlit as st
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import Runtime, app_session

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
    """Let Streamlit know, at the beginning of a run, that the files that were offered last are still in use.

    It forgets a session's files until the run has drawn their buttons again. Where the runs of two other visitors end meanwhile,
    the files are deleted, and a click on a button that still stands there gets a 404.
    """
    for number, (name, (content, mime)) in enumerate(st.session_state.get(OFFERED_FILES, {}).items()):
        files = Runtime.instance().media_file_mgr
        files.add(content, mime, f"offered-{number}", file_name=name, is_for_static_download=True)


_write_theme = app_session._populate_theme_msg


@cache
def theme_section(section: str) -> CustomThemeConfig:
    """Return a section of the theme, such as "theme.dark", as Streamlit writes it."""
    message = CustomThemeConfig()
    _write_theme(message, section)
    return message


def copy_theme_section(message: CustomThemeConfig, section: str = "theme") -> None:
    """Put a section of the theme into a message. One without a value is left out: merged, it would count as given."""
    if theme_section(section).ListFields():
        message.MergeFrom(theme_section(section))


def write_theme_once() -> None:
    """Let every run copy the theme; it is written again only when the configuration is read again.

    Streamlit writes it from all of its options at every run of every visitor: 0.7 ms of a processor, a thirtieth of what a new
    sentence costs and more of a click, and no option turns it off. Hence a private function of Streamlit's is replaced, whose
    version is pinned; the message that a browser gets is the same.
    """
    app_session._populate_theme_msg = copy_theme_section
    config.on_config_parsed(theme_section.cache_clear, force_connect=True)
