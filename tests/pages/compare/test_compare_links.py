"""A comparison in its link: what it brings back, and what it cannot."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages.compare import texts
from pages.compare.state import FIELDS, MAX_UNTRAINED_MODELS, VARIES
from pages.ui.panels.view_options import SCALES
from pages.ui.shell.address import parse_view
from tests.support.drawings import says
from tx_core.engine import catalogue
from tx_core.transformer.interventions import read_interventions

Open = Callable[..., AppTest]
CHANGES = ((), read_interventions("off~1"), read_interventions("off~2-3_hide~2"))
HEADS = st.tuples(st.integers(0, 99), st.none() | st.integers(0, 99))
VALUES = {
    "text": st.text(max_size=20),
    "pair": st.text(max_size=20),
    "model": st.just("embedded"),
    "head": HEADS,
    "seed": st.integers(0, MAX_UNTRAINED_MODELS),
    "changes": st.sampled_from(CHANGES),
}
LOOKS = {
    "vary": st.sampled_from(list(VARIES)),
    "two": st.booleans(),
    "nospecial": st.booleans(),
    "hide": st.booleans(),
    "scale": st.sampled_from(SCALES),
    "focus": st.none() | st.integers(0, 500),
    "word": st.none() | st.tuples(st.integers(0, 500), st.integers(0, 500)),
}


def test_a_chosen_word_stays_in_the_link_and_ambiguous_ones_are_told_apart(open_app: Open):
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


@given(st.fixed_dictionaries({f"{name}{end}": values for name, values in VALUES.items() for end in ("", "_b")} | LOOKS))
def test_state_to_link_to_state_loses_nothing(state: dict[str, object]):
    asked = {field.name: field.write(state[field.name]) for field in FIELDS if state[field.name] != field.default}
    values, wrong = parse_view(FIELDS, asked)
    assert not wrong
    assert values == state
