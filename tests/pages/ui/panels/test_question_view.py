"""A question's drawing holds names until it is answered, and never more cells than can be drawn."""

import pytest
import streamlit

from pages.ui.panels.question_view import guessed_cell


@pytest.mark.parametrize(
    ("value", "cell"), [(0, 0), (2, 2), (3, None), (-1, None), (True, None), ("1", None), (None, None), ([1], None), (1.0, None)]
)
def test_a_cell_that_is_not_there_is_no_choice(monkeypatch, value, cell):
    monkeypatch.setattr(
        streamlit, "session_state", {"key": {"chosen": {"value": value, "at": 1}}, "other": {}, "third": {"chosen": 3}}
    )
    assert guessed_cell("key", ("a", "b", "c")) == cell
    assert [guessed_cell(key, ("a",)) for key in ("other", "third", "fourth")] == [None] * 3
