"""The export of a map is what is on the screen: files and code hold its numbers, tokens and words."""

import io
import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.export import menu, texts
from pages.ui.export.attention import attention_export, saved_weights
from pages.ui.stage.browser_texts import CAPTION
from pages.ui.stage.texts import NONE_ADDED
from tests.support.exports import map_of_page
from tests.support.messages import name_in_head
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

Open = Callable[..., AppTest]
HOSTILE = "</script><script>alert(1)</script> <!-- &amp; ]]> \"quoted\" 'single' \u202eabc"


def opened(app: AppTest, form: str = texts.DATA) -> AppTest:
    """The attention page with one form of its export open."""
    app.session_state["attention_export"] = True
    app.session_state["attention_export_form"] = form
    return app.run()


def test_nothing_is_made_before_it_is_asked_for(open_app: Open):
    app = open_app(text="time flies")
    assert not app.get("download_button")


@pytest.mark.parametrize("form", [texts.DATA, texts.CODE])
def test_every_form_opens(open_app: Open, form: str):
    app = opened(open_app(text=HOSTILE, pair=HOSTILE), form)
    assert not app.exception
    assert len(app.get("download_button")) == {texts.DATA: 3, texts.CODE: 0}[form]


def test_a_file_name_holds_nothing_but_plain_letters():
    names = {map_of_page("embedded", "a", heads=heads).file_name for heads in (((0, 0),), ((0, 0), (1, 1)))}
    assert names == {"attention-embedded-layer1-head1", "attention-embedded-mean-of-2-heads"}


def test_a_file_of_what_is_shown_holds_its_numbers_and_one_of_all_every_head():
    shown = map_of_page("embedded", "time flies like an arrow", words=True, hide=True, heads=((1, 2), (0, 4)))
    one, every = (saved_weights(shown, everything, {}) for everything in (False, True))
    np.testing.assert_array_equal(one.weights, shown.weights[None])
    assert one.maps == (((2, 3), (1, 5)),)
    assert one.keys == ("time", "flies", "like", "an", "arrow")
    place = every.maps.index(((2, 3),))
    np.testing.assert_array_equal(every.weights[place], shown.view.weights[1, 2])
    assert len(every.maps) == shown.view.weights.shape[0] * shown.view.weights.shape[1]
    assert CAPTION["merged"] in every.notes


def test_the_files_of_a_changed_run_hold_it_before_after_and_the_difference(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    seen, show = [], menu.show_data
    monkeypatch.setattr(menu, "show_data", lambda page, export: (seen.append(export), show(page, export)))
    opened(open_app(text="time flies like", heads="3-2", changes="off~1-2"), texts.DATA)
    (export,), engine = seen, catalogue.load("embedded")
    change = [Intervention("off", 0, 1)]
    before, after = (engine.trace("time flies like", interventions=made).attention.weights for made in ((), change))
    chosen = (before[2, 1], after[2, 1])
    every = [weights.reshape(-1, *weights.shape[-2:]) for weights in (before, after)]
    for data, (was, now) in zip(export.data, (chosen, every), strict=True):
        entries = json.loads(data.files["json"](export.source))
        assert name_in_head("off", 1, 2) in entries["changes"]
        found = [np.array(entries[name], np.float32).reshape(now.shape) for name in ("before", "after", "difference")]
        for numbers, expected in zip(found, (was, now, now - was), strict=True):
            np.testing.assert_array_equal(numbers, expected)


def test_every_file_says_that_the_text_was_read_without_special_tokens():
    plain, bare = (map_of_page("embedded", "time flies", special=special) for special in (True, False))
    export = attention_export(bare)
    assert "special_tokens" not in attention_export(plain).source
    for data in export.data:
        files = {form: write(export.source) for form, write in data.files.items()}
        about = str(np.load(io.BytesIO(files["npz"]))["about"])
        assert all(NONE_ADDED in text for text in (files["csv"].decode("utf-8-sig"), files["json"].decode(), about))
