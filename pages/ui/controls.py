"""Widgets in, plain values out. What a browser sends is checked again here: its limits are only a courtesy."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from tx_core.errors import ModelUnavailable, TextProblem

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.engine import Engine
    from tx_core.models import ModelCard

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples.json"
TYPING_PAUSE = "250ms"

Head = tuple[int, int]


@dataclass(frozen=True)
class Example:
    """A sentence, or two, worth looking at: what to notice, and the heads (layer, head from 0) that show it."""

    title: str
    text: str
    pair: str
    notice: str
    heads: tuple[Head, ...]
    words: bool = False


@cache
def curated() -> tuple[Example, ...]:
    """List the curated examples of the attention page; what they claim is true of the embedded model."""
    entries = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return tuple(
        Example(entry["title"], entry["text"], entry["pair"], entry["notice"],
                tuple((layer - 1, head - 1) for layer, head in entry["heads"]), entry["words"])
        for entry in entries
    )  # fmt: skip


def model(key: str = "model") -> str:
    """Let the reader choose a model; give its name, as `cache.engine` takes it.

    Any hub id may be typed where the host allows it.
    """
    from tx_core import models

    names = [card.name for card in models.catalogue()]
    asked = st.session_state.get(key, models.DEFAULT)
    if asked not in names and not models.any_model_allowed():
        st.session_state[key] = models.DEFAULT
    elif asked not in names:
        names.append(asked)
    chosen = st.selectbox(
        "Model", names, key=key, format_func=model_title, accept_new_options=models.any_model_allowed(),
        help="Models other than the first are fetched from the model hub when you choose them.",
    )  # fmt: skip
    return chosen or models.DEFAULT


def model_title(name: str) -> str:
    """Give the title of a model by its name; a hub id that is in no catalogue stands for itself."""
    from tx_core import models

    try:
        return models.card(name).title
    except ModelUnavailable:
        return name


def describe_model(name: str) -> None:
    """Say in small print how large the model is, its licence, its heads, and whether it fills blanks."""
    from tx_core import models

    try:
        card = models.card(name)
    except ModelUnavailable:
        return
    st.caption(model_facts(card))


def model_facts(card: "ModelCard") -> str:
    """Write what a reader should know of a model in one line; parts that are not known are left out."""
    facts = [
        f"{card.num_layers} layers × {card.num_heads} heads" if card.num_layers else "",
        f"{card.megabytes:,} MB" if card.megabytes else "",
        f"licence: {card.licence}",
        "fills blanks" if card.fills_blanks else "cannot fill blanks",
    ]
    return " · ".join(fact for fact in facts if fact) + (f". {card.note}" if card.note else "")


def sentence(key: str, label: str = "Sentence", *, default: str = "", placeholder: str = "", help: str | None = None) -> str:
    """Let the reader type a sentence, live; give it as it stands in the box, whatever it is.

    Nothing is cut or refused here: the page shows what the model says about the text and the text stays.
    """
    st.session_state.setdefault(key, default)
    written = st.text_input(
        label, key=key, live=TYPING_PAUSE, placeholder=placeholder, help=help, autocomplete="off"
    )
    return written or ""


def budget(engine: "Engine", text: str, pair: str = "") -> str:
    """Say how many of the model's tokens a text takes, as in "14 of 128 tokens"; "" where it cannot be read."""
    try:
        used = len(engine.tokenizer.encode(text, pair or None))
    except TextProblem:
        return ""
    return f"{used:,} of {engine.max_tokens:,} tokens"


def examples(key: str, choices: Sequence[Example], choose: Callable[[Example], None]) -> None:
    """Offer examples by their titles; a click runs `choose` with the example before the page runs again."""

    def picked() -> None:
        titles = {example.title: example for example in choices}
        if (title := st.session_state.get(key)) in titles:
            choose(titles[title])

    st.pills("Examples", [example.title for example in choices], key=key, on_change=picked, wrap=True)


def layer_and_heads(key: str, num_layers: int, num_heads: int) -> list[Head]:
    """Let the reader choose heads by name; give (layer, head) counted from 0, at least one, each of which exists."""
    options = [(layer, head) for layer in range(num_layers) for head in range(num_heads)]
    asked = st.session_state.get(key)
    exist = [head for head in asked or () if head in options] or options[:1]
    if asked != exist:
        st.session_state[key] = exist
    chosen = st.multiselect("Heads shown", options, key=key, format_func=head_name, placeholder="Choose a head")
    return [head for head in chosen if head in options] or options[:1]


def head_name(head: Head) -> str:
    """Name a head as a reader counts: (2, 4) is "layer 3, head 5"."""
    return f"Layer {head[0] + 1}, head {head[1] + 1}"
