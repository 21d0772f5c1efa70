"""A visitor's own file of sentences: text, a table or CoNLL-U, read into the session."""

from collections.abc import Sequence

import streamlit as st

from pages.ui.shell.address import set_values, widget_key
from pages.ui.shell.controls import choice_box
from pages.ui.shell.numbers import plural
from pages.ui.shell.session import uploaded_file
from pages.ui.stage import background_runs, texts
from tx_core.corpus.sentence_file import LeftOut, Sentences, describe_left_out, read_sentences
from tx_core.settings import host_settings


def own_sentences(page: str) -> Sentences | None:
    """Return the sentences of the visitor's file; None where there is none yet."""
    return st.session_state.get(widget_key(page, "own_sentences"))


def ask_file(page: str, device: str) -> None:
    """Ask for a file, and of a table for the column. device: what reads it: it limits how many sentences there may be."""
    name = widget_key(page, "file")
    st.file_uploader(
        texts.SENTENCE_FILE,
        type=["txt", "csv", "tsv", "conllu"],
        key=name,
        max_upload_size=host_settings().max_sentence_file_megabytes,
        on_change=background_runs.attempt,
        args=(page, lambda: _read_own(page, device)),
    )
    own = own_sentences(page)
    if own is not None and len(own.columns) > 1 and uploaded_file(name):
        column = widget_key(page, "column")
        st.session_state[column] = own.column
        choice_box(
            texts.SENTENCE_COLUMN,
            own.columns,
            key=column,
            on_change=lambda: background_runs.attempt(page, lambda: _read_own(page, device, st.session_state[column])),
        )


def _read_own(page: str, device: str, column: str = "") -> None:
    """Read the uploaded file into the session; TextProblem for one that cannot be used."""
    uploaded = uploaded_file(widget_key(page, "file"))
    if uploaded is not None:  # None where the file was removed from the box: what was read stays
        uploaded.seek(0)
        before = own_sentences(page)
        with background_runs.naming_kept_file(before.source if before else ""):
            set_values(page, {"own_sentences": read_sentences(uploaded, uploaded.name, column, device)})


def show_sentences(sentences: Sentences) -> None:
    """Show what was read from the file, and which lines were left out and why."""
    count, pair = len(sentences), texts.SENTENCES_OF_COLUMN if sentences.column else texts.SENTENCES_READ
    st.text(plural(count, pair).format(count=count, source=sentences.source, column=sentences.column))
    show_left_out(sentences.left_out)


def show_left_out(left_out: Sequence[LeftOut]) -> None:
    """List lines that were left out, by reason."""
    if left_out:
        count = sum(one.count for one in left_out)
        with st.expander(plural(count, texts.LINES_LEFT_OUT).format(count=count), icon=":material/filter_alt_off:"):
            st.text(describe_left_out(left_out))
