"""Whatever a visitor types, it stays text where only plain letters are safe: in comments, captions and names of files."""

import hypothesis
import pytest
from hypothesis import strategies

from pages.ui.stage.sources import file_stem, one_line, shortened


@hypothesis.given(strategies.text())
def test_one_line_holds_nothing_unseen_and_every_letter(text: str):
    line = one_line(text)
    assert line.replace("\u200c", "").replace("\u200d", "").isprintable()
    seen = "".join(sign for sign in text if sign.isprintable() or sign in "\u200c\u200d")
    assert line.replace(" ", "") == seen.replace(" ", "")


def test_what_joins_letters_and_emoji_stays():
    assert one_line("می\u200cخواهم 👩\u200d🚀") == "می\u200cخواهم 👩\u200d🚀"


def test_a_name_of_a_file_holds_plain_letters_only():
    assert file_stem("early answers", "some one/bert: «base»") == "early-answers-some-one-bert-base-"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("time flies", "time flies"),
        ("time flies away", "time flies …"),
        ("time fliesaway", "time …"),
        ("timefliesaway", "timefliesa …"),
        ("", ""),
    ],
)
def test_a_long_text_is_shortened_by_whole_words(text: str, shown: str):
    assert shortened(text, 10) == shown
