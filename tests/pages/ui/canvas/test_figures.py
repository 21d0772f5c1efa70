"""What charts have in common: a colour that stands out, shares as a reader takes them in, labels that are never markup."""

import pytest

from pages.ui.canvas.figures import ONE_COLOUR, plain


@pytest.mark.parametrize("background", ["#ffffff", "#10151b"])
def test_the_colour_stands_out_on_both_backgrounds(background):
    lighter, darker = sorted((luminance(ONE_COLOUR), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2, definitions)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_what_cannot_be_seen_is_shown_as_a_mark():
    assert plain("a\x00b\u200b") == "a�b�"
