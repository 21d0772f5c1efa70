"""Offer sentences worth looking at by their titles, what to notice in the one that is shown, and what breaks it."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui.shell import texts
from pages.ui.shell.address import ask_for_view, is_offered, value_of, widget_key
from pages.ui.shell.fields import StageFields
from tx_core.settings import ASSETS

NOTICE_WIDTH = 500
"""Pixels of what to notice: the counter-examples stand beside it."""


@dataclass(frozen=True)
class Example:
    """A view worth looking at, and what to notice. counters: views that do not show what this one seems to show."""

    title: str
    notice: str
    view: Mapping[str, Any]
    counters: tuple["Example", ...] = ()


def read_examples(page: str, fields: Mapping[str, Callable[[Any], object]], inherited: Sequence[str]) -> tuple[Example, ...]:
    """Return the examples of a page; what they claim is true of the embedded model.

    fields: by name, how a value of the file is read. inherited: those that a counter-example has from its example, unless it
    names its own.
    """

    def read(entry: Mapping[str, Any], about: Mapping[str, Any]) -> Example:
        written = about | {name: entry[name] for name in fields if name in entry} | entry.get("view", {})
        kept = {name: written[name] for name in inherited if name in written}
        counters = tuple(read(counter, kept) for counter in entry.get("counters", ()))
        sentences = f"{written.get('text')} {written.get('pair', '')}".strip(), written.get("second")
        title = entry.get("title", " / ".join(filter(None, sentences)).replace("[MASK]", "___"))
        view = {name: read_value(written[name]) for name, read_value in fields.items() if name in written}
        return Example(title, entry["notice"], view, counters)

    return tuple(read(entry, {}) for entry in json.loads((ASSETS / "examples" / f"{page}.json").read_text(encoding="utf-8")))


def find(choices: Sequence[Example], is_on_page: Callable[[Example], bool]) -> tuple[Example | None, Example | None]:
    """Return the example on the page and its entry in the list: itself, or the one that it is a counter-example of."""
    found = ((one, origin) for origin in choices for one in (origin, *origin.counters) if is_on_page(one))
    return next(found, (None, None))


def hint(example: Example) -> str:
    """Return what to notice in an example."""
    return texts.HINT.format(hint=example.notice)


def offer_examples(
    page: str,
    choices: Sequence[Example],
    is_on_page: Callable[[Example], bool],
    choose: Callable[[Example], None],
    describe: Callable[[Example], str] = hint,
) -> None:
    """Offer examples by their titles; for the one on the page, show what to notice, and what breaks what it seems to show.

    choose: runs after a click, before the page runs again. A click on the marked one chooses it again: the way back to its view.
    """
    if not is_offered("examples"):
        return
    example, origin = find(choices, is_on_page)
    _offer(widget_key(page, "example"), choices, origin, choose)
    if example and origin:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            if said := describe(example):
                st.markdown(said, width=NOTICE_WIDTH)
            if origin.counters:
                shown = example if example is not origin else None
                with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
                    st.markdown(f"**{texts.BREAK_IT}:**", width="content")
                    _offer(widget_key(page, "counter_example"), origin.counters, shown, choose, texts.BREAK_IT)


def offer_views(page: str, fields: StageFields, choices: Sequence[Example], free: Collection[str] = ()) -> None:
    """Offer examples that set every field of a page, by default where they name none.

    free: own fields of which a reader may choose another value without leaving the example.
    """

    def is_on_page(example: Example) -> bool:
        asked = [field for field in fields.own if field.name not in free]
        return all(value_of(page, field.name) == example.view.get(field.name, field.default) for field in asked)

    defaults = {field.name: field.default for field in fields.all}
    offer_examples(page, choices, is_on_page, lambda example: ask_for_view(page, defaults | dict(example.view)))


def _offer(
    key: str,
    choices: Sequence[Example],
    shown: Example | None,
    choose: Callable[[Example], None],
    label: str = texts.EXAMPLES,
) -> None:
    titles = {example.title: example for example in choices}
    st.session_state[key] = shown.title if shown else None

    def accept() -> None:
        if example := titles.get(st.session_state.get(key), shown):
            choose(example)

    st.pills(label, list(titles), key=key, on_change=accept, wrap=False, label_visibility="collapsed")
