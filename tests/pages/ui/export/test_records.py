"""Every part of a Build page is exported as it was drawn: its table and its files hold the same numbers."""

import csv
import io
import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.export import menu, texts
from pages.ui.export.menu import show_data
from pages.ui.export.records import COLUMNS, PartNumbers, drawings_export, table_rows
from pages.ui.stage.charts import matrix_drawing, numbered_once
from tests.support.exports import opened

pytestmark = pytest.mark.ci

Open = Callable[..., AppTest]


@pytest.mark.parametrize(
    ("page", "place", "view", "model"),
    [
        ("self_attention", "saturation", {"unscaled": "1"}, None),
        ("self_attention", "store", {"q1": "3"}, None),
    ],
)
def test_files_and_table_hold_the_numbers_that_are_drawn_and_name_their_source(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, page: str, place: str, view: dict[str, str], model: str | None
):
    made, noted, name = [], [], f"{page}_{place}" if place else page
    monkeypatch.setattr(
        menu, "drawings_export", lambda lesson, drawings: (noted.extend(drawings), drawings_export(lesson, drawings))[1]
    )
    monkeypatch.setattr(menu, "show_data", lambda page, export: (made.append(export), show_data(page, export)))
    app = opened(open_app(page, **view), name, form=texts.DATA)
    (export,) = made
    files = export.data[0].files
    rows = [tuple(row[column] for column in COLUMNS) for row in json.loads(files["json"](export.source))["table"]]
    drawn = np.concatenate([one.values.ravel() for one in noted])
    np.testing.assert_allclose([-np.inf if row[-1] is None else row[-1] for row in rows], drawn, rtol=1e-5)
    assert len({row[:3] for row in rows}) == len(rows)
    assert export.about.get("model") == model
    written = csv.reader(io.StringIO(files["csv"](export.source).decode("utf-8-sig")))
    assert len([row for row in written if not row[0].startswith("# ")]) == 1 + len(rows)
    app.session_state[f"{name}_export_table"] = True
    frame = next(table.value for table in app.run().dataframe if list(table.value.columns) == list(COLUMNS))
    assert [tuple(row) for row in frame[list(COLUMNS[:3])].to_numpy()] == [row[:3] for row in rows]


def test_names_that_occur_several_times_are_numbered():
    assert numbered_once(["the", "cat", "the"]) == ("the (1)", "cat", "the (2)")


def test_a_masked_score_is_no_number_in_any_file():
    drawing = matrix_drawing("Scores", "signed", np.array([[0.5, -np.inf]]), ["a"], ["a", "=b"])
    export = drawings_export(PartNumbers("Scores", {}, (), ""), [drawing])
    assert table_rows([drawing]) == [("Scores", "a", "a", 0.5), ("Scores", "a", "=b", None)]
    assert '"Scores","a","\'=b",""' in export.data[0].files["csv"]({}).decode("utf-8-sig")
    with np.load(io.BytesIO(export.data[0].files["npz"]({})), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["1_scores"], [[0.5, np.nan]])
