"""Sizes, of a training above all: what a page offers on the device of this server, how it is asked for and named."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.panels import texts
from pages.ui.shell.address import value_of, widget_key
from pages.ui.shell.fields import Field, number_field
from tx_core.errors import TextProblem

MIN_LEARNING_RATE, MAX_LEARNING_RATE = 0.0001, 0.1
COLUMNS_OF_SIZES = 3
Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Size:
    """A whole number that a reader may choose. setting: its name in the core. maximum: on the largest device."""

    setting: str
    default: int
    minimum: int
    maximum: int
    label: str
    help: str | None = None


def sizes_offered(sizes: Mapping[str, Size], most: Mapping[str, int]) -> dict[str, Size]:
    """Return the sizes as a device offers them. most: its own maxima, by names in the settings of the core."""
    return {name: replace(size, maximum=most.get(size.setting, size.maximum)) for name, size in sizes.items()}


def size_fields(sizes: Mapping[str, Size]) -> tuple[Field, ...]:
    """Return the address fields of sizes, by their names in the address."""
    return tuple(number_field(name, size.default, size.minimum, size.maximum) for name, size in sizes.items())


def training_fields(sizes: Mapping[str, Size]) -> tuple[Field, ...]:
    """Return the address fields of the sizes of a training, and of its learning rate."""
    return (*size_fields(sizes), Field("rate", 0.005, read_learning_rate, lambda rate: f"{rate:g}"))


def read_learning_rate(written: str) -> float:
    """Read a learning rate; raise ValueError for one that the pages do not offer."""
    rate = float(written)
    if not MIN_LEARNING_RATE <= rate <= MAX_LEARNING_RATE:
        raise ValueError(texts.LEARNING_RATE_RANGE.format(minimum=MIN_LEARNING_RATE, maximum=MAX_LEARNING_RATE))
    return rate


def size_inputs(page: str, sizes: Mapping[str, Size], *, disabled: bool = False) -> DeltaGenerator:
    """Ask for sizes; return where the next box has its place.

    A box that has more than is offered here, as from a link of a server with a card, keeps it: `build_settings` says so.
    """
    places = cycle(st.columns(COLUMNS_OF_SIZES))
    for (name, size), place in zip(sizes.items(), places, strict=False):
        place.number_input(
            texts.SIZE_LABEL.format(label=size.label, minimum=size.minimum, maximum=size.maximum),
            size.minimum,
            max(size.maximum, value_of(page, name)),
            key=widget_key(page, name),
            help=size.help,
            disabled=disabled,
        )
    return next(places)


def training_inputs(page: str, sizes: Mapping[str, Size], *, disabled: bool, rate_help: str | None = None) -> None:
    """Ask for the sizes of a training and for its learning rate."""
    size_inputs(page, sizes, disabled=disabled).number_input(
        texts.LEARNING_RATE,
        MIN_LEARNING_RATE,
        MAX_LEARNING_RATE,
        step=0.001,
        format="%.4f",
        key=widget_key(page, "rate"),
        help=rate_help,
        disabled=disabled,
    )


def build_settings(page: str, sizes: Mapping[str, Size], settings: Callable[..., Settings], **others: object) -> Settings:
    """Build the settings of the core from what is chosen on the page. others: the settings that are no sizes.

    Raises TextProblem, in the page's words, for sizes that do not fit together, or that this server does not offer.
    """
    chosen = {size.setting: value_of(page, name) for name, size in sizes.items()}
    too_large = [
        texts.SIZE_TOO_LARGE.format(label=size.label, maximum=size.maximum, value=chosen[size.setting])
        for size in sizes.values()
        if chosen[size.setting] > size.maximum
    ]
    if too_large:
        raise TextProblem(texts.SIZES_NEED_CARD.format(sizes=", ".join(too_large)))
    try:
        return settings(**chosen, **others)
    except ValueError as rule:
        written = str(rule)
        for size in sorted(sizes.values(), key=lambda size: -len(size.setting)):  # "source_padding" before "source"
            written = written.replace(size.setting, f"“{size.label}”")
        raise TextProblem(texts.SIZES_DO_NOT_FIT.format(rule=written)) from rule


def page_values(settings: object, sizes: Mapping[str, Size]) -> dict[str, Any]:
    """Return the sizes of a training by their names in the address."""
    return {name: getattr(settings, size.setting) for name, size in sizes.items()} | {"rate": settings.learning_rate}
