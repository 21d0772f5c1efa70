"""Lines over depth: the points are the numbers, the labels are texts, and words say where lines begin and end."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.canvas.figures import LINE_COLOURS
from pages.ui.canvas.lines import lines_chart, lines_in_words, show_lines
from pages.ui.canvas.texts import LINES_ALT
from tests.pages.ui.canvas.test_figures import luminance
from tests.support.drawn_lines import drawn_lines

STEPS, SERIES = ["in", "1", "2"], {"pre-norm": [8.0, 9.5, 12.0], "<b>post</b>": [8.0, 8.0, 8.0]}


def test_every_line_is_its_series():
    chart = lines_chart("Length", STEPS, SERIES)
    assert {line["name"]: line["values"] for line in chart["series"]} == SERIES
    assert chart["steps"] == STEPS


def test_lines_differ_in_more_than_colour():
    one, other = lines_chart("", STEPS, SERIES)["series"]
    assert one["dash"] != other["dash"]
    assert one["mark"] != other["mark"]


@pytest.mark.parametrize("background", ["#ffffff", "#10151b"])
@pytest.mark.parametrize("colour", LINE_COLOURS)
def test_every_colour_stands_out_on_both_backgrounds(colour, background):
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


@pytest.mark.parametrize("make", [lines_chart, lambda *parts, **more: show_lines(*parts, key="lines", **more)])
def test_a_series_or_a_border_without_a_number_for_each_step_is_refused(make):
    with pytest.raises(ValueError, match="got 3 steps and 2 numbers of short"):
        make("", STEPS, {"short": [1.0, 2.0]})
    with pytest.raises(ValueError, match="1 numbers of upper border"):
        make("", STEPS, SERIES, band=([1, 2, 3], [4]))


def test_the_page_is_sent_the_numbers_and_the_names_as_they_are():
    def page() -> None:
        from pages.ui.canvas.lines import show_lines

        names = {"</script><img src=x onerror=alert(1)>": [0.25, 1 / 3, -2.0]}
        show_lines(
            "Length <i>", ["in", "1", "2"], names, key="a", step_name="d = {step}", limits=(-3, 1), band=([0, 0, 0], [1, 2, 3])
        )
        show_lines("Sent back", ["in", "1"], {"one": [0.1, 1.0]}, key="b", logarithmic=True)

    one, other = drawn_lines(AppTest.from_function(page).run())
    (line,) = one["series"]
    assert (line["name"], line["values"]) == ("</script><img src=x onerror=alert(1)>", [0.25, 1 / 3, -2.0])
    assert (one["places"], one["limits"], one["band"]) == (["in", "d = 1", "d = 2"], [-3, 1], [[0, 0, 0], [1, 2, 3]])
    assert one["alt"].startswith("Length <i>: </script>")
    assert (one["logarithmic"], other["logarithmic"], other["limits"], other["band"]) == (False, True, None, None)
    assert other["places"] == ["in", "block 1"]


def test_words_say_where_lines_begin_and_end():
    said = lines_in_words("Length", {"pre-norm": [8.04, 9, 35.62]})
    assert said == LINES_ALT.format(title="Length", lines="pre-norm from 8.04 to 35.6")
