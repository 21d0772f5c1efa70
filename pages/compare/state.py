"""What the page remembers: A, and in what B differs from it; and the examples, which set both and say what to notice."""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.compare.texts import FIRST_TEXT, LAYER_MEAN
from pages.ui.panels.changes import Changes, without_positions
from pages.ui.panels.texts import TOKEN_CHANGES_UNDONE
from pages.ui.panels.tokens import SPECIAL_FIELD
from pages.ui.panels.view_options import MAX_LAYERS_OR_HEADS, SCALES, read_focus, token_to_link
from pages.ui.shell import controls
from pages.ui.shell.address import (
    Field,
    choice_field,
    flag_field,
    number_field,
    parse_view,
    restore_hidden_fields,
    text_field,
    widget_key,
)
from tx_core.transformer.interventions import Intervention, read_interventions, write_interventions

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples" / "compare.json"
MAX_UNTRAINED_MODELS = 5
FIRST_LAYER_OFF = (Intervention("off", 0),)

Head = tuple[int, int | None]
WordPair = tuple[int, int]
VARIES: dict[str, tuple[str, ...]] = {
    "text": ("text", "pair"),
    "head": ("head",),
    "untrained": ("seed",),
    "changes": ("changes",),
    "model": ("model", "head"),
}
"""What may differ, and the parts of a side that differ then; heads of two models have no common numbering."""
PARTS = ("text", "pair", "model", "head", "seed", "changes")
TOKEN_FIELDS = ("text", "text_b", "pair", "pair_b", "model", "model_b", "two", "vary", SPECIAL_FIELD.name)
"""The fields that decide which tokens are read, and so what a token's position means."""


@dataclass(frozen=True)
class Side:
    """All that decides what one map shows.

    Attributes:
        head: (layer, head) from 0; None for the mean of the layer's heads.
        seed: 0 for the trained model, else the seed of its random weights.
        special: whether the model's special tokens are added to its texts.
    """

    text: str
    pair: str
    model: str
    head: Head
    seed: int
    changes: Changes
    special: bool = True


def read_head(written: str) -> Head:
    """Read a head as a link names it, 4-5, or a layer, 4, for the mean of its heads; ValueError for anything else."""
    match = re.fullmatch(r"([1-9][0-9]{0,3})(?:-([1-9][0-9]{0,3}))?", written, flags=re.ASCII)
    if not match or any(int(number) > MAX_LAYERS_OR_HEADS for number in match.groups("1")):
        raise ValueError("a head must be written like 4-5, the mean of a layer like 4")
    return int(match[1]) - 1, None if match[2] is None else int(match[2]) - 1


def write_head(head: Head) -> str:
    """Write a head, or the mean of a layer, for a link."""
    layer, number = head
    return f"{layer + 1}" if number is None else f"{layer + 1}-{number + 1}"


def name_head(head: Head) -> str:
    """Return the name of a head, or the mean of a layer, as a reader counts."""
    layer, number = head
    return LAYER_MEAN.format(layer=layer + 1) if number is None else controls.head_name((layer, number))


def read_word(written: str) -> WordPair:
    """Read the chosen word's positions in A and in B, as in 3-3; ValueError for anything else."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})-([1-9][0-9]{0,4})", written, flags=re.ASCII)
    if not match:
        raise ValueError("a word must be written by its positions in A and B, like 3-3")
    return int(match[1]) - 1, int(match[2]) - 1


def write_word(word: WordPair | None) -> str:
    """Write the chosen word's positions for a link."""
    return "" if word is None else f"{word[0] + 1}-{word[1] + 1}"


def _fields(suffix: str, head: Head, seed: int) -> tuple[Field, ...]:
    return (
        text_field(f"text{suffix}", "" if suffix else FIRST_TEXT),
        text_field(f"pair{suffix}"),
        Field(f"model{suffix}", "embedded", controls.read_model),
        Field(f"head{suffix}", head, read_head, write_head),
        number_field(f"seed{suffix}", seed, 0, MAX_UNTRAINED_MODELS),
        Field(f"changes{suffix}", (), read_interventions, write_interventions),
    )


FIELDS = (
    *_fields("", (controls.embedded_sizes()[0] - 1, None), 0),
    *_fields("_b", (0, None), 1),
    choice_field("vary", tuple(VARIES)),
    flag_field("two"),
    SPECIAL_FIELD,
    flag_field("hide"),
    choice_field("scale", SCALES),
    Field("focus", None, read_focus, token_to_link),
    Field("word", None, read_word, write_word),
)
"""Fields of A have plain names, so that a link with a text fills A; those of B end in _b. An empty text of B means A's."""


def sides(page: str) -> tuple[Side, Side]:
    """Return A and B, which differs from A in one respect. Second sentences count only where they are switched on.

    Special tokens are left out of both or of neither.
    """
    restore_hidden_fields(page, FIELDS)  # a callback finds no entry of a control that the last run did not draw
    values = {name: st.session_state[widget_key(page, name)] for part in PARTS for name in (part, f"{part}_b")}
    one = {part: values[part] for part in PARTS}
    other = one | {part: values[f"{part}_b"] for part in VARIES[st.session_state[widget_key(page, "vary")]]}
    other["text"] = other["text"] or one["text"]
    if not st.session_state[widget_key(page, "two")]:
        one["pair"] = other["pair"] = ""
    special = not st.session_state[widget_key(page, SPECIAL_FIELD.name)]
    return Side(**one, special=special), Side(**other, special=special)


def set_first_difference(page: str) -> None:
    """Make B differ from A in what was just chosen to differ, if it does not yet.

    Another sentence, or another model, is the reader's to choose.
    """
    forget_words(page)
    one, other = sides(page)
    vary = st.session_state[widget_key(page, "vary")]
    if vary == "model" and one.model == other.model:
        st.session_state[widget_key(page, "head_b")] = one.head
    elif one == other:
        st.session_state.update({widget_key(page, name): value for name, value in _first_difference(one, vary).items()})


def _first_difference(one: Side, vary: str) -> dict[str, object]:
    """Return the fields of B that differ from A by default; empty where the reader has to write the difference."""
    return {
        "head": {"head_b": _another_head(one.head)},
        "untrained": {"seed_b": 0 if one.seed else 1},
        "changes": {"changes_b": () if one.changes else FIRST_LAYER_OFF},
    }.get(vary, {})


def _another_head(head: Head) -> Head:
    """Return another head of the same layer; for the mean of a layer, another layer."""
    layer, number = head
    if number is None:
        return (1 if layer == 0 else 0), None
    return layer, 1 if number == 0 else 0


def drop_token_changes(page: str) -> str:
    """Undo changes that name tokens of an earlier text or model. Returns what to tell the reader, "" for nothing."""
    now = {(side.model, side.text, side.pair, side.special) for side in sides(page)}
    before = st.session_state.get(f"{page}_changed_in", now)
    st.session_state[f"{page}_changed_in"] = now
    made = {name: tuple(st.session_state[name]) for name in (widget_key(page, "changes"), widget_key(page, "changes_b"))}
    kept = {name: without_positions(active) for name, active in made.items()}
    if now <= before or kept == made or _is_in_address(page):
        return ""
    st.session_state.update(kept)
    return TOKEN_CHANGES_UNDONE


def _is_in_address(page: str) -> bool:
    """Whether texts and changes came together, by a link or the browser's Back; a text just typed is not there yet."""
    linked, _ = parse_view(FIELDS, st.query_params.to_dict())
    return all(linked[name] == st.session_state[widget_key(page, name)] for name in TOKEN_FIELDS)


def pin(page: str) -> None:
    """Make A what B is now, so that B can be changed further."""
    _set_sides(page, *(sides(page)[1],) * 2)


def swap(page: str) -> None:
    """Exchange A and B."""
    _set_sides(page, *sides(page)[::-1])


def _set_sides(page: str, one: Side, other: Side) -> None:
    """Write what varies of two sides into the session; chosen words belonged to the texts before."""
    varied = VARIES[st.session_state[widget_key(page, "vary")]]
    kept = [part for part in varied if part != "pair" or st.session_state[widget_key(page, "two")]]
    for part in kept:
        st.session_state[widget_key(page, part)] = getattr(one, part)
        st.session_state[widget_key(page, f"{part}_b")] = getattr(other, part)
    forget_words(page)


def forget_words(page: str) -> None:
    """Clear the focused and the chosen word: another text has other words."""
    st.session_state[widget_key(page, "focus")] = None
    st.session_state[widget_key(page, "word")] = None


@dataclass(frozen=True)
class Example:
    """Two sides worth comparing; fields that are not named keep their defaults.

    counters: sides that do not show what these seem to show.
    """

    title: str
    notice: str
    vary: str
    values: dict[str, object]
    counters: tuple["Example", ...] = ()


@cache
def curated() -> tuple[Example, ...]:
    """List the examples; what they claim is true of the embedded model."""
    return tuple(_read(entry, entry["vary"]) for entry in json.loads(EXAMPLES.read_text(encoding="utf-8")))


def _read(entry: dict[str, Any], vary: str) -> Example:
    values = {field.name: field.read(entry["view"][field.name]) for field in FIELDS if field.name in entry["view"]}
    counters = tuple(_read(counter, vary) for counter in entry.get("counters", ()))
    return Example(entry["title"], entry["notice"], vary, values, counters)


def first_view() -> dict[str, object]:
    """Return the fields that the first example sets."""
    return curated()[0].values | {"vary": curated()[0].vary}


def show_example(page: str, example: Example) -> None:
    """Load an example into the page; other fields return to their defaults, except how maps are drawn."""
    values = {field.name: field.default for field in FIELDS if field.name not in ("hide", "scale")}
    values |= example.values | {"vary": example.vary}
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def is_shown(page: str, example: Example) -> bool:
    """Return whether the page shows the sides of an example."""
    names = {f"{part}{suffix}" for part in PARTS for suffix in ("", "_b")}
    defaults = {field.name: field.default for field in FIELDS if field.name in names}
    now = {name: st.session_state[widget_key(page, name)] for name in defaults}
    vary = st.session_state[widget_key(page, "vary")]
    bare = st.session_state[widget_key(page, SPECIAL_FIELD.name)]
    return vary == example.vary and now == defaults | _only(example.values, names) and not bare


def _only(values: dict[str, object], names: set[str]) -> dict[str, object]:
    return {name: value for name, value in values.items() if name in names}
