"""The page of comparisons: what varies is what differs, everything else is shared, and a link brings all of it back."""

import csv
import io
import json
from collections.abc import Callable

import numpy as np
import pytest
from drawn_lines import drawn_lines
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages.ui import compare_examples, compare_maps, compare_state
from pages.ui.address import understand
from pages.ui.changes import PLACES_TAKEN_BACK
from pages.ui.compare_controls import name_changes
from pages.ui.compare_maps import as_csv
from pages.ui.compare_state import FIELDS, FIRST_TEXT, VARIES
from tx_core import models
from tx_core.comparison import compare
from tx_core.interventions import Interventions
from tx_core.untrained import untrained_engine
from tx_core.views import view
from tx_core.word_alignment import spellings

Open = Callable[..., AppTest]
FIRST = compare_examples.curated()[0]
BIRD = {"text": "a small bird sings", "text_b": "a bird sings loudly", "head": "2-3"}
CHANGES = ((), compare_state.changes.read_changes("off~1"), compare_state.changes.read_changes("off~2-3_hide~2"))
HEADS = st.tuples(st.integers(0, 99), st.none() | st.integers(0, 99))
VALUES = {
    "text": st.text(max_size=20), "pair": st.text(max_size=20), "model": st.just("embedded"), "head": HEADS,
    "seed": st.integers(0, compare_state.MOST_SEEDS), "changes": st.sampled_from(CHANGES),
}  # fmt: skip
LOOKS = {
    "vary": st.sampled_from(list(VARIES)), "two": st.booleans(), "hide": st.booleans(),
    "scale": st.sampled_from(compare_state.SCALES), "focus": st.none() | st.integers(0, 500),
    "word": st.none() | st.tuples(st.integers(0, 500), st.integers(0, 500)),
}  # fmt: skip


def sent(app: AppTest) -> tuple[dict, list[np.ndarray]]:
    """What the maps were sent: the header, and the numbers of A, of B and of B − A."""
    (message,) = [
        element.proto.bytes for element in app.get("bidi_component") if element.proto.component_name.endswith("_comparison")
    ]
    end = 4 + int.from_bytes(message[:4], "little")
    header = json.loads(message[4:end])
    cells = np.frombuffer(message[end:], "<u2").astype(float)
    sizes = [len(header[name]) for name in ("one", "other", "labels")]
    ends = np.cumsum([size**2 for size in sizes])
    one, other, difference = (part.reshape(size, size) for part, size in zip(np.split(cells, ends[:-1]), sizes, strict=True))
    root = (difference - 32768) / 32767
    return header, [(one / 65535) ** 2, (other / 65535) ** 2, np.sign(root) * root**2]


def says(app: AppTest) -> str:
    """All that the page says in plain text, notes and warnings."""
    return "\n".join(element.value for kind in (app.text, app.caption, app.info, app.warning, app.markdown) for element in kind)


def expected(one: tuple, other: tuple, *, hide: bool = False) -> list[np.ndarray]:
    """A, B and B − A outside any page; each side is an engine, a text, heads and interventions."""
    runs = [engine.trace(text, interventions=changes) for engine, text, _, changes in (one, other)]
    views = [view(run.attention, merge_words=True, hide_special=hide) for run in runs]
    spelled = [
        spellings(run.attention.query_tokens, shown.query_places) for run, shown in zip(runs, views, strict=True)
    ]
    chosen = zip(views, (one[2], other[2]), strict=True)
    weights = [np.mean([shown.weights[head] for head in heads], axis=0) for shown, heads in chosen]
    return [*weights, compare(*views, *spelled, *weights).difference]


def engine():
    return models.load(models.DEFAULT)


def check(app: AppTest, one: tuple, other: tuple, *, hide: bool = False) -> None:
    assert not app.exception
    for shown, numbers in zip(sent(app)[1], expected(one, other, hide=hide), strict=True):
        np.testing.assert_allclose(shown, numbers, atol=1e-4)


def test_on_arrival_two_kinds_of_flies_are_compared(open_app: Open):
    app = open_app("compare")
    assert app.query_params == {}
    assert app.pills(key="compare_example").value == FIRST.title
    assert FIRST.notice in says(app)
    header, _ = sent(app)
    assert header["labels"] == ["[CLS]", "time", "fruit", "flies", "like", "an", "arrow", "a", "banana", "[SEP]"]
    assert header["rows"][3] == [2, 2]
    assert header["rows"][1:3] == [[1, None], [None, 1]]
    assert "'flies' in A and in B: similarity 1.00 before the first layer" in says(app)
    heads = [FIRST.values["head"]]
    check(app, (engine(), FIRST_TEXT, heads, Interventions()), (engine(), "fruit flies like a banana", heads, Interventions()))


def test_only_what_varies_is_taken_from_b(open_app: Open):
    every = {"text": "a bird", "text_b": "a cat", "head": "2-3", "head_b": "1-4", "seed_b": "2", "changes_b": "off~1"}
    plain, bird = Interventions(), "a bird"
    one = (engine(), bird, [(1, 2)], plain)
    others = {
        "text": (engine(), "a cat", [(1, 2)], plain),
        "head": (engine(), bird, [(0, 3)], plain),
        "untrained": (untrained_engine(engine(), 2), bird, [(1, 2)], plain),
        "changes": (engine(), bird, [(1, 2)], Interventions(heads_off=frozenset({(0, None)}))),
        "model": (engine(), bird, [(0, 3)], plain),
    }
    for vary, other in others.items():
        check(open_app("compare", vary=vary, **every), one, other)


def test_the_mean_of_a_layer_is_the_mean_of_its_heads(open_app: Open):
    heads = [(1, head) for head in range(engine().num_heads)]
    side = (engine(), "a bird", heads, Interventions())
    check(open_app("compare", text="a bird", head="2"), side, side)


def test_hidden_special_tokens_are_in_no_map(open_app: Open):
    app = open_app("compare", **BIRD, hide="1")
    one, other = ((engine(), BIRD[name], [(1, 2)], Interventions()) for name in ("text", "text_b"))
    check(app, one, other, hide=True)
    assert "[CLS]" not in sent(app)[0]["labels"]


def test_an_empty_b_is_a_and_that_is_said(open_app: Open):
    app = open_app("compare", text="a bird")
    assert sent(app)[0]["one"] == sent(app)[0]["other"]
    assert "A and B are the same" in says(app)
    assert "Nothing differs" in says(app)


def test_pinning_makes_a_what_b_is_and_nothing_differs_until_b_changes(open_app: Open):
    app = open_app("compare", **BIRD, focus="2", word="4-4")
    app.button(key="compare_pin").click().run()
    assert app.text_input(key="compare_text").value == app.text_input(key="compare_text_b").value == BIRD["text_b"]
    assert "A and B are the same" in says(app)
    assert app.session_state["compare_focus"] is app.session_state["compare_word"] is None
    app.text_input(key="compare_text_b").set_value("a bird sang").run()
    assert sent(app)[0]["labels"] == ["[CLS]", "a", "bird", "sings", "loudly", "sang", "[SEP]"]


def test_swapping_twice_changes_nothing(open_app: Open):
    app = open_app("compare", **BIRD)
    header, (one, other, difference) = sent(app)
    app.button(key="compare_swap").click().run()
    swapped, (new_one, new_other, turned) = sent(app)
    np.testing.assert_array_equal(one, new_other)
    np.testing.assert_array_equal(other, new_one)
    assert swapped["one"] == header["other"]
    assert turned.sum() == pytest.approx(-difference.sum(), abs=1e-9)
    app.button(key="compare_swap").click().run()
    assert sent(app)[0] == header
    assert app.query_params == BIRD


@pytest.mark.parametrize("vary", VARIES)
def test_swapping_exchanges_whatever_varies(open_app: Open, vary: str):
    every = {"text": "a bird", "text_b": "a cat", "head": "2-3", "head_b": "1-4", "seed_b": "2", "changes_b": "off~1"}
    app = open_app("compare", vary=vary, **every)
    one, other = compare_state_of(app)
    app.button(key="compare_swap").click().run()
    assert compare_state_of(app) == (other, one)


def compare_state_of(app: AppTest) -> tuple[dict, dict]:
    """Both sides, as the session holds them."""
    varied = VARIES[app.session_state["compare_vary"]]
    one = {part: app.session_state[f"compare_{part}"] for part in compare_state.PARTS}
    return one, one | {part: app.session_state[f"compare_{part}_b"] for part in varied}


@pytest.mark.parametrize("example", compare_examples.curated(), ids=lambda example: example.title)
def test_an_example_is_wired_to_both_sides_and_differs(open_app: Open, example: compare_examples.Example):
    app = open_app("compare", text="something else", vary="head", word="9-9")
    app.pills(key="compare_example").set_value(example.title).run()
    assert not app.exception
    assert app.pills(key="compare_example").value == example.title
    assert app.session_state["compare_vary"] == example.vary
    assert example.notice in says(app)
    assert "A and B are the same" not in says(app)
    assert "The largest difference" in says(app)


def test_second_sentences_are_read_when_asked_for(open_app: Open):
    app = open_app("compare", text="time flies", pair="a bird", pair_b="a cat")
    assert "bird" not in sent(app)[0]["one"]
    app.toggle(key="compare_two").set_value(True).run()
    header, _ = sent(app)
    assert header["one"] == ["[CLS]", "time", "flies", "[SEP]", "a", "bird", "[SEP]"]
    assert header["other"] == ["[CLS]", "time", "flies", "[SEP]", "a", "cat", "[SEP]"]
    assert app.query_params["two"] == "1"


def test_a_word_is_followed_only_where_its_vectors_share_a_space(open_app: Open):
    (chart,) = drawn_lines(open_app("compare", **BIRD))
    assert chart["places"][:2] == ["embeddings", "layer 1"]
    assert drawn_lines(open_app("compare", **BIRD, vary="changes", changes_b="off~1"))
    for vary in ("head", "untrained", "model"):
        app = open_app("compare", **BIRD, vary=vary)
        assert not drawn_lines(app)
        assert ("spaces of their own" in says(app)) or ("heads of the same run" in says(app))
    assert "share no word" in says(open_app("compare", text="time", text_b="banana"))


def test_a_chosen_word_stays_in_the_link_and_ambiguous_ones_are_told_apart(open_app: Open):
    app = open_app("compare", text="the dog saw the cat", text_b="the cat saw the dog")
    options = app.selectbox(key="compare_word_shown").options
    assert "the (word 2 of A, 5 of B)" in options
    assert "dog" in options
    app.selectbox(key="compare_word_shown").set_value((2, 5)).run()
    assert app.query_params["word"] == "3-6"
    again = open_app("compare", **app.query_params)
    assert again.selectbox(key="compare_word_shown").value == (2, 5)
    assert [text.value for text in again.text] == [text.value for text in app.text]


def test_a_change_that_names_a_token_goes_with_its_sentence_and_that_is_said(open_app: Open):
    app = open_app("compare", text="a bird sings", vary="changes", changes_b="off~1-2_hide~3")
    assert (app.query_params["changes_b"], PLACES_TAKEN_BACK in says(app)) == ("off~1-2_hide~3", False)
    app.text_input(key="compare_text").set_value("some big birds sing").run()
    assert (app.query_params["changes_b"], PLACES_TAKEN_BACK in says(app)) == ("off~1-2", True)
    app.text_input(key="compare_text").set_value("a bird sings").run()
    assert (app.query_params["changes_b"], PLACES_TAKEN_BACK in says(app)) == ("off~1-2", False)


def test_a_change_that_names_a_token_stays_while_its_sentences_do(open_app: Open):
    app = open_app("compare", text="a bird sings", text_b="a cat sits", changes="cut~2-3")
    for button in ("compare_swap", "compare_pin"):
        app.button(key=button).click().run()
        assert (app.query_params["changes"], PLACES_TAKEN_BACK in says(app)) == ("cut~2-3", False)
    app.pills(key="compare_vary").set_value("head").run()
    assert app.query_params["changes"] == "cut~2-3"
    app.query_params["text"], app.query_params["changes"] = "a cat", "hide~2"  # the browser's Back
    app.run()
    assert app.query_params["changes"] == "hide~2"
    app.toggle(key="compare_two").set_value(True).run()
    app.text_input(key="compare_pair").set_value("it sings").run()
    assert "changes" not in app.query_params
    assert PLACES_TAKEN_BACK in says(app)


def test_a_link_with_nonsense_says_so_and_shows_the_usual(open_app: Open):
    app = open_app("compare", head="0-0", vary="moods", changes_b="off~0", seed_b="99", word="flies", focus="x", text="a bird")
    assert not app.exception
    for name in ("head", "vary", "changes_b", "seed_b", "word", "focus"):
        assert name in app.info[0].value
    far = open_app("compare", text="a bird", head="99-99", word="400-2", focus="500")
    assert not far.exception
    assert f"has {engine().num_layers} layers of {engine().num_heads} heads" in says(far)


@pytest.mark.parametrize(
    ("asked", "told"),
    [({"text": " "}, "There is no text yet"), ({"text_b": "word " * 2000}, "shorten it"),
     ({"vary": "changes", "changes_b": "hide~90"}, "there is no token 90")],
)  # fmt: skip
def test_a_side_that_cannot_run_says_why_and_keeps_what_was_typed(open_app: Open, asked: dict[str, str], told: str):
    app = open_app("compare", **{"text": "a bird", **asked})
    assert not app.exception
    assert told in says(app)
    assert "cannot be shown" in says(app)


def test_hostile_text_is_only_text(open_app: Open):
    hostile = "<b>x</b> [y](javascript:z) :red[q] $1$"
    app = open_app("compare", text=hostile, text_b=hostile + " again")
    assert not app.exception
    assert not any(hostile in element.value or ":red" in element.value for element in app.markdown)


def test_the_table_lists_every_link_with_both_weights_and_leaves_out_what_is_not_there(open_app: Open):
    from pages.ui.compare_maps import difference_rows

    texts = BIRD["text"], BIRD["text_b"]
    views = [view(engine().trace(text).attention, merge_words=True) for text in texts]
    spelled = [spellings(engine().encode(text), shown.query_places) for text, shown in zip(texts, views, strict=True)]
    found = compare(*views, *spelled, *(shown.weights[1, 2] for shown in views))
    rows = list(difference_rows(found))
    assert sum(row["A"] is not None for row in rows) == found.one.size
    assert sum(row["B"] is not None for row in rows) == found.other.size
    assert sum(row["A"] for row in rows if row["A"] is not None) == pytest.approx(float(found.one.sum()), abs=1e-4)
    for row in rows:
        assert (row["B − A"] is None) == (row["A"] is None or row["B"] is None)
        if row["B − A"] is not None:
            assert row["B − A"] == pytest.approx(row["B"] - row["A"], abs=2e-6)
    read = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert [row["query"] for row in read] == [row["query"] for row in rows]
    assert all(row["query"][0].isdigit() for row in read)


def test_a_table_too_long_to_show_names_the_largest_differences_and_its_file_holds_all(open_app: Open, monkeypatch):
    monkeypatch.setattr(compare_maps, "MOST_ROWS", 7)
    app = open_app("compare", **BIRD)
    app.session_state["compare_table"] = True
    app.run()
    header, (_, _, difference) = sent(app)
    (shown,) = [element.value for element in app.dataframe]
    largest = np.sort(np.abs(difference).ravel())[::-1][:7]
    np.testing.assert_allclose(shown["B − A"].abs(), largest, atol=1e-3)
    links = len(header["rows"]) ** 2 - 2  # between "small" and "loudly", of which neither has both
    assert f"Of {links} links the 7 that differ most stand here" in says(app)


@given(st.fixed_dictionaries({f"{name}{end}": values for name, values in VALUES.items() for end in ("", "_b")} | LOOKS))
def test_state_to_link_to_state_loses_nothing(state: dict[str, object]):
    asked = {field.name: field.write(state[field.name]) for field in FIELDS if state[field.name] != field.default}
    values, wrong = understand(FIELDS, asked)
    assert not wrong
    assert values == state


def test_what_is_switched_off_bears_a_name():
    read = compare_state.changes.read_changes
    assert name_changes(()) == "Nothing"
    assert name_changes(read("off~1")) == "All heads of layer 1"
    assert name_changes(read("off~2-3")) == "Layer 2, head 3"
    assert name_changes(read("off~2-3_hide~5")) == "Layer 2, head 3 off; token 5 hidden"


@pytest.mark.parametrize(
    ("linked", "told"),
    [("off~2-3", "a change: Layer 2, head 3 off."), ("hide~2~4-5", "a change: token 2 hidden in layer 4, head 5."),
     ("cut~3-2_temperature~0.5~2", "changes: token 3 ↛ token 2; Temperature 0.5 in layer 2.")],
)  # fmt: skip
def test_changes_that_a_link_brings_are_told_in_full_and_one_click_takes_them_back(open_app: Open, linked: str, told: str):
    app = open_app("compare", text="a bird sings", changes=linked)
    assert f"Both are run with {told}" in says(app)
    app.button(key="compare_reset").click().run()
    assert "changes" not in app.query_params
    changed = open_app("compare", text="a bird sings", vary="changes", changes_b=linked)
    assert sent(changed)[0]["titles"][:2] == ["A · as it is", f"B · changed: {told.partition(': ')[2][:-1]}"]


def test_in_a_long_text_that_repeats_itself_each_word_has_one_partner_to_choose(open_app: Open):
    app = open_app("compare", text="a bird and a cat " * 20, text_b="a cat and a bird " * 20)
    assert not app.exception
    options = app.selectbox(key="compare_word_shown").options
    assert 0 < len(options) <= 100
