"""Sentences worth looking at: offered by their titles, with what to notice in them and the view that shows it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from pages.ui.shell.controls import Head, head_name, model_title

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples" / "attention.json"


@dataclass(frozen=True)
class Example:
    """A sentence, or two, worth looking at: what to notice, and the view that shows it.

    heads: (layer, head), counted from 0. focus: the place of the piece to look from, counted from 0, or None.
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
    """List the curated examples of the attention page; what they claim is true of the embedded model."""
    entries = json.loads(EXAMPLES.read_text(encoding="utf-8"))
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
        for entry in entries
    )


def offer(key: str, choices: Sequence[Example], shown: Example | None, choose: Callable[[Example], None]) -> None:
    """Offer examples by their titles, the one that is shown marked; a click runs `choose` before the page runs again.

    A click on the marked one chooses it anew: the way back to what it shows.
    """
    titles = {example.title: example for example in choices}
    st.session_state[key] = shown.title if shown else None

    def picked() -> None:
        if chosen := titles.get(st.session_state.get(key), shown):
            choose(chosen)

    st.pills("Examples", list(titles), key=key, on_change=picked, wrap=True, label_visibility="collapsed")


def notice(example: Example, model: str, *, shown: bool) -> str:
    """Write what to notice in an example, and where: in heads of the embedded model, which other models need not share.

    shown: whether those heads are on the screen, with nothing changed; where they are not, the text says so.
    """
    from tx_core.engine import catalogue

    where = " and ".join(head_name(head).lower() for head in example.heads)
    where = f"In {where}" if shown else f"Not what is shown now, but in {where}, with nothing changed"
    told = f":material/lightbulb: **{where}:** {example.notice}"
    if model == catalogue.DEFAULT:
        return told
    return f"{told} This was seen in {model_title(catalogue.DEFAULT)}: another model may do it in another head, or not at all."
