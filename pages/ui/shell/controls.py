"""Widgets in, plain values out. What a browser sends is checked again here: its limits are only a courtesy."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.shell.address import widget_binding
from tx_core.engine.download import CATALOGUE
from tx_core.errors import ModelUnavailable, TextProblem

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.engine.catalogue import ModelCard
    from tx_core.engine.engine import Engine

TYPING_PAUSE = "250ms"

Head = tuple[int, int]


def embedded_sizes() -> Head:
    """Give the layers and the heads of the model that ships with the app, without importing torch for it."""
    entries = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    return next((entry["num_layers"], entry["num_heads"]) for entry in entries if "hub_id" not in entry)


def model(key: str = "model") -> str:
    """Let the reader choose a model; give its name, as `cache.engine` takes it.

    Any hub id may be typed where the host allows it.
    """
    from tx_core.engine import catalogue

    names = [card.name for card in catalogue.catalogue()]
    asked = st.session_state.setdefault(key, catalogue.DEFAULT)
    if asked not in names and catalogue.any_model_allowed():
        names.append(asked)
    elif asked not in names:
        st.session_state[key] = catalogue.DEFAULT
    chosen = st.selectbox(
        "Model",
        names,
        format_func=model_title,
        accept_new_options=catalogue.any_model_allowed(),
        help=_all_models(),
        **widget_binding(key),
    )
    return chosen or catalogue.DEFAULT


def read_model(name: str) -> str:
    """Give back the name of a model that may be chosen here; raise ValueError for any other."""
    from tx_core.engine import catalogue

    try:
        return catalogue.card(name).name
    except ModelUnavailable as unknown:
        raise ValueError(str(unknown)) from unknown


def model_title(name: str) -> str:
    """Give the title of a model by its name; a hub id that is in no catalogue stands for itself."""
    from tx_core.engine import catalogue

    return next((card.title for card in catalogue.catalogue() if card.name == name), name)


def wait_for(name: str) -> AbstractContextManager:
    """Tell the reader that a model is being fetched and loaded; nothing for the one that is always there."""
    from tx_core.engine import catalogue

    return nullcontext() if name == catalogue.DEFAULT else st.spinner("Fetching and loading the model …", show_time=True)


def offer_default_model(key: str) -> None:
    """Offer one click back to the model that ships with the app, after another one could not be had.

    The whole page follows, also where the button stands in a part of it: that part holds on to the model of its last run.
    """
    from tx_core.engine import catalogue

    def choose() -> None:
        st.session_state[key] = catalogue.DEFAULT
        st.rerun()

    st.button(f"Use {model_title(catalogue.DEFAULT)}", key=f"{key}_default", on_click=choose)


@cache
def _all_models() -> str:
    from tx_core.engine import catalogue

    lines = [f"- **{card.title}**: {model_facts(card)}" for card in catalogue.catalogue()]
    return "\n".join(["All but the first are fetched from the model hub when you choose them.", "", *lines])


def model_facts(card: "ModelCard") -> str:
    """Write what a reader should know of a model in one line; parts that are not known are left out."""
    facts = [
        f"{card.num_layers} layers × {card.num_heads} heads" if card.num_layers else "",
        f"{card.megabytes:,} MB" if card.megabytes else "",
        f"licence: {card.licence}",
        "fills blanks" if card.fills_blanks else "cannot fill blanks",
    ]
    return " · ".join(fact for fact in facts if fact) + (f". {card.note}" if card.note else "")


def sentence(
    key: str,
    label: str = "Sentence",
    *,
    default: str = "",
    placeholder: str = "",
    help: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> str:
    """Let the reader type a sentence, live; give it as it stands in the box, whatever it is.

    Nothing is cut or refused here: the page shows what the model says about the text and the text stays.
    """
    st.session_state.setdefault(key, default)
    written = st.text_input(
        label, live=TYPING_PAUSE, placeholder=placeholder, help=help, autocomplete="off", **widget_binding(key, on_change)
    )
    return written or ""


def budget(engine: "Engine", text: str, pair: str = "") -> str:
    """Say how many of the model's tokens a text takes, as in "14 of 128 tokens"; "" where it cannot be read."""
    try:
        used = len(engine.tokenizer.encode(text, pair or None))
    except TextProblem:
        return ""
    return f"{used:,} of {engine.max_tokens:,} tokens"


def keep_existing_heads(key: str, num_layers: int, num_heads: int) -> bool:
    """Leave out heads that the model does not have, and put the first in place of none; tell whether all were there."""
    asked = list(st.session_state.get(key) or [])
    exist = [(layer, head) for layer, head in asked if 0 <= layer < num_layers and 0 <= head < num_heads]
    if asked != exist or not exist:
        st.session_state[key] = exist or [(0, 0)]
    return asked == exist


def layer_and_heads(key: str, num_layers: int, num_heads: int) -> list[Head]:
    """Let the reader choose a head by name; give the chosen (layer, head) counted from 0, each of which exists.

    Several heads are chosen on the wall. A multiselect would do both, but its tags are too pale in the dark.
    """
    keep_existing_heads(key, num_layers, num_heads)
    heads, named = st.session_state[key], f"{key}_named"
    st.session_state[named] = heads[0] if len(heads) == 1 else None

    def take() -> None:
        if (head := st.session_state[named]) is not None:
            st.session_state[key] = [head]

    options = [(layer, head) for layer in range(num_layers) for head in range(num_heads)]
    placeholder = f"Mean of {len(heads)} heads"
    st.selectbox("Head shown", options, None, head_name, placeholder=placeholder, key=named, on_change=take)
    return heads


def head_name(head: Head) -> str:
    """Name a head as a reader counts: (2, 4) is "layer 3, head 5"."""
    return f"Layer {head[0] + 1}, head {head[1] + 1}"
