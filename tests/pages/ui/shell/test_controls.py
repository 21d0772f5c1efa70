"""Controls give plain values that can be used, whatever the session or a link holds."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages.ui.shell import texts as shell_texts
from pages.ui.shell.fields import choice_field, flag_field, number_field, parse_view, text_field
from pages.ui.stage import view_options
from tx_core.engine import catalogue

FIELDS = (text_field("text", "hello"), *view_options.view_fields([(0, 1)]))


@given(st.dictionaries(st.sampled_from([field.name for field in FIELDS]), st.text(string.printable + "٣²💥")))
def test_an_address_of_nonsense_gives_values_that_can_be_used_and_names_the_rest(asked: dict):
    values, wrong = parse_view(FIELDS, asked)
    for field in FIELDS:
        if field.name in wrong or field.name not in asked:
            assert values[field.name] == field.default
        else:
            assert field.read(field.write(values[field.name])) == values[field.name]


@pytest.mark.parametrize(
    ("field", "written"),
    [
        (flag_field("words"), "yes"),
        (number_field("lines", 5, 1, 9), "10"),
        (number_field("lines", 5, 1, 9), "٣"),
        (choice_field("show", ("a", "b")), "c"),
        *((FIELDS[2], wrong) for wrong in ("", "1", "0-1", "1-1_", "1-1_1-1", "-1-2", "1-1-1", "١-١", "<b>1-1</b>", "1-1001")),
        *((FIELDS[-1], wrong) for wrong in ("0", "-1", "1.5", "9999999", "x", "٣", "²")),
    ],
)
def test_what_makes_no_sense_is_refused(field, written: str):
    with pytest.raises(ValueError, match=r"\w"):
        field.read(written)


def model_page() -> None:
    import streamlit as st

    from pages.ui.shell import controls

    st.text(controls.model("model"))


@pytest.mark.parametrize(("any_model", "used"), [(0, "embedded"), (1, "someone/model")])
def test_a_model_of_the_hub_that_is_not_on_offer_is_taken_only_where_the_host_allows_it(host, any_model: int, used: str):
    host(any_model=any_model)
    app = AppTest.from_function(model_page, default_timeout=240)
    app.session_state["model"] = "someone/model"
    assert app.run().text[0].value == used


@pytest.mark.parametrize("any_model", [0, 1])
def test_models_that_cannot_be_had_here_are_marked_and_the_label_of_an_older_list_is_understood(
    host, monkeypatch: pytest.MonkeyPatch, any_model: int
):
    host(any_model=any_model)
    reach = catalogue.hub_reach
    monkeypatch.setattr(reach, "out_of_reach", lambda: reach.missing)
    monkeypatch.setattr(reach, "missing", frozenset({"gpt2"}))
    marked = shell_texts.MODEL_OUT_OF_REACH.format(model="GPT-2 small")
    app = AppTest.from_function(model_page, default_timeout=240).run()
    assert {title for title in app.selectbox[0].options if title.endswith(")")} == {marked, "Tiny BERT (built in)"} | {
        card.title for card in catalogue.catalogue() if card.title.endswith(")")
    }
    assert app.selectbox[0].select("gpt2").run().text[0].value == "gpt2"
    monkeypatch.setattr(reach, "missing", frozenset())
    assert app.run().text[0].value == "gpt2"
    assert marked not in app.selectbox[0].options
    app = AppTest.from_function(model_page, default_timeout=240)
    app.session_state["model"] = marked  # as a browser may send it that still shows an older list
    assert app.run().text[0].value == "gpt2"
