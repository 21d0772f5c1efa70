"""Draw the widgets that pages share and return plain values; what a browser sends is checked again here."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, TypeVar

import streamlit as st

from pages.ui.shell import readiness, texts
from pages.ui.shell.address import is_offered, widget_binding
from tx_core.engine import catalogue
from tx_core.engine.catalogue import ModelCard
from tx_core.engine.download import CATALOGUE
from tx_core.engine.engine import Engine
from tx_core.errors import ModelUnavailable, TextProblem
from tx_core.settings import host_settings
from tx_core.transformer.interventions import Head

Option = TypeVar("Option")
MIME_TYPES = {"csv": "text/csv", "html": "text/html", "json": "application/json", "yaml": "application/yaml"}
"""Of the files that a page offers, by suffix; all others are binary."""


def embedded_sizes() -> Head:
    """Return the number of layers and of heads of the model that ships with the app, without importing torch."""
    entries = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    return next((entry["num_layers"], entry["num_heads"]) for entry in entries if "hub_id" not in entry)


def model(
    key: str = "model", *, offers: Callable[[ModelCard], bool] | None = None, label: str = texts.MODEL, **shown: Any
) -> str:
    """Draw the choice of a model; return its name, as `cache.engine` takes it.

    Those that cannot be had here are marked in the list. Any hub id may be typed where the host allows it.
    offers: where given, which models of the list are offered; one that a link names stays, for the page says why it does not
    take it. shown: as `st.selectbox` takes it.
    """
    labels = _model_labels()
    any_model = host_settings().any_model and (offers is None or offers(catalogue.hub_card("any")))
    names = [card.name for card in catalogue.offered() if offers is None or offers(card)]
    wanted = _name_of_label(st.session_state.setdefault(key, catalogue.DEFAULT))
    if wanted not in names and (any_model or _exists(wanted)):
        names.append(wanted)
    st.session_state[key] = wanted if wanted in names else catalogue.DEFAULT
    if not is_offered(key):
        return st.session_state[key]
    chosen = st.selectbox(
        label,
        names,
        format_func=lambda name: labels.get(name, name),
        accept_new_options=any_model,
        help="\n".join([texts.ALL_MODELS, "", *(f"- **{card.title}**: {model_facts(card)}" for card in catalogue.offered())]),
        **widget_binding(key),
        **shown,
    )
    return chosen or catalogue.DEFAULT


def _model_labels() -> dict[str, str]:
    """Return the label of each model in the list, by name."""
    # Whoever loads the default model asks what can be reached when it is there.
    missing = () if readiness.is_awaited() else catalogue.hub_reach.out_of_reach()
    return {
        card.name: texts.MODEL_OUT_OF_REACH.format(model=card.title) if card.name in missing else card.title
        for card in catalogue.offered()
    }


def _name_of_label(label: str) -> str:
    """Return the name of a model by a label, which a browser sends back, of this list or an earlier one; any other word is a
    name.
    """
    titles = {
        title: card.name
        for card in catalogue.offered()
        for title in (card.title, texts.MODEL_OUT_OF_REACH.format(model=card.title))
    }
    return titles.get(label, label)


def _exists(name: str) -> bool:
    return any(name == card.name for card in catalogue.offered())


def read_model(name: str) -> str:
    """Return the name of a model that may be chosen here; raise ValueError for any other."""
    try:
        return catalogue.card(name).name
    except ModelUnavailable as unknown:
        raise ValueError(str(unknown)) from unknown


def model_title(name: str) -> str:
    """Return the title of a model by its name; a hub id that is in no catalogue is its own title."""
    return next((card.title for card in catalogue.offered() if card.name == name), name)


def wait_for(name: str) -> AbstractContextManager:
    """Show that a model is being loaded, and first downloaded if it is not on this machine; nothing for a built-in one."""
    if catalogue.card(name).is_embedded:
        return nullcontext()
    here = catalogue.is_on_this_machine(name)
    return st.spinner(texts.LOADING_MODEL if here else texts.DOWNLOADING_MODEL, show_time=True)


def offer_default_model(key: str, name: str = catalogue.DEFAULT) -> None:
    """Offer a button back to a built-in model after another one failed, or a retry where it is that one."""
    if st.session_state[key] == name:
        st.button(texts.TRY_AGAIN, key=f"{key}_again", icon=":material/refresh:")
    else:
        _offer_model(key, name, f"{key}_default")


def offer_multilingual_model(key: str) -> None:
    """Offer a button to a multilingual model, where one is available."""
    missing = catalogue.hub_reach.out_of_reach()
    there = next((card.name for card in catalogue.catalogue() if not card.english_only and card.name not in missing), None)
    if there:
        _offer_model(key, there, f"{key}_multilingual")


def _offer_model(key: str, name: str, button: str) -> None:
    """Offer one click to a model."""
    st.button(texts.USE_MODEL.format(model=model_title(name)), key=button, on_click=st.session_state.update, args=({key: name},))


def model_facts(card: ModelCard) -> str:
    """Return the known facts about a model in one line."""
    facts = [
        texts.MODEL_SIZE.format(layers=card.num_layers, heads=card.num_heads) if card.num_layers else "",
        texts.MODEL_MEGABYTES.format(megabytes=card.megabytes) if card.megabytes else "",
        texts.MODEL_LICENCE.format(licence=card.licence) if card.licence else "",
        texts.FILLS_BLANKS if card.fills_blanks else texts.CANNOT_FILL_BLANKS,
    ]
    return " · ".join(fact for fact in facts if fact) + (f". {card.note}" if card.note else "")


def sentence(
    key: str,
    label: str = texts.SENTENCE,
    *,
    placeholder: str = "",
    label_visibility: Literal["visible", "collapsed"] = "visible",
    width: Literal["stretch"] | int = "stretch",
    letter: str = "",
) -> str:
    """Draw a live text box; return its text, which the page may refuse but never cuts. width: in pixels, or the space that there
    is.

    letter: stands before the box, of two sentences that are compared.
    """
    st.session_state.setdefault(key, "")
    if not is_offered(key):
        return st.session_state[key]
    row = st
    if letter:
        row = st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall")
        row.markdown(f"**{letter}**", width="content")
    # True is a pause of 250 ms; Streamlit reads one that is written out, "250ms", by importing pandas.
    written = row.text_input(
        label,
        live=True,
        placeholder=placeholder,
        autocomplete="off",
        label_visibility=label_visibility,
        width=width,
        **widget_binding(key),
    )
    return written or ""


def ask_option(label: str, titles: Mapping[str, str], **more: Any) -> Any:
    """Ask for one of several options by its title; one is always chosen. more: as `st.segmented_control` takes it."""
    return st.segmented_control(label, list(titles), format_func=titles.get, required=True, **more)


def budget(engine: Engine, text: str, pair: str = "") -> str:
    """Return how many of the model's tokens a text takes, as in "14 of 128 tokens"; "" where it cannot be tokenized."""
    try:
        used = len(engine.tokenizer.encode(text, pair or None))
    except TextProblem:
        return ""
    return texts.TOKEN_BUDGET.format(used=used, limit=engine.info.max_tokens)


def choice_box(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    on_change: Callable[[], None] | None = None,
    **shown: Any,
) -> Option | None:
    """Offer a choice from a list, as st.selectbox does; return what is chosen.

    A browser may send the label of an option that this list no longer has: Streamlit would return that; here the choice stays.
    """

    def accept() -> None:
        if st.session_state[key] is not None and st.session_state[key] not in options:
            st.session_state[key] = chosen
        elif on_change:
            on_change()

    chosen = st.selectbox(label, options, key=key, on_change=accept, **shown)
    return chosen


def head_name(head: Head) -> str:
    """Return the name of a head, counted from 1: (2, 4) is "Layer 3, head 5"."""
    return texts.HEAD.format(layer=head[0] + 1, head=head[1] + 1)


def download_button(
    label: str,
    content: str | bytes | Callable[[], str | bytes],
    file_name: str,
    *,
    key: str | None = None,
    disabled: bool = False,
) -> None:
    """Offer a file, which a function writes only when it is asked for. The page does not run again."""
    mime = MIME_TYPES.get(file_name.rpartition(".")[2], "application/octet-stream")
    options = {"on_click": "ignore", "icon": ":material/download:", "key": key, "disabled": disabled}
    st.download_button(label, content, file_name, mime, **options)


def qr_code(link: str) -> str:
    """Draw a link as a QR code, black on white with the margin that readers need; return it as a data URI."""
    import segno  # only two pages draw one

    return segno.make(link, error="l", micro=False).svg_data_uri(scale=4, border=4, dark="#000000", light="#ffffff")
