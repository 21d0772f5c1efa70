"""A browser gets the theme that Streamlit writes, which is written once and not at every run."""

from collections.abc import Callable, Iterator

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from pages.ui.shell import theme

STREAMLIT_WRITES = app_session._populate_theme_msg


@pytest.fixture
def written_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    theme.theme_section.cache_clear()
    theme.write_theme_once()
    yield
    theme.theme_section.cache_clear()


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
