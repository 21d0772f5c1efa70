"""Curated comparisons: each sets A and B, and says what to notice."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from pages.compare.state import FIELDS, PARTS
from pages.ui.shell.address import widget_key

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples" / "compare.json"


@dataclass(frozen=True)
class Example:
    """Two sides worth comparing; fields that are not named keep their defaults."""

    title: str
    notice: str
    vary: str
    values: dict[str, object]


@cache
def curated() -> tuple[Example, ...]:
    """List the examples."""
    entries = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    read = {field.name: field.read for field in FIELDS}
    return tuple(
        Example(
            entry["title"], entry["notice"], entry["vary"], {name: read[name](written) for name, written in entry["view"].items()}
        )
        for entry in entries
    )


def first_view() -> dict[str, object]:
    """Give the fields that the first example sets."""
    return curated()[0].values | {"vary": curated()[0].vary}


def show_example(page: str, example: Example) -> None:
    """Bring an example onto the page; other fields return to their defaults, except how maps are drawn."""
    values = {field.name: field.default for field in FIELDS if field.name not in ("hide", "scale")}
    values |= example.values | {"vary": example.vary}
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def shown_example(page: str) -> Example | None:
    """Find the example whose sides the page shows."""
    sides = {f"{part}{suffix}" for part in PARTS for suffix in ("", "_b")}
    defaults = {field.name: field.default for field in FIELDS if field.name in sides}
    now = {name: st.session_state[widget_key(page, name)] for name in defaults}
    vary = st.session_state[widget_key(page, "vary")]
    return next((one for one in curated() if one.vary == vary and now == defaults | _of(one.values, sides)), None)


def _of(values: dict[str, object], names: set[str]) -> dict[str, object]:
    return {name: value for name, value in values.items() if name in names}
