"""What is chosen within bertviz's drawing: a line from the frame is read strictly, and a link brings every choice back."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pages.bertviz_page.choice import FIELDS, MAX_CHOICE_CHARACTERS, Extent, choice_line, read_choice, read_heads
from tx_core.engine import catalogue
from tx_core.transformer.trace import AttentionStack

EXTENT = Extent(range(4), 5, 3, 7)
VIEWS = ("head", "model", "neuron")
DEFAULTS = {field.name: field.default for field in FIELDS}
NONSENSE = (
    None,
    7,
    b"layer=1",
    ["layer=1"],
    {"layer": 1},
    "layer",
    "layer=",
    "layer=1&",
    "&layer=1",
    "layer=1&layer=2",
    "layer=1=1",
    "layer=4",
    "layer=-1",
    "layer=01234",
    "layer=1.0",
    "layer=1e0",
    "layer= 1",
    "layer=\u0661",
    "layer=1\n",
    "LAYER=1",
    "layer=0_1",
    "head=5",
    "heads=5",
    "heads=0_",
    "heads=_",
    "heads=0_0_9",
    "heads=0&heads=1",
    "filter=3",
    "token=7",
    "text=1",
    "__proto__=1",
    "layer=<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "heads=" + "_".join("0" * MAX_CHOICE_CHARACTERS),
)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("told", NONSENSE, ids=lambda told: repr(told)[:40])
def test_nonsense_from_a_frame_is_no_choice(view: str, told: object):
    assert read_choice(view, told, EXTENT) is None


@given(some.sampled_from(VIEWS), some.text() | some.from_regex(r"(layer|heads?|filter|token)=[0-9_]{0,4}(&[a-z]+=[0-9_]+)*"))
def test_whatever_a_frame_tells_nothing_is_chosen_but_what_is_there(view: str, told: str):
    chosen = DEFAULTS | (read_choice(view, told, EXTENT) or {})
    assert chosen.keys() == DEFAULTS.keys()
    assert chosen["layer"] - 1 in EXTENT.layers
    assert 1 <= chosen["head"] <= EXTENT.heads
    assert set(chosen["heads"]) < set(range(1, EXTENT.heads + 1))
    assert 1 <= chosen["filter"] <= EXTENT.filters
    assert 0 <= chosen["token"] <= EXTENT.tokens


@some.composite
def choices(draw: some.DrawFn) -> tuple[str, Extent, dict[str, object]]:
    """A view, what there is to choose from, and fields that hold a choice from it."""
    heads, filters, tokens = (draw(some.integers(1, most)) for most in (16, 5, 40))
    layers = draw(some.integers(0, 20))
    extent = Extent(range(layers, layers + draw(some.integers(1, 24))), heads, filters, tokens)
    on = draw(some.sets(some.integers(1, heads), max_size=heads - 1))
    chosen = {
        "layer": draw(some.sampled_from(extent.layers)) + 1,
        "head": draw(some.integers(1, heads)),
        "heads": tuple(sorted(on)),
        "filter": draw(some.integers(1, filters)),
        "enlarged": draw(some.booleans()),
        "token": draw(some.integers(0, tokens)),
    }
    return draw(some.sampled_from(VIEWS)), extent, chosen


@given(choices())
def test_what_a_drawing_begins_with_is_what_it_tells_and_a_link_brings_it_back(choice):
    view, extent, chosen = choice
    line = choice_line(view, chosen, extent)
    told = chosen | read_choice(view, line, extent)
    assert choice_line(view, told, extent) == line
    assert told == chosen
    written = {field.name: field.write(told[field.name]) for field in FIELDS if told[field.name] != field.default}
    assert DEFAULTS | {field.name: field.read(written[field.name]) for field in FIELDS if field.name in written} == chosen


def test_a_choice_of_each_view_in_words():
    chosen = {"layer": 3, "head": 2, "heads": (1, 4), "filter": 2, "enlarged": True, "token": 5}
    lines = [choice_line(view, chosen, EXTENT) for view in VIEWS]
    assert lines == ["layer=2&heads=0_3&filter=1", "layer=2&head=1&filter=1", "layer=2&head=1&token=4"]
    assert choice_line("model", chosen | {"enlarged": False, "filter": 1}, EXTENT) == ""
    assert read_choice("model", "", EXTENT) == {"filter": 1, "enlarged": False}


def test_what_another_model_lacks_gives_way_to_the_last_that_is_there_or_to_nothing():
    chosen = {"layer": 12, "head": 12, "heads": (2, 12), "filter": 5, "enlarged": True, "token": 90}
    lines = [choice_line(view, chosen, EXTENT) for view in VIEWS]
    assert lines == ["layer=3&heads=1", "layer=3&head=4", "layer=3&head=4"]
    assert choice_line("head", chosen | {"heads": (9, 12)}, EXTENT) == "layer=3"
    assert choice_line("neuron", chosen, Extent(range(7, 8), 2, 1, 3)) == "layer=7&head=1"


@pytest.mark.parametrize("written", ["", "0", "1_", "2_1", "1_1", "1-2", "1_1001", "\u0661", "all"])
def test_heads_in_a_link_are_written_once_and_in_order(written: str):
    with pytest.raises(ValueError, match="must be written like"):
        read_heads(written)


def test_what_there_is_to_choose_from():
    one, two = (catalogue.load("embedded").trace("time flies", pair).attention for pair in (None, "fruit flies"))
    layers, heads = one.weights.shape[:2]
    assert Extent.of([one], None) == Extent(range(layers), heads, 1, len(one.query_tokens))
    assert Extent.of([two], 2) == Extent(range(2, 3), heads, 5, len(two.query_tokens))
    decoder, cross = (AttentionStack(**vars(two) | {"kind": kind}) for kind in ("decoder", "cross"))
    assert [Extent.of(stacks, None).filters for stacks in ([two, decoder, cross], [decoder])] == [3, 1]
