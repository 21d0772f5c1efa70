"""What A and B are: A as a page of its own would be asked, B by what differs; and the examples, which set both."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from pages.compare import texts
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    ask_for_view,
    is_offered,
    page_view,
    read_stage_address,
    set_values,
    value_of,
    widget_binding,
    widget_key,
)
from pages.ui.shell.examples import Example, offer_examples, read_examples
from pages.ui.shell.fields import Field, StageFields, check, choice_field, flag_field, number_field, text_field
from pages.ui.shell.level import is_hidden, offered_options
from pages.ui.stage.changes import Changes, describe_change, without_positions
from pages.ui.stage.inputs import ask_model, ask_pair
from pages.ui.stage.packing import RunName
from pages.ui.stage.texts import DRAWING_LABELS, SECOND_SENTENCE, TOKEN_CHANGES_UNDONE
from pages.ui.stage.tokens import SPECIAL_FIELD
from pages.ui.stage.view_options import MAX_DRAWN_LINES, MAX_LAYERS_OR_HEADS, SCALES, read_focus, token_to_link
from tx_core.errors import ExplorerError
from tx_core.transformer.interventions import Head, Intervention, read_interventions, write_interventions

PAGE = "compare"
READ_BEFORE = "compare_read_before"
"""Session entry: how many views had come by links and examples in the run before, and what its tokens were read from."""
MAX_UNTRAINED_MODELS = 5
VARY_WIDTH = 190
"""Pixels of the list of what differs: on a phone the model stands beside it."""
FIRST_LAYER_OFF = (Intervention("off", 0),)

SideHead = tuple[int, int | None]
"""(layer, head) from 0; None for the mean of the layer's heads."""
WordPair = tuple[int, int]
VARIES: dict[str, tuple[str, ...]] = {
    "text": ("text", "pair"),
    "head": ("head",),
    "untrained": ("seed",),
    "changes": ("changes",),
    "model": ("model", "head"),
}
"""What may differ, and the parts of a side that differ then; heads of two models have no common numbering."""
PARTS = ("text", "pair", "model", "seed", "changes")
"""What is computed with; a head is only looked at."""
DRAWN = ("hide", "scale", "show", "lines", "words", "compared")
"""How maps are drawn: an example leaves it as it is."""


def read_head(written: str) -> SideHead:
    """Read a head as a link names it, 4-5, or a layer, 4, for the mean of its heads; ValueError for anything else."""
    match = re.fullmatch(r"([1-9][0-9]{0,3})(?:-([1-9][0-9]{0,3}))?", written, flags=re.ASCII)
    if not match or any(int(number) > MAX_LAYERS_OR_HEADS for number in match.groups("1")):
        raise ValueError("a head must be written like 4-5, the mean of a layer like 4")
    return int(match[1]) - 1, None if match[2] is None else int(match[2]) - 1


def write_head(head: SideHead) -> str:
    """Write a head, or the mean of a layer, for a link."""
    layer, number = head
    return f"{layer + 1}" if number is None else f"{layer + 1}-{number + 1}"


def name_head(head: SideHead) -> str:
    """Return the name of a head, or the mean of a layer, as a reader counts."""
    layer, number = head
    return texts.LAYER_MEAN.format(layer=layer + 1) if number is None else controls.head_name((layer, number))


def heads_of(head: SideHead, count: int) -> list[Head]:
    """List the heads that a map is the mean of. count: of the heads of a layer."""
    layer, number = head
    return [(layer, every) for every in range(count)] if number is None else [(layer, number)]


def read_word(written: str) -> WordPair:
    """Read the chosen word's positions in A and in B, as in 3-3; ValueError for anything else."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})-([1-9][0-9]{0,4})", written, flags=re.ASCII)
    if not match:
        raise ValueError("a word must be written by its positions in A and B, like 3-3")
    return int(match[1]) - 1, int(match[2]) - 1


def _side_fields(suffix: str, seed: int) -> tuple[Field, ...]:
    return (
        text_field(f"text{suffix}", "" if suffix else texts.FIRST_TEXT),
        text_field(f"pair{suffix}"),
        Field(f"model{suffix}", "embedded", controls.read_model),
        number_field(f"seed{suffix}", seed, 0, MAX_UNTRAINED_MODELS),
        Field(f"changes{suffix}", (), read_interventions, write_interventions),
    )


OWN = (*_side_fields("", 0), *_side_fields("_b", 1), choice_field("vary", tuple(VARIES)), flag_field("two"), SPECIAL_FIELD)
"""Fields of A have plain names, so that a link with a text fills A; those of B end in _b. An empty text of B means A's."""
LOOKS = (
    Field("head", (controls.embedded_sizes()[0] - 1, None), read_head, write_head),
    Field("head_b", (0, None), read_head, write_head),
    Field("words", True, lambda written: check(written, ("0", "1")) == "1", lambda on: str(int(on))),
    flag_field("hide"),
    choice_field("show", ("heatmap", *(name for name in DRAWING_LABELS if name != "heatmap"))),
    number_field("lines", 40, 1, MAX_DRAWN_LINES),
    choice_field("scale", SCALES),
    Field("focus", None, read_focus, token_to_link),
    Field("word", None, read_word, lambda word: "" if word is None else f"{word[0] + 1}-{word[1] + 1}"),
    choice_field("compared", ("difference", "before", "after")),
)


EXAMPLES = read_examples(PAGE, {field.name: field.read for field in (*OWN, *LOOKS)}, ("vary",))
FIELDS = StageFields(OWN, LOOKS, EXAMPLES[0].view)
_value = partial(value_of, PAGE)


@dataclass(frozen=True)
class Sides:
    """A, B, and what B differs in: a key of VARIES."""

    one: RunName
    other: RunName
    vary: str


def ask_sides() -> Sides:
    """Read the address, draw the boxes and the examples, and return what is compared."""
    read_stage_address(PAGE, FIELDS)
    undone = _undo_token_changes()
    vary, two = _value("vary"), _value("two")
    side = "A" if vary == "untrained" else ""
    more = {"seed": lambda: _ask_weights("seed", side), "two": _ask_two}
    if vary == "changes":
        more["changes"] = lambda: _ask_changes("changes", "A")

    def ask_more() -> None:
        if is_offered("vary"):
            st.selectbox(
                texts.ASK_VARIES,
                offered_options("vary", list(VARIES), vary),
                format_func=texts.VARIES.get,
                label_visibility="collapsed",
                width=VARY_WIDTH,
                **widget_binding(widget_key(PAGE, "vary"), _set_first_difference),
            )
        ask_model(PAGE, more=more)

    if vary == "text":
        labels = {"text": texts.SENTENCES["A"], "text_b": texts.SENTENCES["B"]}
        ask_pair(PAGE, labels, ask_more, placeholders={"text_b": texts.SAME_AS_A})
    else:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            _ask_sentence("text", texts.SENTENCE)
            _ask_difference(vary)
            ask_more()
    if two:
        with st.container(horizontal=True):
            _ask_sentence("pair", texts.SECOND_SENTENCES["A"] if vary == "text" else SECOND_SENTENCE)
            if vary == "text":
                _ask_sentence("pair_b", texts.SECOND_SENTENCES["B"])
    _offer_examples()
    if undone:
        st.info(TOKEN_CHANGES_UNDONE)
    if vary != "changes" and (active := _value("changes")):
        _tell_changes(active)
    return read_sides()


def _undo_token_changes() -> bool:
    """Undo the changes that name tokens where the reader has made these others, not a link; return whether there were any."""
    names = ("text", "text_b", "pair", "pair_b", "two", "model", "model_b", SPECIAL_FIELD.name)
    now = page_view(PAGE).arrivals, [_value(name) for name in names]
    before, st.session_state[READ_BEFORE] = st.session_state.get(READ_BEFORE, now), now
    active = {name: tuple(_value(name)) for name in ("changes", "changes_b")}
    kept = {name: without_positions(changes) for name, changes in active.items()}
    if before[0] != now[0] or before == now or kept == active:
        return False
    set_values(PAGE, kept)
    return True


def _ask_sentence(name: str, label: str) -> None:
    controls.sentence(widget_key(PAGE, name), label, label_visibility="collapsed", placeholder=label)


def _ask_difference(vary: str) -> None:
    """Ask what B is, in what it differs from A; another layer or head is chosen in the picture."""
    if vary == "model":
        controls.model(widget_key(PAGE, "model_b"), label=texts.MODEL_B, label_visibility="collapsed")
    elif vary == "untrained":
        _ask_weights("seed_b", "B", label_visibility="collapsed")
    elif vary == "changes":
        _ask_changes("changes_b", "B", label_visibility="collapsed")


def _ask_two() -> None:
    st.toggle(texts.TWO_SENTENCES, **widget_binding(widget_key(PAGE, "two")), help=texts.TWO_SENTENCES_HELP)


def _ask_weights(name: str, side: str, **shown: Any) -> None:
    def label(seed: int) -> str:
        weights = texts.RANDOM.format(seed=seed) if seed else texts.TRAINED
        return texts.OF_SIDE.format(side=side, value=weights) if shown else weights

    options = range(MAX_UNTRAINED_MODELS + 1)
    controls.choice_box(texts.WEIGHTS[side], options, format_func=label, **widget_binding(widget_key(PAGE, name)), **shown)


def _ask_changes(name: str, side: str, **shown: Any) -> None:
    """Offer heads and layers to switch off; changes that came by a link are offered as they are."""
    try:
        info = cache.engine(_value("model")).info
    except ExplorerError:  # explained where the picture would be
        return
    places = [(layer, head) for layer in range(info.num_layers) for head in (None, *range(info.num_heads))]
    one: list[Changes] = [(Intervention("off", *place),) for place in places]
    now = tuple(_value(name))
    options = [(), *one, *([now] if now and now not in one else [])]

    def label(active: Changes) -> str:
        template = texts.SIDE_OFF if active in one else texts.OF_SIDE
        return template.format(side=side, value=_name_changes(active)) if shown else _name_changes(active)

    controls.choice_box(texts.SWITCHED_OFF[side], options, format_func=label, **widget_binding(widget_key(PAGE, name)), **shown)


def _name_changes(active: Changes) -> str:
    """Return what is switched off, in words, or any other changes of a link; tokens go by their positions."""
    if not active:
        return texts.NOTHING
    if len(active) == 1 and active[0].kind == "off":
        layer, head = active[0].layer, active[0].head
        return texts.ALL_HEADS.format(layer=layer + 1) if head is None else controls.head_name((layer, head))
    return changes_in_full(active)


def changes_in_full(active: Changes) -> str:
    """Return every change in full; tokens go by their positions, since A and B may be of two texts."""
    return "; ".join(describe_change(change) for change in active)


def _tell_changes(active: Changes) -> None:
    single = len(active) == 1
    with st.container(horizontal=True, vertical_alignment="center"):
        note = texts.BOTH_CHANGED_ONCE if single else texts.BOTH_CHANGED
        st.caption(note.format(changes=changes_in_full(active)))
        act = {"on_click": set_values, "args": (PAGE, {"changes": ()})}
        st.button(texts.UNDO_ONE if single else texts.UNDO_ALL, key=widget_key(PAGE, "reset"), **act)


def read_sides() -> Sides:
    """Return A and B, which differs from A in one respect. Second sentences count only where they are switched on."""
    vary, bare = _value("vary"), _value(SPECIAL_FIELD.name)
    one = {part: _value(part) for part in PARTS}
    other = one | {part: _value(f"{part}_b") for part in VARIES[vary] if part in PARTS}
    other["text"] = other["text"] or one["text"]
    if not _value("two"):
        one["pair"] = other["pair"] = ""
    return Sides(*(RunName(**side | {"changes": tuple(side["changes"])}, bare=bare) for side in (one, other)), vary)


def _set_first_difference() -> None:
    """Make B differ from A in what was just chosen to differ, if it does not yet; a sentence or a model the reader chooses."""
    sides = read_sides()
    if sides.one != sides.other:
        return
    first = {
        "untrained": ("seed_b", 0 if sides.one.seed else 1),
        "changes": ("changes_b", () if sides.one.changes else FIRST_LAYER_OFF),
    }
    if sides.vary in first:
        name, value = first[sides.vary]
        set_values(PAGE, {name: value})


def take_wish(reported: Mapping[str, object]) -> None:
    """Make A what B is, so that B can be changed further, or exchange A and B; heads are the browser's."""
    sides = read_sides()
    sources = {"pin": (sides.other, sides.other), "swap": (sides.other, sides.one)}.get(str(reported.get("sides")))
    if sources is None:
        return
    for part in VARIES[sides.vary]:
        if part in PARTS and (part != "pair" or _value("two")):
            for suffix, side in zip(("", "_b"), sources, strict=True):
                set_values(PAGE, {f"{part}{suffix}": getattr(side, part)})


# Examples


def _offer_examples() -> None:
    choices = [example for example in EXAMPLES if not is_hidden(f"vary={example.view['vary']}")]
    offer_examples(PAGE, choices, _is_shown, _show_example)


def _show_example(example: Example) -> None:
    """Load an example into the page; other fields return to their defaults, except how maps are drawn."""
    values = {field.name: field.default for field in FIELDS.all if field.name not in DRAWN}
    st.session_state[f"{PAGE}_example_now"] = example.title
    ask_for_view(PAGE, values | example.view)


def _is_shown(example: Example) -> bool:
    """Return whether the page compares the sides of an example. Heads tell apart only those that differ in nothing else."""
    tells_heads = example.view["vary"] in ("head", "untrained") and st.session_state.get(f"{PAGE}_example_now") != example.title
    compared = (*OWN, *(field for field in LOOKS if field.name in ("head", "head_b") and tells_heads))
    return all(_value(field.name) == example.view.get(field.name, field.default) for field in compared)
