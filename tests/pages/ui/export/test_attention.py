"""The export of a map is what is on the screen: files and code hold its numbers, tokens and words."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.export import texts
from pages.ui.export.attention import weights_table
from pages.ui.stage.browser_texts import CAPTION
from tests.support.exports import map_of_page
from tx_core.transformer.interventions import Intervention

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
