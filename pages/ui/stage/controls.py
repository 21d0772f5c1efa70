"""Controls of a stage's toolbar that a page declares, and what it does with what they report.

A choice that computes is reported as `settings`; one that only looks is the browser's, and stands in the address beside its view.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from pages.ui.shell.address import is_offered, value_of, widget_key
from pages.ui.shell.fields import Field, parse_view
from pages.ui.shell.level import offered_options
from pages.ui.stage import browser_texts
from pages.ui.stage.texts import SEED, SEED_HELP, WITHOUT_SPECIAL, WITHOUT_SPECIAL_HELP
from pages.ui.stage.tokens import SPECIAL_FIELD

Conditions = Mapping[str, Sequence[str]]
"""Fields with the values, as links write them, that they may have; of several fields, all must have one of theirs."""


@dataclass(frozen=True)
class Control:
    """One control; values are written as links write them.

    Attributes:
        name: of the field of the page.
        kind: a list, segments of which one is pressed, a switch, a number, a slider, buttons of which several are pressed, a box
            of whole numbers ("numbers", 0-4-20 in a link), or a button that sets its one option ("press").
        limits: the least and the most of a number, of a slider or of numbers.
        labelled: whether its name stands before a list.
        problem: what to write where numbers make no sense.
        inverted: of a switch that is on where the field is 0.
        most: how many of several may be pressed, or how many numbers written; 0 for any number. The first gives way.
        other: what a list shows where its value is none of its options.
        fallback: in a stage of pictures, the option that holds where the value is none of them, as a token that a text lacks.
        arrows: labels of two buttons that step through a list.
        carries: the list that they step where this one ends.
        late: whether it stands in the menu More, since it is seldom needed.
        apart: whether it stands in a row of its own, above the toolbar.
    """

    name: str
    kind: Literal["list", "segments", "switch", "number", "slider", "several", "numbers", "press"]
    label: str
    options: tuple[tuple[str, str], ...] = ()
    help: str = ""
    limits: tuple[int, int] = (1, 1)
    step: int = 1
    labelled: bool = False
    problem: str = ""
    inverted: bool = False
    most: int = 0
    other: str = ""
    fallback: str = ""
    arrows: tuple[str, str] | None = None
    carries: str = ""
    late: bool = False
    apart: bool = False
    when: Conditions = field(default_factory=dict)


def numbered(count: int, text: str) -> tuple[tuple[str, str], ...]:
    """Return the options of a list of layers, blocks or heads, from 1."""
    return tuple((str(number), text.format(number=number)) for number in range(1, count + 1))


def head_controls(layers: int, heads: int) -> list[Control]:
    """Return the lists of layers and of heads of a model, with arrows that step through all heads."""
    said = browser_texts.CONTROLS
    arrows = (said["headBefore"], said["headAfter"])
    return [
        Control("layer", "list", said["layer"], numbered(layers, said["layerNumber"])),
        Control("head", "list", said["head"], numbered(heads, said["headNumber"]), arrows=arrows, carries="layer"),
    ]


def seed_control(most: int) -> Control:
    """Return the number that random weights are drawn by, from 1."""
    return Control("seed", "number", SEED, help=SEED_HELP, limits=(1, most))


def matrix_controls(dimensions: tuple[int, int]) -> list[Control]:
    """Return how matrices are drawn: whether with numbers, and how many dimensions. dimensions: the fewest and the most."""
    return [NUMBERS_CONTROL, Control("dimensions", "slider", browser_texts.MATRICES["dimensions"], limits=dimensions, late=True)]


NUMBERS_CONTROL = Control("numbers", "switch", browser_texts.MATRICES["numbers"], help=browser_texts.MATRICES["numbersHelp"])
SPECIAL_CONTROL = Control(SPECIAL_FIELD.name, "switch", WITHOUT_SPECIAL, help=WITHOUT_SPECIAL_HELP, late=True)
"""Leaves special tokens out."""


def offered_controls(
    page: str, fields: Sequence[Field], controls: Sequence[Control], looks: Sequence[Field] = ()
) -> list[dict[str, object]]:
    """Return the controls, and of their options those, that this level and step of a lesson show.

    Each has its field's value, and whether it only looks: a field of `looks`.
    """
    by_name = {one.name: one for one in fields}

    def offer(control: Control) -> dict[str, object]:
        value = by_name[control.name].write(value_of(page, control.name))
        values = offered_options(control.name, [one for one, _ in control.options], value)
        options = [option for option in control.options if option[0] in values]
        is_look = by_name[control.name] in looks
        return {**vars(control), "options": options, "when": dict(control.when), "value": value, "looks": is_look}

    return [offer(control) for control in controls if is_offered(control.name)]


def take_settings(page: str, fields: Sequence[Field], reported: Mapping[str, object]) -> None:
    """Apply what a toolbar asks for; leave out what is no field of these."""
    written = {name: value for name, value in reported.items() if isinstance(value, str)}
    asked = [one for one in fields if one.name in written]
    values, wrong = parse_view(asked, written)
    st.session_state.update({widget_key(page, name): value for name, value in values.items() if name not in wrong})
