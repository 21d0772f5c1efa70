"""What is exported is what was drawn: tables and files of every kind hold its numbers, and name where they come from."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from pages.ui.export import texts
from pages.ui.export.attention import attention_export, weights_table
from pages.ui.export.menu import written
from pages.ui.export.records import DataTable, PartNumbers, drawings_export, drawings_table, to_csv, to_json, to_npz
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.browser_texts import CAPTION
from pages.ui.stage.charts import matrix_drawing
from tests.support.exports import map_of_page
from tx_core.engine import catalogue
from tx_core.settings import app_version
from tx_core.transformer.interventions import Intervention

pytestmark = pytest.mark.ci

ABOUT = {"text": "time \u202e flies"}


def test_a_masked_score_is_no_number_in_any_file():
    drawing = matrix_drawing("Scores", "signed", np.array([[0.5, -np.inf]]), ["a"], ["a", "=b"])
    (files,) = drawings_export(PartNumbers("Scores", {}, ()), [drawing]).tables.values()
    assert drawings_table([drawing]).rows == [("Scores", "a", "a", 0.5), ("Scores", "a", "=b", None)]
    assert '"Scores","a","\'=b",""' in files.files["csv"]({}).decode("utf-8-sig")
    with np.load(io.BytesIO(files.files["npz"]({})), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["number"], [0.5, np.nan])


def test_numbers_come_back_from_every_kind_of_file_as_they_were():
    third = np.float32(1) / np.float32(3)
    arrays = {"weights": np.array([[third, np.nan]], np.float32), "words": np.array(["a", "=b"])}
    saved = DataTable(("word", "weight"), [("=b", 1 / 3), ("a", None)], "", arrays, {"axes": "word"})
    lines = to_csv(saved, ABOUT).decode("utf-8-sig").splitlines()
    assert lines == ["# text,time \u202e flies", "# axes,word", '"word","weight"', f'"\'=b",{1 / 3}', '"a",""']
    entries = json.loads(to_json(saved, ABOUT))
    assert entries["text"] == ABOUT["text"]
    assert np.float32(entries["weights"][0][0]) == third
    assert entries["weights"][0][1] is None
    assert json.loads(to_json(replace(saved, arrays={}), ABOUT))["table"][1] == {"word": "a", "weight": None}
    with np.load(io.BytesIO(to_npz(saved, ABOUT)), allow_pickle=False) as back:
        np.testing.assert_array_equal(back["weights"], arrays["weights"])
        assert json.loads(str(back["about"])) == ABOUT | {"axes": "word"}


def test_a_comment_above_the_code_names_the_model_with_its_revision_the_version_of_the_app_and_the_link():
    export = replace(attention_export(map_of_page("embedded", "time flies")), link="http://here/attention?text=time+flies")
    named = stage_texts.MODEL_REVISION.format(model="embedded", revision=catalogue.revision("embedded"))
    assert export.origin == f"{named}; {stage_texts.APP} {app_version()}; {export.link}"
    assert export.origin in written(export, texts.PROJECT_CODE).split("\n")[1]


def test_a_table_of_what_is_shown_holds_its_numbers_and_one_of_all_every_head_before_and_after():
    changes, options = [Intervention("off", 1, 2)], {"words": True, "hide": True, "heads": ((1, 2), (0, 4))}
    shown = map_of_page("embedded", "time flies like an arrow", changes=changes, **options)
    one, every = (weights_table(shown, everything) for everything in (False, True))
    np.testing.assert_array_equal(one.arrays["maps"], [[[2, 3], [1, 5]]])
    assert one.arrays["keys"].tolist() == ["time", "flies", "like", "an", "arrow"]
    place = every.arrays["maps"].tolist().index([[2, 3]])
    views = {"before": shown.unchanged.weights, "after": shown.view.weights}
    for name, numbers in (views | {"difference": views["after"] - views["before"]}).items():
        np.testing.assert_allclose(one.arrays[name][0], (numbers[1, 2] + numbers[0, 4]) / 2, atol=1e-6)
        np.testing.assert_allclose(every.arrays[name][place], numbers[1, 2], atol=1e-6)
    assert CAPTION["merged"] in every.about["notes"]
    (row,) = [row for row in every.rows if row[:3] == ("layer 2 head 3", "2 flies", "1 time")]
    found = [np.float32(number) for number in row[3:]]
    assert found == [every.arrays[name][place, 1, 0] for name in every.columns[3:]]
