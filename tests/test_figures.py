"""Figures: the bars are the numbers, the labels are texts and never markup, and words say what is seen."""

import json

import pytest

from pages.ui.figures import ONE_COLOUR, bars_in_words, percent, plain, probability_bars, shifted_bars

LABELS, SHARES = ["nurse", "<b>maid</b>", "##ing"], [0.22, 0.1, 0.00001]


def test_every_bar_is_as_long_as_its_share_and_the_first_is_on_top():
    figure = probability_bars(LABELS, SHARES, LABELS)
    bars, rows = figure.data[0], figure.layout.yaxis
    assert list(bars.x) == SHARES
    assert list(bars.text) == ["22.00 %", "10.00 %", "1 in 100,000"]
    assert list(bars.y) == list(rows.tickvals) == [0, 1, 2]
    assert rows.range[0] > rows.range[1]


def test_the_axis_has_the_same_limits_whatever_the_shares():
    ranges = {tuple(probability_bars(["a"], [share], ["a"]).layout.xaxis.range) for share in (0.001, 0.5, 1.0)}
    assert len(ranges) == 1
    assert probability_bars(["a"], [0.2], ["a"], limit=0.1).data[0].x == (0.1,)


def test_all_bars_have_one_colour():
    assert probability_bars(LABELS, SHARES, LABELS).data[0].marker.color == ONE_COLOUR


@pytest.mark.parametrize("background", ["#ffffff", "#10151b"])
def test_the_colour_stands_out_on_both_backgrounds(background):
    lighter, darker = sorted((luminance(ONE_COLOUR), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2, definitions)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_labels_and_hover_texts_are_never_markup():
    drawn = probability_bars(LABELS, SHARES, ['<a href="https://evil.example">x</a>'] * 3).to_json()
    figure = json.loads(drawn)
    assert figure["layout"]["yaxis"]["ticktext"][1] == "&lt;b&gt;maid&lt;/b&gt;  "
    assert "<a" not in figure["data"][0]["customdata"][0]


def test_what_cannot_be_seen_is_shown_as_a_mark():
    assert plain("a\x00b\u200b") == "a�b�"


def test_figures_without_a_label_for_each_share_are_refused():
    with pytest.raises(ValueError, match="got 2, 1 and 2"):
        probability_bars(["a"], [0.1, 0.2], ["a", "b"])


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (1.0, "100.00 %"), (0.21984, "21.98 %"), (0.0001, "0.01 %"), (0.0, "0.00 %"),
        (0.00008, "1 in 12,500"), (1.5e-6, "1 in 666,667"), (4.9e-31, "1 in 2 × 10³⁰"), (1e-9, "1 in 10⁹"),
    ],
)  # fmt: skip
def test_shares_are_written_as_percent_and_small_ones_as_odds(share, written):
    assert percent(share) == written


def test_words_say_what_a_chart_shows():
    assert bars_in_words("First blank", ["nurse", "maid"], [0.2, 0.1]) == "First blank: nurse 20.00 %, maid 10.00 %."


def test_a_shift_is_two_bars_a_word_under_both_shares_and_a_note():
    figure = shifted_bars(["a", "<b>"], [0.5, 0.2], [0.25, 0.9], ["↓1", "new"], ["one", "two"], limit=0.8)
    before, after = figure.data
    assert (list(before.x), list(after.x)) == ([0.5, 0.2], [0.25, 0.8])
    assert [heading.text for heading in figure.layout.annotations] == [
        "<b>a</b>   50.00 % → 25.00 %  ↓1", "<b>&lt;b&gt;</b>   20.00 % → 90.00 %  new",
    ]  # fmt: skip
