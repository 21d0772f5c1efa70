"""Offer sentences worth looking at by their titles, what to notice in the one that is shown, and what breaks it."""

from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeVar

import streamlit as st

from pages.ui.shell import texts
from pages.ui.shell.address import is_offered


class Offered(Protocol):
    """What a row of examples needs of each: what its button says, and the counter-examples that break what it seems to show."""

    @property
    def title(self) -> str: ...

    @property
    def counters(self) -> Sequence[Self]: ...


Choice = TypeVar("Choice", bound=Offered)


NOTICE_WIDTH = 500  # pixels


def find(choices: Sequence[Choice], is_on_page: Callable[[Choice], bool]) -> tuple[Choice | None, Choice | None]:
    """Return the example on the page and its entry in the list: itself, or the one that it is a counter-example of."""
    found = ((one, origin) for origin in choices for one in (origin, *origin.counters) if is_on_page(one))
    return next(found, (None, None))


def offer(key: str, choices: Sequence[Choice], shown: Choice | None, choose: Callable[[Choice], None], label: str = "") -> None:
    """Offer examples by their titles, with the shown one marked; a click runs `choose` before the page runs again.

    A click on the marked one chooses it again: the way back to its view. label: stands above them, "" for none.
    """
    if not is_offered("examples"):
        return
    titles = {example.title: example for example in choices}
    st.session_state[key] = shown.title if shown else None

    def accept() -> None:
        if example := titles.get(st.session_state.get(key), shown):
            choose(example)

    visibility = "visible" if label else "collapsed"
    st.pills(label or texts.EXAMPLES, list(titles), key=key, on_change=accept, wrap=False, label_visibility=visibility)


def offer_counters(key: str, example: Choice, shown: Choice | None, choose: Callable[[Choice], None]) -> None:
    """Offer the counter-examples of an example, with the shown one marked: the lesson is that one example proves little."""
    offer(key, example.counters, shown if shown in example.counters else None, choose, texts.BREAK_IT)


def show_notice(notice: str) -> None:
    """Show what to notice, as wide as leaves space for the counter-examples beside it."""
    st.markdown(notice, width=NOTICE_WIDTH)
