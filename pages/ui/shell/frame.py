"""What surrounds every page: its question, who computes, the link to this very view, the way to other pages."""

from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages import contents
from pages.ui.shell import cache, readiness
from pages.ui.shell.link_length import MAX_LINK_CHARACTERS, link_with, tell_length
from tx_core.errors import Busy, ChangeProblem, CheckpointProblem, ExplorerError, ModelUnavailable, TextProblem

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.engine.engine import Engine

DEVICES = {"cpu": "on the processor (CPU)", "cuda": "on the graphics card (CUDA)", "mps": "on Apple's GPU (MPS)"}
HEADINGS: dict[type[ExplorerError], str] = {
    TextProblem: "Check the input",
    CheckpointProblem: "The model cannot be loaded",
    ModelUnavailable: "Not available",
    ChangeProblem: "The change does not fit",
    Busy: "Busy at the moment",
}
"""What stands above the message of each kind of problem."""


def open_page(key: str) -> DeltaGenerator:
    """Begin a page: its question as title, one sentence on what it shows, and the badge of the engine.

    The badge is handed back: a page that computed with another model than the default one passes it to show_engine. It
    stays empty where nothing is computed.
    """
    page = contents.page(key)
    st.title(page.question, anchor=False)
    st.markdown(page.lead)
    badge, status = st.empty(), readiness.default_engine.status
    if not page.computes:
        return badge
    if status.state == "warming up":
        with badge:
            _watch_the_warmup()
    elif status.state == "ready":
        _write_badge(badge, status.model, status.device)
    return badge


def show_engine(badge: DeltaGenerator, model: str, device: str) -> None:
    """Say in the badge which model computed what the page shows, and on which device."""
    _write_badge(badge, model, device)


def engine_of(badge: DeltaGenerator, model: str) -> "Engine":
    """Give the engine that a part of a page computes with; raise ExplorerError, the badge empty, when it cannot be had.

    A part that is drawn anew may write outside itself only where it also wrote when the whole page ran.
    """
    try:
        return cache.engine(model)
    except ExplorerError:
        badge.empty()
        raise


@st.fragment
def share_link(holds: str = "Whoever opens this link sees what you see now.") -> None:
    """Offer the link that brings back this view; call it last, when every control has had its say in the URL.

    It is written when the reader asks for it: then it also holds what fragments changed since the page was drawn.
    holds: what the link brings back and what it cannot, where that is less than all.
    """
    length = tell_length()
    if length:
        st.caption(
            ":material/link_off: This text is too long for the address of the page. It stays here as long as you do; "
            "once the page is reloaded, it is gone."
        )
    shared = st.popover("Share this view", icon=":material/link:", key="share_link", on_change="rerun")
    if not shared.open:
        return
    with shared:
        if length:
            st.text(
                f"This view needs a link of {length:,} characters, and links over {MAX_LINK_CHARACTERS:,} often arrive "
                "cut off. Shorten the text and open this again, or send the text by itself."
            )
            return
        link = current_link()
        st.text(holds)
        st.code(link, language=None, wrap_lines=True)


def current_link() -> str:
    """Write the address of the current page with everything that its controls keep in the URL."""
    return link_with([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])


def explain(error: ExplorerError) -> None:
    """Show what went wrong and what to do about it; the message may quote the visitor and is never markup."""
    with st.container(border=True):
        heading = next((title for kind, title in HEADINGS.items() if isinstance(error, kind)), "This cannot be shown")
        st.markdown(f":orange[:material/info:] **{heading}**")
        st.text(str(error))


def ways_on(text: str, second: str, *keys: str) -> None:
    """Offer the ways to other pages by the questions that they answer, and take the sentence (or the two) along."""
    with st.container(horizontal=True):
        for page in map(contents.page, keys):
            carried = {name: written for name, written in (("text", text), (page.second, second)) if name and written}
            st.page_link(page.path, label=page.question, query_params=carried)


def _write_badge(badge: DeltaGenerator, model: str, device: str) -> None:
    badge.caption(f":material/memory: {model} · {DEVICES.get(device.split(':')[0], device)}")


@st.fragment(run_every=1.0)
def _watch_the_warmup() -> None:
    """Look again every second while the model loads; the rerun at its end brings the page up to date."""
    status = readiness.default_engine.status
    if status.state != "warming up":
        st.rerun()
    st.caption(":material/hourglass_top: The model is warming up")
