"""The exports of every page hold what its screen shows."""

import csv
import io
import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.bertviz_page.frame import Drawing, bertviz_export
from pages.compare.texts import WORD_EXPORT
from pages.fill_mask import texts as fill_mask_texts
from pages.fill_mask.export import Lists, lists_export
from pages.fill_mask.predictions import ListSettings, SentencePredictions
from pages.summaries.parts import PARTS
from pages.ui.export import menu, texts
from pages.ui.export.records import DataFiles, DataTable, Export, to_csv, to_json, to_npz
from pages.ui.shell.address import link_with
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.sources import Source
from tests.support.exports import exported_code, opened
from tx_core.engine import catalogue
from tx_core.engine.hub import load
from tx_core.fill_mask.predictions import predict
from tx_core.settings import app_version

Open = Callable[..., AppTest]
ABOUT = {"text": "time \u202e flies"}


def files(numbers: DataFiles, source: Source) -> tuple[list[list[str]], dict, dict]:
    """The rows of the CSV, the JSON and the arrays of the NPZ of some numbers."""
    made = {form: write(source) for form, write in numbers.files.items()}
    rows = list(csv.reader(io.StringIO(made["csv"].decode("utf-8-sig"), newline="")))
    named = {f"# {name}" for name, value in source.items() if value and not isinstance(value, dict)}
    assert {name for name, *_ in rows if name.startswith("# ")} >= named
    rows = [row for row in rows if not row[0].startswith("# ")]
    with np.load(io.BytesIO(made["npz"]), allow_pickle=False) as arrays:
        return rows, json.loads(made["json"], parse_constant=pytest.fail), dict(arrays)


def test_numbers_come_back_from_every_kind_of_file_as_they_were():
    third = np.float32(1) / np.float32(3)
    arrays = {"weights": np.array([[third, np.nan]], np.float32), "words": np.array(["a", "=b"])}
    saved = DataTable(("word", "weight"), [("=b", 1 / 3), ("a", None)], arrays, {"axes": "word"})
    lines = to_csv(saved, ABOUT).decode("utf-8-sig").splitlines()
    assert lines == ["# text,time \u202e flies", "# axes,word", '"word","weight"', f'"\'=b",{1 / 3}', '"a",""']
    entries = json.loads(to_json(saved, ABOUT))
    assert entries["text"] == ABOUT["text"]
    assert np.float32(entries["weights"][0][0]) == third
    assert entries["weights"][0][1] is None
    assert entries["table"][1] == {"word": "a", "weight": None}
    with np.load(io.BytesIO(to_npz(saved, ABOUT)), allow_pickle=False) as back:
        np.testing.assert_array_equal(back["weights"], arrays["weights"])
        assert json.loads(str(back["about"])) == ABOUT | {"axes": "word"}


VIEWS = {
    "lists": ("fill_mask", fill_mask_texts.EXPORT_LISTS, {"text": "The ___ sat ___.", "compare": "1", "second": "A ___."}),
    "changes": ("fill_mask", fill_mask_texts.EXPORT_CHANGE, {"text": "The ___ sat.", "changes": "off~1-2"}),
    "a word": ("compare", WORD_EXPORT, {"text": "time flies", "text_b": "fruit flies"}),
}


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> list[Export]:
    """Every view whose numbers a page offers, as it offers them."""
    seen, show = [], menu.show_data

    def listen(page: str, export: Export) -> None:
        seen.append(export)
        show(page, export)

    monkeypatch.setattr(menu, "show_data", listen)
    return seen


def hold_files(export: Export) -> None:
    """Every file of a view's numbers can be read by others, has as many rows as it is said to have, and names its axes."""
    for numbers in export.data:
        rows, entries, arrays = files(numbers, export.source)
        assert json.loads(json.dumps(export.source)).items() <= entries.items()
        assert f"{len(rows) - 1:,}" == numbers.description.split()[0]
        assert {len(row) for row in rows} == {len(rows[0])}
        about = json.loads(str(arrays["about"])) if "about" in arrays else entries
        if any(array.ndim > 1 for array in arrays.values()) and "table" in entries:
            assert about["axes"]
        if "kinds" in about.get("axes", ""):
            assert arrays["shares"].shape[-1] == len(arrays["kinds"]) == len(entries["kinds"])


def hold_source(app: AppTest, page: str, origin: str) -> None:
    """A comment above the code names the model with its revision, the version of the app, and the link of the view."""
    named = stage_texts.MODEL_REVISION.format(model="embedded", revision=catalogue.revision("embedded"))
    link = link_with(app.session_state[f"{page}_view"].address)
    assert origin == "; ".join(part for part in (named, f"{stage_texts.APP} {app_version()}", link) if part)


@pytest.mark.parametrize(("page", "what", "view"), VIEWS.values(), ids=VIEWS)
def test_a_view_opens_in_every_form_and_nothing_is_made_before(
    open_app: Open, offered: list[Export], page: str, what: str, view: dict[str, str]
):
    app = open_app(page, **view)
    assert not app.exception
    own = len(app.get("download_button"))
    assert len(opened(app, page, what, texts.DATA).get("download_button")) == own + 3
    hold_files(offered[-1])
    hold_source(app, page, offered[-1].origin)
    assert exported_code(app, page, what, "project")


@pytest.mark.parametrize("part", PARTS)
def test_a_summary_whose_stage_makes_the_figure_offers_its_numbers_and_code(open_app: Open, offered: list[Export], part: str):
    app = opened(open_app("summaries", text="The [MASK] sat.", part=part), "summaries", form=texts.DATA)
    assert len(app.get("download_button")) == 3
    hold_files(offered[-1])
    assert exported_code(app, "summaries", "", "project")


def test_the_weights_of_a_view_of_bertviz_are_offered(open_app: Open, offered: list[Export]):
    app = opened(open_app("bertviz_page", text="time flies"), "bertviz_page", form=texts.DATA)
    assert len(app.get("download_button")) == 3
    hold_files(offered[-1])


def test_every_attention_of_an_encoder_decoder_has_files_of_its_own(checkpoint):
    trace = load.load_engine(checkpoint("t5"), "t5-small", "T5").trace("time flies", "fruit flies")
    drawn = [bertviz_export(Drawing("head", trace, stacks, (), 0, "", False, ())) for stacks in (trace.stacks, trace.stacks[1:2])]
    names = [numbers.file_name for numbers in drawn[0].data]
    assert len(set(names)) == 3
    assert drawn[1].data[0].file_name == names[1]
    assert drawn[0].file_name != drawn[1].file_name


def test_the_files_of_predictions_hold_every_probability_and_rank():
    found = predictions_of("___ sat ___")
    rows, entries, arrays = files(lists_export(found).data[0], lists_export(found).source)
    listed = [one.probability for blank in found.sentences[0].filling.blanks for one in blank.predictions]
    column = rows[0].index("probability")
    np.testing.assert_array_equal([float(row[column]) for row in rows[1:]], listed)
    assert [entry["probability"] for entry in entries["table"]] == listed
    np.testing.assert_array_equal(arrays["probability"], listed)
    assert [entry["rank"] for entry in entries["table"]] == [1, 2, 3, 1, 2, 3]
    assert entries["temperature"] == 2
    assert entries["notes"] == [fill_mask_texts.TEMPERATURE_CHANGED.format(temperature=2)]


def predictions_of(*texts: str) -> Lists:
    """What the page with blanks lists of some sentences."""
    engine = catalogue.load("embedded")
    fillings = [predict(engine, text, top_k=3, temperature=2.0) for text in texts]
    return Lists(
        "embedded",
        tuple(SentencePredictions(text, one, ((),) * 2, ()) for text, one in zip(texts, fillings, strict=True)),
        ListSettings(3, 2.0, 1.0, 1.0),
    )
