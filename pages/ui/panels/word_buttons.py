"""The words of a sentence as buttons: one click makes a word a blank, another brings it back."""

from collections.abc import Callable

import streamlit as st

from pages.ui.panels import texts
from pages.ui.panels.tokens import escape_markdown
from tx_core.fill_mask import blanks
from tx_core.fill_mask.blanks import TextPart
from tx_core.settings import host_settings

MAX_WORD_BUTTONS = 150


def word_buttons(text_key: str, fill_in: Callable[[str, int], str]) -> None:
    """Show the words of the text in the session under text_key; blanks are the selected ones.

    A blank brings back the word that it replaced; for one that was typed, `fill_in(text, number)` gives the
    sentence instead. Texts of more than MAX_WORD_BUTTONS words are edited in their box only, and the page says so.
    """
    text = st.session_state[text_key]
    if len(text) > host_settings().max_text_characters:  # below, the page says by how much it is too long
        return
    parts = blanks.text_parts(text)
    if not parts:
        return
    if len(parts) > MAX_WORD_BUTTONS:
        st.caption(texts.TOO_MANY_WORDS.format(maximum=MAX_WORD_BUTTONS))
        return
    originals = _original_words(text_key, text)
    names = iter(originals)
    labels = _made_unique([_blank_label(next(names)) if part.blank else escape_markdown(part.text) for part in parts])
    key = f"{text_key}_blanks"
    selected = [number for number, part in enumerate(parts) if part.blank]
    st.session_state[key] = selected

    def take_click() -> None:
        changed = set(st.session_state[key]) ^ set(selected)
        if changed and st.session_state[text_key] == text:  # not if something else was typed since
            toggle_blank(text_key, parts, min(changed), originals, fill_in)

    st.pills(
        texts.WORD_BUTTONS,
        range(len(parts)),
        key=key,
        selection_mode="multi",
        format_func=lambda number: labels[number],
        on_change=take_click,
        wrap=True,
    )


def toggle_blank(
    text_key: str, parts: tuple[TextPart, ...], clicked: int, originals: tuple[str, ...], fill_in: Callable[[str, int], str]
) -> None:
    """Make a blank of a word, or a word of a blank, in the session's text.

    clicked: which of the parts. originals: the word that each blank replaced, "" where none is known.
    """
    text, part = st.session_state[text_key], parts[clicked]
    number = sum(before.blank for before in parts[:clicked])
    if not part.blank:
        edited = blanks.replace_part(text, part, blanks.NEW_BLANK)
        originals = (*originals[:number], part.text, *originals[number:])
    else:
        edited = blanks.replace_part(text, part, originals[number]) if originals[number] else fill_in(text, number)
        originals = (*originals[:number], *originals[number + 1 :])
    st.session_state[text_key] = edited
    _remember_originals(text_key, edited, originals)


def blank_last_word(text_key: str) -> None:
    """Make a blank of the last word of the session's text."""
    text = st.session_state[text_key]
    if parts := blanks.text_parts(text):
        toggle_blank(text_key, parts, len(parts) - 1, _original_words(text_key, text), lambda text, _: text)


def _blank_label(word: str) -> str:
    return f"~~{escape_markdown(word)}~~" if word else r"\[MASK\]"


def _made_unique(labels: list[str]) -> list[str]:
    """Make equal labels differ by spaces of no width: Streamlit knows an option by what it looks like."""
    unique: dict[str, None] = {}
    for label in labels:
        while label in unique:
            label += "\u200b"
        unique[label] = None
    return list(unique)


def _original_words(text_key: str, text: str) -> tuple[str, ...]:
    """Give the word that each blank replaced, "" where none is known; remember them with the text."""
    linked = st.session_state.get(f"{text_key}_behind", "")
    before, known = st.session_state.get(f"{text_key}_behind_in", ("", ()))
    if linked != _in_address(known):  # a link brought other words
        words, count = tuple(linked.split(",")), sum(part.blank for part in blanks.text_parts(text))
        before, known = text, words if len(words) == count else ("",) * count
    originals = blanks.carry_words(before, known, text)
    _remember_originals(text_key, text, originals)
    return originals


def _remember_originals(text_key: str, text: str, originals: tuple[str, ...]) -> None:
    """Keep the words that blanks replaced: as a link holds them, and with the text that they belong to."""
    st.session_state[f"{text_key}_behind"] = _in_address(originals)
    st.session_state[f"{text_key}_behind_in"] = (text, originals)


def _in_address(originals: tuple[str, ...]) -> str:
    """Write the words for an address, with commas, which no word contains; nothing where there are none."""
    return ",".join(originals) if any(originals) else ""
