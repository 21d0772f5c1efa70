"""A visitor's own file of sentences: text, a table or CoNLL-U, read into the session."""

from collections.abc import Sequence
from operator import attrgetter

import streamlit as st

from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import choice_box
from pages.ui.shell.numbers import plural
from pages.ui.shell.session import UploadedFile, uploaded_file
from pages.ui.stage import texts
from pages.ui.stage.background_runs import ask_upload, attempt, keep_upload
from pages.ui.stage.tokens import escape_markdown
from tx_core.corpus.sentence_file import LeftOut, Sentences, describe_left_out, read_sentences


def own_sentences(page: str) -> Sentences | None:
    """Return the sentences of the visitor's file; None where there is none yet."""
    return st.session_state.get(widget_key(page, "own_sentences"))


def ask_file(page: str, device: str) -> None:
    """Ask for a file, and of a table for the column. device: what reads it: it limits how many sentences there may be."""
    column, types = widget_key(page, "column"), ["txt", "csv", "tsv", "conllu"]
    source = attrgetter("source")

    def read(file: UploadedFile, of_column: str = "") -> Sentences:
        return read_sentences(file, file.name, of_column, device)

    def read_column() -> None:
        keep_upload(page, "file", "own_sentences", lambda file: read(file, st.session_state[column]), source)

    own = ask_upload(page, "file", texts.SENTENCE_FILE, types, "own_sentences", read, source)
    if own is not None and len(own.columns) > 1 and uploaded_file(widget_key(page, "file")):
        st.session_state[column] = own.column
        choice_box(texts.SENTENCE_COLUMN, own.columns, key=column, on_change=lambda: attempt(page, read_column))


def show_sentences(sentences: Sentences) -> None:
    """Show what was read from the file, and which lines were left out and why."""
    count, pair = len(sentences), texts.SENTENCES_OF_COLUMN if sentences.column else texts.SENTENCES_READ
    st.text(plural(count, pair).format(count=count, source=sentences.source, column=sentences.column))
    show_left_out(sentences.left_out)


def show_left_out(left_out: Sequence[LeftOut]) -> None:
    """List lines that were left out, by reason."""
    if left_out:
        count, reasons = sum(one.count for one in left_out), ", ".join(one.why for one in left_out)
        title = plural(count, texts.LINES_LEFT_OUT).format(count=count, reasons=escape_markdown(reasons))
        with st.expander(title, icon=":material/filter_alt_off:"):
            st.text(describe_left_out(left_out))
