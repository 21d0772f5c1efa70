"""Curated comparisons: each sets A and B, and says what to notice."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.compare.state import FIELDS, PARTS
from pages.ui.panels.tokens import SPECIAL_FIELD
from pages.ui.shell.address import widget_key

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples" / "compare.json"


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
    """Give the fields that the first example sets."""
    return curated()[0].values | {"vary": curated()[0].vary}


def show_example(page: str, example: Example) -> None:
    """Bring an example onto the page; other fields return to their defaults, except how maps are drawn."""
    values = {field.name: field.default for field in FIELDS if field.name not in ("hide", "scale")}
    values |= example.values | {"vary": example.vary}
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def is_shown(page: str, example: Example) -> bool:
    """Tell whether the page shows the sides of an example."""
    sides = {f"{part}{suffix}" for part in PARTS for suffix in ("", "_b")}
    defaults = {field.name: field.default for field in FIELDS if field.name in sides}
    now = {name: st.session_state[widget_key(page, name)] for name in defaults}
    vary = st.session_state[widget_key(page, "vary")]
    bare = st.session_state[widget_key(page, SPECIAL_FIELD.name)]
    return vary == example.vary and now == defaults | _of(example.values, sides) and not bare


def _of(values: dict[str, object], names: set[str]) -> dict[str, object]:
    return {name: value for name, value in values.items() if name in names}
