"""A reader's changes: the same in the session, in a link and in the core."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.panels.changes import (
    MAX_CHANGES,
    Change,
    StackNames,
    added,
    in_words,
    interventions,
    read_changes,
    without,
    write_changes,
)
from tx_core.transformer.interventions import UNCHANGED, Interventions

numbers, places = st.integers(0, 9998), st.integers(0, 999_998)
heads = st.tuples(numbers, st.none() | numbers)
scopes = st.just((None, None)) | heads
change = st.one_of(
    st.builds(lambda kind, at: Change(kind, *at), st.sampled_from(["off", "even"]), heads),
    st.builds(lambda at, place: Change("hide", *at, places=(place,)), scopes, places),
    st.builds(lambda at, query, key: Change("cut", *at, places=(query, key)), scopes, places, places),
    st.builds(
        lambda layer, value: Change("temperature", layer, value=value),
        st.none() | numbers,
        st.floats(0.01, 100).filter(lambda value: value != 1),
    ),
    st.builds(lambda kind, layer: Change(kind, layer), st.sampled_from(["sparse", "hard"]), st.none() | numbers),
)


@st.composite
def several(draw: st.DrawFn) -> tuple[Change, ...]:
    found: tuple[Change, ...] = ()
    for new in draw(st.lists(change, max_size=12)):
        found = added(found, new)
    return found


@given(changes=several())
def test_what_is_written_into_a_link_is_read_back_the_same(changes):
    written = write_changes(changes)
    assert read_changes(written) == changes
    assert not set(written) - set("abcdefghijklmnopqrstuvwxyz0123456789-_~.")


@given(changes=several())
def test_the_core_is_told_every_change_and_can_make_sense_of_it(changes):
    asked = interventions(changes)
    told = sum(len(getattr(asked, name)) for name in asked.__dataclass_fields__)
    assert told == len(changes)
    assert (asked == UNCHANGED) == (not changes)


@given(written=st.text(alphabet="offhidecutevntmpraus0123456789-_~.", max_size=40) | st.text(max_size=20))
def test_nonsense_is_a_value_error_or_means_what_it_says(written: str):
    try:
        found = read_changes(written)
    except ValueError:
        return
    assert read_changes(write_changes(found)) == found


@pytest.mark.parametrize(
    "written",
    [
        "off",
        "off~0-1",
        "off~1-",
        "off~١",
        "hide",
        "hide~0",
        "cut~1",
        "cut~1-2-3",
        "temperature~0",
        "temperature~1",
        "temperature~nan",
        "temperature~1e9",
        "temperature~101",
        "temperature~2_temperature~3",
        "sparse~1_hard~1",
        "off~1-1_off~1-1",
        "_",
        "even",
        "hide~99999999",
        "sparse~1-2",
        "<script>",
        "off~1_" * MAX_CHANGES + "off~2",
    ],
)
def test_what_is_no_change_is_refused(written: str):
    with pytest.raises(ValueError, match=r"change|temperature"):
        read_changes(written)


def test_the_layers_and_heads_of_a_link_are_counted_from_1():
    link = "off~2-3_off~1_even~4-1_hide~5_hide~6~1-2_cut~4-7_temperature~0.5_hard~3"
    assert interventions(read_changes(link)) == Interventions(
        heads_off=frozenset({(1, 2), (0, None)}),
        uniform=frozenset({(3, 0)}),
        hidden_tokens=frozenset({(None, None, 4), (0, 1, 5)}),
        cut_edges=frozenset({(None, None, 3, 6)}),
        temperatures=frozenset({(None, 0.5)}),
        normalisers=frozenset({(2, "hard")}),
    )


def test_a_new_temperature_takes_the_place_of_the_old_one_and_1_takes_it_away():
    once = added((Change("off", 0, 1),), Change("temperature", value=2.0))
    assert added(once, Change("temperature", value=0.5)) == (Change("off", 0, 1), Change("temperature", value=0.5))
    assert added(once, Change("temperature", value=1.0)) == (Change("off", 0, 1),)
    assert added((Change("sparse", 2),), Change("hard", 2)) == (Change("hard", 2),)
    assert without(once, Change("off", 0, 1)) == (Change("temperature", value=2.0),)


def test_there_is_an_end_to_changes():
    full = tuple(Change("off", 0, head) for head in range(MAX_CHANGES))
    assert added(full, Change("off", 1, 0)) == full
    assert read_changes(write_changes(full)) == full


def test_changes_are_named_as_a_reader_counts_with_the_tokens_of_the_text():
    tokens = ("[CLS]", "cats", "sleep", "[SEP]")
    link = "off~2-3_even~1_hide~2_hide~2~1-2_cut~3-2_temperature~0.5~2_sparse_hide~9"
    assert [in_words(one, [StackNames("self", 3, tokens, tokens)]) for one in read_changes(link)] == [
        "Layer 2, head 3 off",
        "Layer 1 even",
        "“cats” (2) hidden",
        "“cats” (2) hidden in layer 1, head 2",
        "“sleep” (3) ↛ “cats” (2)",
        "Temperature 0.5 in layer 2",
        "Sparse attention",
        "token 9 hidden",
    ]


def test_where_a_model_has_several_stacks_the_stack_is_named_and_its_own_layers_are_counted():
    text, written = ("the", "dog"), ("<s>", "der")
    stacks = [
        StackNames("self", 2, text, text),
        StackNames("decoder", 3, written, written),
        StackNames("cross", 3, written, text),
    ]
    link = "off~2-1_off~3-1_cut~2-2~5_cut~2-2~6-4_hide~2"
    assert [in_words(one, stacks) for one in read_changes(link)] == [
        "Layer 2, head 1 (encoder) off",
        "Layer 1, head 1 (decoder) off",
        "“der” (2) ↛ “der” (2) in layer 3 (decoder)",
        "“der” (2) ↛ “dog” (2) in layer 1, head 4 (cross-attention)",
        "“dog” (2) hidden",
    ]
