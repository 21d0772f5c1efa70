"""The export of a map is what is on the screen: files and code hold its numbers, tokens and words."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.export import texts
from pages.ui.export.attention import saved_weights
from pages.ui.stage.browser_texts import CAPTION
from tests.support.exports import map_of_page

Open = Callable[..., AppTest]
HOSTILE = "</script><script>alert(1)</script> <!-- &amp; ]]> \"quoted\" 'single' \u202eabc"


def opened(app: AppTest, form: str = texts.DATA) -> AppTest:
    """The attention page with one form of its export open."""
    app.session_state["attention_export"] = True
    app.session_state["attention_export_form"] = form
    return app.run()


@pytest.mark.parametrize("form", [texts.DATA, texts.CODE])
def test_every_form_opens(open_app: Open, form: str):
    app = opened(open_app(text=HOSTILE, pair=HOSTILE), form)
    assert not app.exception
    assert len(app.get("download_button")) == {texts.DATA: 3, texts.CODE: 0}[form]


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
