"""Offer sentences worth looking at: by title, with a hint of what to notice and the view that shows it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from pages.ui.shell import texts
from pages.ui.shell.controls import Head, head_name, model_title
from tx_core.engine.catalogue import DEFAULT

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples" / "attention.json"


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
    """

    title: str
    text: str
    pair: str
    notice: str
    heads: tuple[Head, ...]
    words: bool
    focus: int | None


@cache
def curated() -> tuple[Example, ...]:
    """List the curated examples of the attention page; what they claim holds for the embedded model."""
    return tuple(
        Example(
            entry["title"],
            entry["text"],
            entry["pair"],
            entry["notice"],
            tuple((layer - 1, head - 1) for layer, head in entry["heads"]),
            entry["words"],
            None if entry["focus"] is None else entry["focus"] - 1,
        )
        for entry in json.loads(EXAMPLES.read_text(encoding="utf-8"))
    )


def offer(key: str, choices: Sequence[Example], shown: Example | None, choose: Callable[[Example], None]) -> None:
    """Offer examples by their titles, with the shown one marked; a click runs `choose` before the page runs again.

    A click on the marked one chooses it again: the way back to its view.
    """
    titles = {example.title: example for example in choices}
    st.session_state[key] = shown.title if shown else None

    def accept() -> None:
        if example := titles.get(st.session_state.get(key), shown):
            choose(example)

    st.pills(texts.EXAMPLES, list(titles), key=key, on_change=accept, wrap=True, label_visibility="collapsed")


def notice(example: Example, model: str, *, shown: bool) -> str:
    """Write what to notice in an example, and in which heads of the embedded model.

    shown: whether those heads are on the screen, unmodified.
    """
    heads = texts.AND.join(head_name(head).lower() for head in example.heads)
    template = texts.HINT_SHOWN if shown else texts.HINT_ELSEWHERE
    hint = template.format(heads=heads, hint=example.notice)
    return hint if model == DEFAULT else f"{hint} {texts.HINT_OF_OTHER_MODEL.format(model=model_title(DEFAULT))}"
