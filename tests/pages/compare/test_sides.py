"""A and B on the page of comparisons: pinned, swapped, and run with changes of their own."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.compare import texts
from pages.compare.controls import changes_in_full, name_changes
from pages.compare.state import PARTS, VARIES
from pages.ui.panels.texts import TOKEN_CHANGES_UNDONE
from tests.support.changes import name_everywhere, name_in_head
from tests.support.drawings import says
from tests.support.drawn_comparison import BIRD, drawn_comparison
from tx_core.transformer.interventions import read_interventions

Open = Callable[..., AppTest]


def test_pinning_makes_a_what_b_is_and_nothing_differs_until_b_changes(open_app: Open):
    app = open_app("compare", **BIRD, focus="2", word="4-4")
    app.button(key="compare_pin").click().run()
    assert app.text_input(key="compare_text").value == app.text_input(key="compare_text_b").value == BIRD["text_b"]
    assert texts.SAME_SIDES in says(app)
    assert app.session_state["compare_focus"] is app.session_state["compare_word"] is None
    app.text_input(key="compare_text_b").set_value("a bird sang").run()
    assert drawn_comparison(app)[0]["labels"] == ["[CLS]", "a", "bird", "sings", "loudly", "sang", "[SEP]"]


def test_swapping_twice_changes_nothing(open_app: Open):
    app = open_app("compare", **BIRD)
    header, (one, other, difference) = drawn_comparison(app)
    app.button(key="compare_swap").click().run()
    swapped, (new_one, new_other, turned) = drawn_comparison(app)
    np.testing.assert_array_equal(one, new_other)
    np.testing.assert_array_equal(other, new_one)
    assert swapped["one"] == header["other"]
    assert turned.sum() == pytest.approx(-difference.sum(), abs=1e-9)
    app.button(key="compare_swap").click().run()
    assert drawn_comparison(app)[0] == header
    assert app.query_params == BIRD


@pytest.mark.parametrize("vary", VARIES)
def test_swapping_exchanges_whatever_varies(open_app: Open, vary: str):
    every = {"text": "a bird", "text_b": "a cat", "head": "2-3", "head_b": "1-4", "seed_b": "2", "changes_b": "off~1"}
    app = open_app("compare", vary=vary, **every)
    one, other = compare_state_of(app)
    app.button(key="compare_swap").click().run()
    assert compare_state_of(app) == (other, one)


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


def test_what_is_switched_off_bears_a_name():
    assert name_changes(()) == texts.NOTHING
    assert name_changes(read_interventions("off~1")) == "All heads of layer 1"
    assert name_changes(read_interventions("off~2-3")) == "Layer 2, head 3"
    assert name_changes(read_interventions("off~2-3_hide~5")) == (
        f"{name_in_head('off', 2, 3)}; {name_everywhere('hidden', key='token 5')}"
    )


@pytest.mark.parametrize(
    ("linked", "note"),
    [
        ("off~2-3", texts.BOTH_CHANGED_ONCE),
        ("hide~2~4-5", texts.BOTH_CHANGED_ONCE),
        ("cut~3-2_temperature~0.5~2", texts.BOTH_CHANGED),
    ],
)
def test_changes_that_a_link_brings_are_told_in_full_and_one_click_takes_them_back(open_app: Open, linked: str, note: str):
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
