"""The view of every page in its link: state to link to state, whatever the state."""

import functools
import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages import contents
from pages.contents import PAGES
from pages.ui.shell.fields import Field, format_view, parse_view
from tests.support.serving import ROOT

WITH_STATE = [page.key for page in PAGES if page.computes]
"""The pages that hold anything of a visitor's; the words are the same for all."""
WRITTEN = (
    *("1", "2", "7", "64", "0.01", "0.25", "2.5", "1-2", "3-4", "1-2_3-4", "1-2-3", "0-3-5", "surest-2", "hand-2-1"),
    *("off~1-2", "off~2_hide~3_cut~1-2~2", "temperature~0.5_sparse~1", "weights-2-3", "scores-1-2", "result-1-1"),
    *("bert-base-uncased", "gpt2", "3-iIA", "10_0_0_1_0_0~0_10_0_10_0_0~0_0_10_100_5_0"),
)
"""Links' words for what is not one of a few names: every field that such words are for takes some of these."""


@functools.cache
def fields_of(page: str) -> tuple[Sequence[Field], Mapping[str, object]]:
    """Open a page and give the fields that it reads, and what its first view says of them."""
    app = AppTest.from_file(ROOT / "pages" / "main.py", default_timeout=240)
    app._page_hash = calc_hash(contents.page(page).address or page)
    app.run()
    assert not app.exception
    view = app.session_state[f"{page}_view"]
    return view.fields.all, view.fields.first


def values_of(field: Field) -> list[object]:
    """Return values that a field takes: all of a few names, both ends of a range, else those of WRITTEN that it understands."""
    why = _refused(field)
    names, ends = re.fullmatch("must be one of (.*)", why), re.fullmatch("must be a whole number from (.*) to (.*)", why)
    words = names[1].split(", ") if names else ends.groups() if ends else WRITTEN
    return [field.default, *(field.read(word) for word in words if _takes(field, word))]


@functools.cache
def states(page: str) -> st.SearchStrategy[dict[str, object]]:
    """Draw views: the first, or any text for a text and for all else what the field takes."""
    fields, first = fields_of(page)
    any_view = st.fixed_dictionaries(
        {field.name: st.text(max_size=20) if field.read is str else st.sampled_from(values_of(field)) for field in fields}
    )
    return st.just({field.name: field.default for field in fields} | dict(first)) | any_view


@pytest.mark.parametrize("page", WITH_STATE)
@settings(max_examples=50)
@given(data=st.data())
def test_state_to_link_to_state_loses_nothing(page: str, data: st.DataObject):
    fields, first = fields_of(page)
    state = data.draw(states(page))
    asked = format_view(fields, state, first)
    values, wrong = parse_view(fields, asked)
    assert not wrong
    assert values | (dict(first) if not asked else {}) == state


@pytest.mark.parametrize("page", WITH_STATE)
def test_every_field_is_tried_with_more_than_its_default(page: str):
    fields, _ = fields_of(page)
    names = [field.name for field in fields if field.read is not str and len(set(map(repr, values_of(field)))) < 2]
    assert names == (["kind"] if page == "classifier" else [])  # a classifier has one kind of attention


def _refused(field: Field) -> str:
    for word in ("no such value", "-1"):
        try:
            field.read(word)
        except ValueError as error:
            if str(error).startswith("must be"):
                return str(error)
    return ""


def _takes(field: Field, word: str) -> bool:
    try:
        field.read(word)
    except ValueError:
        return False
    return True
