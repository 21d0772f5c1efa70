"""Offer sentences worth looking at: by title, with a hint of what to notice, the view that shows it, and what breaks it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import streamlit as st

from pages.ui.shell import texts
from pages.ui.shell.address import is_offered
from pages.ui.shell.controls import head_name, model_title
from tx_core.engine.catalogue import DEFAULT
from tx_core.transformer.interventions import Head

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples" / "attention.json"


class Offered(Protocol):
    """What a row of examples needs of each: what its button says, and the counter-examples that break what it seems to show."""

    @property
    def title(self) -> str: ...

    @property
    def counters(self) -> Sequence[Self]: ...


Choice = TypeVar("Choice", bound=Offered)


NOTICE_WIDTH = 500  # pixels


@dataclass(frozen=True)
class Example:
    """A sentence, or two, worth looking at.

    Attributes:
        title: what the button says.
        text, pair: the sentence and the second one, or "".
        notice: what to notice.
        heads: (layer, head) of the view, counted from 0.
        words: whether word pieces are merged into words.
        focus: position of the token to look from, counted from 0, or None.
        counters: sentences on which the same heads do not do what the example seems to show; the sentence is the title.
    """

    title: str
    text: str
    pair: str
    notice: str
    heads: tuple[Head, ...]
    words: bool
    focus: int | None
    counters: tuple["Example", ...] = ()


@cache
def curated() -> tuple[Example, ...]:
    """List the curated examples of the attention page; what they claim holds for the embedded model."""
    return tuple(_read(entry, entry) for entry in json.loads(EXAMPLES.read_text(encoding="utf-8")))


def _read(entry: dict[str, Any], about: dict[str, Any]) -> Example:
    """Read an example, or a counter-example of the example `about`, whose view it keeps."""
    text, pair = entry["text"], entry.get("pair", "")
    return Example(
        entry.get("title", f"{text} {pair}".strip()),
        text,
        pair,
        entry["notice"],
        tuple((layer - 1, head - 1) for layer, head in about["heads"]),
        about["words"],
        None if entry["focus"] is None else entry["focus"] - 1,
        tuple(_read(counter, about) for counter in entry.get("counters", ())),
    )


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


def notice(example: Example, model: str, *, shown: bool) -> str:
    """Return what to notice in an example, and in which heads of the embedded model.

    shown: whether those heads are on the screen, unmodified.
    """
    heads = texts.AND.join(head_name(head).lower() for head in example.heads)
    template = texts.HINT_SHOWN if shown else texts.HINT_ELSEWHERE
    hint = template.format(heads=heads, hint=example.notice)
    return hint if model == DEFAULT else f"{hint} {texts.HINT_OF_OTHER_MODEL.format(model=model_title(DEFAULT))}"
