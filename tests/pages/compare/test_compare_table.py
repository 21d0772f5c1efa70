"""Every link of a comparison as a table."""

import csv
import io
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare import maps, texts
from pages.compare.maps import as_csv, difference_rows
from tests.support.drawings import says
from tests.support.drawn_comparison import BIRD, drawn_comparison
from tx_core.analysis.comparison import compare_attention
from tx_core.analysis.views import view
from tx_core.analysis.word_comparison import spell_words
from tx_core.engine import catalogue

Open = Callable[..., AppTest]


def test_the_table_lists_every_link_with_both_weights_and_leaves_out_what_is_not_there(open_app: Open):
    engine, sentences = catalogue.load(catalogue.DEFAULT), (BIRD["text"], BIRD["text_b"])
    views = [view(engine.trace(text).attention, merge_words=True) for text in sentences]
    spelled = [spell_words(engine.encode(text), shown.query_places) for text, shown in zip(sentences, views, strict=True)]
    found = compare_attention(*views, *spelled, *(shown.weights[1, 2] for shown in views))
    rows = list(difference_rows(found))
    assert sum(row["A"] is not None for row in rows) == found.one.size
    assert sum(row["B"] is not None for row in rows) == found.other.size
    assert sum(row["A"] for row in rows if row["A"] is not None) == pytest.approx(float(found.one.sum()), abs=1e-4)
    for row in rows:
        assert (row["B − A"] is None) == (row["A"] is None or row["B"] is None)
        if row["B − A"] is not None:
            assert row["B − A"] == pytest.approx(row["B"] - row["A"], abs=2e-6)
    read = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert [row["query"] for row in read] == [row["query"] for row in rows]
    assert all(row["query"][0].isdigit() for row in read)


def test_a_table_too_long_to_show_names_the_largest_differences_and_its_file_holds_all(open_app: Open, monkeypatch):
    monkeypatch.setattr(maps, "MAX_LINK_ROWS", 7)
    app = open_app("compare", **BIRD)
    app.session_state["compare_table"] = True
    app.run()
    header, (_, _, difference) = drawn_comparison(app)
    (shown,) = [element.value for element in app.dataframe]
    largest = np.sort(np.abs(difference).ravel())[::-1][:7]
    np.testing.assert_allclose(shown["B − A"].abs(), largest, atol=1e-3)
    links = len(header["rows"]) ** 2 - 2  # between "small" and "loudly", of which neither has both
    assert texts.TABLE_CUT.format(all=links, shown=7) in says(app)
