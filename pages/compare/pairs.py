"""Pairs worth comparing: each brings A, what B does otherwise, and what to notice onto the page."""

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
    """Two sides worth comparing, and what to look for; what is not said is as at first."""

    title: str
    notice: str
    vary: str
    values: dict[str, object]


@cache
def curated() -> tuple[Example, ...]:
    """List the examples; they say what to look for and leave it to the reader's eyes what the model does."""
    entries = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    read = {field.name: field.read for field in FIELDS}
    return tuple(
        Example(
            entry["title"], entry["notice"], entry["vary"], {name: read[name](written) for name, written in entry["view"].items()}
        )
        for entry in entries
    )


def first_view() -> dict[str, object]:
    """Give what the first example changes of the defaults."""
    return curated()[0].values | {"vary": curated()[0].vary}


def show_example(page: str, example: Example) -> None:
    """Bring an example onto the page; what it does not name is as at first, but for how maps are looked at."""
    values = {field.name: field.default for field in FIELDS if field.name not in ("hide", "scale")}
    values |= example.values | {"vary": example.vary}
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def shown_example(page: str) -> Example | None:
    """Find the example whose sides are on the page."""
    sides = {f"{part}{suffix}" for part in PARTS for suffix in ("", "_b")}
    defaults = {field.name: field.default for field in FIELDS if field.name in sides}
    now = {name: st.session_state[widget_key(page, name)] for name in defaults}
    vary = st.session_state[widget_key(page, "vary")]
    return next((one for one in curated() if one.vary == vary and now == defaults | _of(one.values, sides)), None)


def _of(values: dict[str, object], names: set[str]) -> dict[str, object]:
    return {name: value for name, value in values.items() if name in names}
