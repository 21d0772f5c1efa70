"""Write the theme of the app once: Streamlit writes it anew, from all of its options, at every run of every visitor.

That takes 0.7 ms of a processor, a thirtieth of what a new sentence costs and more of a click, and no option turns it off. Hence
a private function of Streamlit's is replaced, whose version is pinned; the message that a browser gets is the same.
"""

from functools import cache

from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

_write = app_session._populate_theme_msg


@cache
def theme_section(section: str) -> CustomThemeConfig:
    """Return a section of the theme, such as "theme.dark", as Streamlit writes it."""
    message = CustomThemeConfig()
    _write(message, section)
    return message


def copy_theme_section(message: CustomThemeConfig, section: str = "theme") -> None:
    """Put a section of the theme into a message. One without a value is left out: merged, it would count as given."""
    if theme_section(section).ListFields():
        message.MergeFrom(theme_section(section))


def write_theme_once() -> None:
    """Let every run copy the theme; it is written again only when the configuration is read again."""
    app_session._populate_theme_msg = copy_theme_section
    config.on_config_parsed(theme_section.cache_clear, force_connect=True)
