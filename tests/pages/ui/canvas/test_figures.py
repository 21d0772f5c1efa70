"""What charts have in common: a colour that stands out, shares as a reader takes them in, labels that are never markup."""

import re
import tomllib

import pytest

from pages.ui.canvas.figures import BACKGROUND, BELOW_ZERO, INK, LINE_COLOURS, ONE_COLOUR, plain
from pages.ui.canvas.modules import read_style
from tests.support.serving import ROOT


def test_text_and_background_are_those_of_the_page():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    for dark, mode in ((False, "light"), (True, "dark")):
        assert (theme[mode]["textColor"], theme[mode]["backgroundColor"]) == (INK[dark], BACKGROUND[dark])


def test_a_stand_alone_page_has_them_too():
    style = read_style("web_page/page.css")
    for name, colours in (("background", BACKGROUND), ("text", INK)):
        assert re.findall(rf"--st-{name}-color: (#[0-9a-f]{{6}})", style) == [colours[False], colours[True]]


@pytest.mark.parametrize("background", BACKGROUND.values())
@pytest.mark.parametrize("colour", [ONE_COLOUR, BELOW_ZERO, *LINE_COLOURS])
def test_the_colours_of_charts_stand_out_on_both_backgrounds(colour, background):
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2, definitions)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_what_cannot_be_seen_is_shown_as_a_mark():
    assert plain("a\x00b\u200b") == "a�b�"
