"""A and B on the page of comparisons: pinned, swapped, run with changes of their own, in their link, and as a table."""

import csv
import io
import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare import drawings, texts
from pages.compare.controls import changes_in_full
from pages.compare.drawings import as_csv, difference_rows
from pages.compare.state import PARTS, VARIES
from pages.ui.export import menu
from pages.ui.export.records import Export
from pages.ui.export.texts import DATA
from pages.ui.panels.texts import TOKEN_CHANGES_UNDONE
from tests.support.drawings import BIRD, drawn_comparison, says, unpacked
from tests.support.exports import opened
from tx_core.analysis.comparison import compare_attention
from tx_core.analysis.views import view
from tx_core.analysis.word_comparison import spell_words
from tx_core.engine import catalogue
from tx_core.transformer.interventions import read_interventions

Open = Callable[..., AppTest]


def test_one_thing_after_another_is_chosen_to_differ_and_the_sides_swapped(open_app: Open):
    app = open_app("compare")
    for vary in ("head", "untrained", "changes", "model", "text"):
        app.pills(key="compare_vary").set_value(vary).run()
        assert not app.exception
        one, other = compare_state_of(app)
        app.button(key="compare_swap").click().run()
        assert not app.exception
        assert compare_state_of(app) == (other, one)
        app.button(key="compare_swap").click().run()
    assert app.text_input(key="compare_text_b").value == "fruit flies like a banana"


def compare_state_of(app: AppTest) -> tuple[dict, dict]:
    """Both sides, as the session holds them."""
    varied = VARIES[app.session_state["compare_vary"]]
    one = {part: app.session_state[f"compare_{part}"] for part in PARTS}
    return one, one | {part: app.session_state[f"compare_{part}_b"] for part in varied}


def test_a_change_that_names_a_token_goes_with_its_sentence_and_that_is_said(open_app: Open):
    app = open_app("compare", text="a bird sings", vary="changes", changes_b="off~1-2_hide~3")
    assert (app.query_params["changes_b"], TOKEN_CHANGES_UNDONE in says(app)) == ("off~1-2_hide~3", False)
    app.text_input(key="compare_text").set_value("some big birds sing").run()
    assert (app.query_params["changes_b"], TOKEN_CHANGES_UNDONE in says(app)) == ("off~1-2", True)
    app.text_input(key="compare_text").set_value("a bird sings").run()
    assert (app.query_params["changes_b"], TOKEN_CHANGES_UNDONE in says(app)) == ("off~1-2", False)


def test_a_change_that_names_a_token_stays_while_its_sentences_do(open_app: Open):
    app = open_app("compare", text="a bird sings", text_b="a cat sits", changes="cut~2-3")
    for button in ("compare_swap", "compare_pin"):
        app.button(key=button).click().run()
        assert (app.query_params["changes"], TOKEN_CHANGES_UNDONE in says(app)) == ("cut~2-3", False)
    app.pills(key="compare_vary").set_value("head").run()
    assert app.query_params["changes"] == "cut~2-3"
    app.query_params["text"], app.query_params["changes"] = "a cat", "hide~2"  # the browser's Back
    app.run()
    assert app.query_params["changes"] == "hide~2"
    app.toggle(key="compare_two").set_value(True).run()
    app.text_input(key="compare_pair").set_value("it sings").run()
    assert "changes" not in app.query_params
    assert TOKEN_CHANGES_UNDONE in says(app)


@pytest.mark.parametrize(
    ("linked", "note"),
    [("off~2-3", texts.BOTH_CHANGED_ONCE), ("cut~3-2_temperature~0.5~2", texts.BOTH_CHANGED)],
)
def test_changes_that_a_link_brings_are_described_in_full_and_one_click_takes_them_back(open_app: Open, linked: str, note: str):
    app = open_app("compare", text="a bird sings", changes=linked)
    changes = changes_in_full(read_interventions(linked))
    assert note.format(changes=changes) in says(app)
    app.button(key="compare_reset").click().run()
    assert "changes" not in app.query_params
    changed = open_app("compare", text="a bird sings", vary="changes", changes_b=linked)
    assert drawn_comparison(changed)[0]["titles"][:2] == [
        texts.TITLES["A"].format(side=texts.UNCHANGED_SIDE),
        texts.TITLES["B"].format(side=texts.CHANGED_SIDE.format(changes=changes)),
    ]


def test_a_chosen_word_stays_in_the_link_and_ambiguous_ones_are_distinguished(open_app: Open):
    app = open_app("compare", text="the dog saw the cat", text_b="the cat saw the dog")
    options = app.selectbox(key="compare_word_shown").options
    assert "the (word 1 of A, 4 of B)" in options
    assert "dog" in options
    app.selectbox(key="compare_word_shown").set_value((2, 5)).run()
    assert app.query_params["word"] == "3-6"
    again = open_app("compare", **app.query_params)
    assert again.selectbox(key="compare_word_shown").value == (2, 5)
    assert [text.value for text in again.text] == [text.value for text in app.text]


def test_a_link_with_nonsense_says_so_and_shows_the_usual(open_app: Open):
    app = open_app("compare", head="0-0", vary="moods", changes_b="off~0", seed_b="99", word="flies", focus="x", text="a bird")
    assert not app.exception
    for name in ("head", "vary", "changes_b", "seed_b", "word", "focus"):
        assert name in app.info[0].value
    far = open_app("compare", text="a bird", head="99-99", word="400-2", focus="500")
    assert not far.exception
    engine = catalogue.load(catalogue.DEFAULT)
    note = texts.NEAREST_HEAD.format(model=engine.title, layers=engine.info.num_layers, heads=engine.info.num_heads)
    assert note in says(far)


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
            assert row["B − A"] == pytest.approx(row["B"] - row["A"], abs=1e-7)
    assert {np.float32(row["A"]) for row in rows if row["A"] is not None} == set(found.one.ravel())
    read = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert [row["query"] for row in read] == [row["query"] for row in rows]
    assert all(row["query"][0].isdigit() for row in read)


def test_a_words_similarities_are_saved_as_they_were_computed(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    made: list[Export] = []
    monkeypatch.setattr(menu, "show_data", lambda _page, export: made.append(export))
    opened(open_app("compare", **BIRD, word="4-4"), "compare", texts.WORD_EXPORT, DATA)
    (export,) = made
    drawn = unpacked(export.figure())[0]["charts"][0]["series"][0]["values"]
    table = json.loads(export.data[0].files["json"](export.source))["table"]
    column = texts.SIMILARITY_COLUMNS["word"].format(word=export.about["word"])
    assert [np.float32(row[column]) for row in table] == [np.float32(value) for value in drawn]


def test_a_table_too_long_to_show_names_the_largest_differences_and_its_file_holds_all(open_app: Open, monkeypatch):
    monkeypatch.setattr(drawings, "MAX_LINK_ROWS", 7)
    app = open_app("compare", **BIRD)
    app.session_state["compare_table"] = True
    app.run()
    header, (_, _, difference) = drawn_comparison(app)
    (shown,) = [element.value for element in app.dataframe]
    largest = np.sort(np.abs(difference).ravel())[::-1][:7]
    np.testing.assert_allclose(shown["B − A"].abs(), largest, atol=1e-3)
    links = len(header["rows"]) ** 2 - 2  # between "small" and "loudly", of which neither has both
    assert texts.TABLE_CUT.format(all=links, shown=7) in says(app)
