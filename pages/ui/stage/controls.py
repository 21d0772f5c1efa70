"""Controls of a stage's toolbar that a page declares, and what it does with what they report.

A choice that computes is reported as `settings`; one that only looks is the browser's, and stands in the address beside its view.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import streamlit as st

from pages.ui.shell.address import Field, is_offered, parse_view, widget_key


@dataclass(frozen=True)
class Control:
    """One control; values are written as links write them.

    Attributes:
        name: of the field of the page.
        kind: a list, segments of which one is pressed, a switch, a number, or buttons of which several are pressed.
        label, help: what it says.
        options: values with their labels.
        limits: the least and the most of a number.
        inverted: of a switch that is on where the field is 0.
        most: how many of several may be pressed; 0 for any number. The first gives way.
        other: what a list shows where its value is none of its options.
        arrows: labels of two buttons that step through a list.
        carries: the list that they step where this one ends.
        looks: whether it only looks.
        late: whether it is the first to be folded into the menu.
        value: of the run; filled in by `offered_controls`.
    """

    name: str
    kind: Literal["list", "segments", "switch", "number", "several"]
    label: str
    options: tuple[tuple[str, str], ...] = ()
    help: str = ""
    limits: tuple[int, int] = (1, 1)
    inverted: bool = False
    most: int = 0
    other: str = ""
    arrows: tuple[str, str] | None = None
    carries: str = ""
    looks: bool = False
    late: bool = False
    value: str = ""


def numbered(count: int, text: str) -> tuple[tuple[str, str], ...]:
    """Return the options of a list of layers, blocks or heads, from 1."""
    return tuple((str(number), text.format(number=number)) for number in range(1, count + 1))


def offered_controls(page: str, fields: Sequence[Field], controls: Sequence[Control]) -> list[dict[str, object]]:
    """Return the controls that this level and this step of a lesson show, each with the value of its field."""
    by_name = {field.name: field for field in fields}

    def written(name: str) -> str:
        return by_name[name].write(st.session_state[widget_key(page, name)])

    return [asdict(control) | {"value": written(control.name)} for control in controls if is_offered(control.name)]


def take_settings(page: str, fields: Sequence[Field], reported: Mapping[str, object]) -> None:
    """Apply what a toolbar asks for; leave out what is no field of these."""
    written = {name: value for name, value in reported.items() if isinstance(value, str)}
    asked = [field for field in fields if field.name in written]
    values, wrong = parse_view(asked, written)
    st.session_state.update({widget_key(page, name): value for name, value in values.items() if name not in wrong})
