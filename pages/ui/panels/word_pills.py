"""The words of a sentence as buttons: one click makes a word a blank, another brings it back."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.fill_mask.blanks import Part

MAX_WORD_BUTTONS = 150


def word_pills(text_key: str, fill_in: Callable[[str, int], str]) -> None:
    """Show the words of the text in the session under text_key; blanks are the selected ones.

    A blank brings back the word that it was made of; for one that was typed, `fill_in(text, number)` gives the
    sentence instead. Texts of more than MAX_WORD_BUTTONS words are edited in their box only, and the page says so.
    """
    from tx_core.engine.tokenizer import MAX_TEXT_CHARACTERS
    from tx_core.fill_mask.blanks import parts

    text = st.session_state[text_key]
    if len(text) > MAX_TEXT_CHARACTERS:  # which the model refuses: below, the page says by how much it is too long
        return
    found = parts(text)
    if not found:
        return
    if len(found) > MAX_WORD_BUTTONS:
        st.caption(f"With more than {MAX_WORD_BUTTONS} words, blanks are made in the box: type ___ where a word should go.")
        return
    behind = _words_behind(text_key, text)
    names = iter(behind)
    labels = _told_apart([_blank_label(next(names)) if part.blank else as_typed(part.text) for part in found])
    key = f"{text_key}_blanks"
    blanks = [place for place, part in enumerate(found) if part.blank]
    st.session_state[key] = blanks

    def toggled() -> None:
        changed = set(st.session_state[key]) ^ set(blanks)
        if changed and st.session_state[text_key] == text:  # not if something else was typed since
            toggle(text_key, found, min(changed), behind, fill_in)

    st.pills(
        "Click a word to blank it, click a blank to bring the word back or to see a guess",
        range(len(found)),
        key=key,
        selection_mode="multi",
        format_func=lambda place: labels[place],
        on_change=toggled,
        wrap=True,
    )


def toggle(
    text_key: str, found: "tuple[Part, ...]", place: int, behind: tuple[str, ...], fill_in: Callable[[str, int], str]
) -> None:
    """Make a blank of a word, or a word of a blank, in the session's text."""
    from tx_core.fill_mask.blanks import NEW_BLANK, put

    text, part = st.session_state[text_key], found[place]
    number = sum(before.blank for before in found[:place])
    if not part.blank:
        written, behind = put(text, part, NEW_BLANK), (*behind[:number], part.text, *behind[number:])
    elif behind[number]:
        written, behind = put(text, part, behind[number]), (*behind[:number], *behind[number + 1 :])
    else:
        written, behind = fill_in(text, number), (*behind[:number], *behind[number + 1 :])
    st.session_state[text_key] = written
    _keep(text_key, written, behind)


def blank_last_word(text_key: str) -> None:
    """Make a blank of the last word of the session's text."""
    from tx_core.fill_mask.blanks import parts

    found = parts(st.session_state[text_key])
    if found:
        behind = _words_behind(text_key, st.session_state[text_key])
        toggle(text_key, found, len(found) - 1, behind, lambda text, _: text)


def as_typed(text: str) -> str:
    """Let Streamlit's Markdown write a text as it stands."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _blank_label(word: str) -> str:
    return f"~~{as_typed(word)}~~" if word else r"\[MASK\]"


def _told_apart(labels: list[str]) -> list[str]:
    """Make equal labels differ by spaces of no width: Streamlit knows an option by what it looks like."""
    seen: dict[str, None] = {}
    for label in labels:
        while label in seen:
            label += "\u200b"
        seen[label] = None
    return list(seen)


def _words_behind(text_key: str, text: str) -> tuple[str, ...]:
    """Give the word that stood at each blank before it became one, "" where none is known; remember it with the text."""
    from tx_core.fill_mask.blanks import carry, parts

    named = tuple(st.session_state.get(f"{text_key}_behind", "").split(","))
    blanks = sum(part.blank for part in parts(text))
    before, known = st.session_state.get(f"{text_key}_behind_in", ("", ()))
    if st.session_state.get(f"{text_key}_behind", "") != _written(known):  # a link brought other words
        before, known = text, named if len(named) == blanks else ("",) * blanks
    behind = carry(before, known, text)
    _keep(text_key, text, behind)
    return behind


def _keep(text_key: str, text: str, behind: tuple[str, ...]) -> None:
    """Remember the words behind the blanks: as a link holds them, and with the text that they belong to."""
    st.session_state[f"{text_key}_behind"] = _written(behind)
    st.session_state[f"{text_key}_behind_in"] = (text, behind)


def _written(behind: tuple[str, ...]) -> str:
    """Write the words for an address, with commas, which no word contains; nothing where there are none."""
    return ",".join(behind) if any(behind) else ""
