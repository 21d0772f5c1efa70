"""Changes on the page of blanks: the prediction before and after them, and a scan of what each head does to it."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.fill_mask import head_scan, texts
from pages.fill_mask.predictions import describe_shift, note
from pages.ui.panels.predictions import word_label
from pages.ui.shell.numbers import percent
from tests.support.drawings import says, walls
from tests.support.drawn_bars import bars_told
from tx_core.engine import catalogue
from tx_core.fill_mask.head_scan import Scan
from tx_core.fill_mask.prediction_shift import shift_predictions
from tx_core.fill_mask.predictions import predict
from tx_core.transformer.interventions import Intervention, read_interventions

Open = Callable[..., AppTest]
BLANK = "The old man saw a ___ in the house."


def test_a_blank_shows_its_prediction_before_and_after_with_ranks(open_app: Open):
    app = open_app("fill_mask", text=BLANK, changes="off~1_hide~3", listed="5")
    assert not app.exception
    found = shift_predictions(catalogue.load(catalogue.DEFAULT), BLANK, read_interventions("off~1_hide~3"), top_k=5).blanks[0]
    (told,) = bars_told(app)[texts.CHANGE_TITLE]
    assert told.startswith(f"{word_label(found.moved[0].prediction)} {percent(found.moved[0].before)} → ")
    for moved in found.moved:
        assert told.count(f" → {percent(moved.after)}  {note(moved)}")
    assert describe_shift(found) in says(app)
    assert predict(catalogue.load(catalogue.DEFAULT), BLANK).blanks[0].predictions[0].word in bars_told(app)[texts.TOP_WORDS][0]


def test_words_without_the_changes_are_headed_as_such(open_app: Open):
    for address in ({"text": BLANK}, {"text": BLANK, "compare": "1", "second": "A ___ sings."}):
        assert texts.WITHOUT_CHANGES not in says(open_app("fill_mask", **address))
        app = open_app("fill_mask", **address, changes="off~1")
        assert says(app).count(texts.WITHOUT_CHANGES) == 1
        app.button(key="fill_mask_changes_reset").click().run()
        assert texts.WITHOUT_CHANGES not in says(app)


def test_notes_say_who_rose_fell_came_and_went():
    engine = catalogue.load(catalogue.DEFAULT)
    found = shift_predictions(engine, BLANK, [Intervention("temperature", value=5.0)], top_k=8).blanks[0].moved
    for moved in found:
        told = note(moved)
        if not moved.listed_before:
            assert told == f"new, was no. {moved.rank_before:,}"
        elif not moved.listed_after:
            assert told == f"gone, now no. {moved.rank_after:,}"
        else:
            climbed = moved.rank_before - moved.rank_after
            assert told == ("=" if not climbed else f"{'↑' if climbed > 0 else '↓'}{abs(climbed)}")


def scanned(open_app: Open, **address: str) -> AppTest:
    app = open_app("fill_mask", text=BLANK, **address)
    app.session_state["fill_mask_scan_opened"] = True
    app.run()
    return app.button(key="fill_mask_scan_start").click().run()


def test_a_scan_is_drawn_as_a_wall_of_all_heads_with_what_each_does(open_app: Open):
    app = scanned(open_app)
    assert not app.exception
    found = Scan(catalogue.load(catalogue.DEFAULT), BLANK).run()
    sent = [drawn_wall for drawn_wall in walls(app) if drawn_wall[0]["scale"] == "difference"]
    ((header, cells),) = sent
    assert (header["layers"], header["heads"]) == found.change.shape
    limit = float(header["ends"][2].strip("+%")) / 100
    np.testing.assert_array_equal(cells, head_scan.cells(found.change, limit).ravel())
    assert abs(found.change).max() <= limit
    share = percent(float(found.after[0, 0]))
    assert header["notes"][0][0] == texts.SCAN_NOTE.format(share=share, word=found.first_words[0][0])
    assert head_scan.in_words(found) in says(app)


def test_a_long_scan_runs_in_the_background_and_is_drawn_at_its_end(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    from tx_core.fill_mask import predictions

    monkeypatch.setattr(predictions, "ROWS_AT_ONCE", 5)
    text = "A long ___ of many runs."
    app = open_app("fill_mask", text=text)
    app.session_state["fill_mask_scan_opened"] = True
    app.run()
    app.button(key="fill_mask_scan_start").click().run()
    for _ in range(100):
        if any(header["scale"] == "difference" for header, _ in walls(app)):
            break
        app.run()
    assert not app.exception
    ((header, _),) = [wall for wall in walls(app) if wall[0]["scale"] == "difference"]
    assert header["notes"][0][0].endswith(Scan(catalogue.load(catalogue.DEFAULT), text).run().first_words[0][0])


def test_a_scan_that_is_stopped_leaves_no_wall_and_can_begin_again(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    from tx_core.fill_mask import predictions

    monkeypatch.setattr(predictions, "ROWS_AT_ONCE", 1)
    app = open_app("fill_mask", text="A stopped ___ of " + "very " * 90 + "many runs.")
    app.session_state["fill_mask_scan_opened"] = True
    app.run()
    app.button(key="fill_mask_scan_start").click().run()
    app.button(key="fill_mask_scan_stop").click().run()
    for _ in range(3):
        assert not app.exception
        assert not [header for header, _ in walls(app) if header["scale"] == "difference"]
        assert "fill_mask_scan_stop" not in [button.key for button in app.button]
        assert app.button(key="fill_mask_scan_start").label == texts.SCAN_START
        app.run()


def test_what_scan_cells_show_is_the_change_around_the_middle():
    cells = head_scan.cells(np.array([[-0.5, 0.0, 0.5], [0.125, -0.125, 0.02]]), 0.5)
    assert cells.shape == (2, 3, 1, 1)
    assert cells[..., 0, 0].tolist() == [[1, 128, 255], [192, 64, 153]]
