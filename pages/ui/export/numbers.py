"""The numbers of a view as files: CSV, JSON or NPZ, written when they are asked for."""

import streamlit as st

from pages.ui.export.exhibit import Exhibit
from pages.ui.shell.address import widget_binding, widget_key
from tx_core.analysis.weights_file import MOST

KINDS = {"csv": "text/csv", "json": "application/json", "npz": "application/octet-stream"}


def numbers(page: str, exhibit: Exhibit) -> None:
    """Offer the numbers with their tokens, several kinds of them where the view has some."""
    names = [one.name for one in exhibit.numbers]
    chosen = exhibit.numbers[0]
    if len(names) > 1:
        name = widget_key(page, "numbers_scope")
        if st.session_state.get(name) not in names:
            st.session_state[name] = names[0]
        st.segmented_control("Which numbers", names, required=True, **widget_binding(name))
        chosen = exhibit.numbers[names.index(st.session_state[name])]
    st.caption(chosen.told)
    with st.container(horizontal=True):
        for form, write in chosen.files.items():
            st.download_button(
                f"Save as {form.upper()}",
                write or b"",
                f"{chosen.file_name}.{form}",
                KINDS[form],
                key=widget_key(page, f"numbers_{form}"),
                on_click="ignore",
                icon=":material/download:",
                disabled=write is None,
            )
    if None in chosen.files.values():
        st.info(
            f"A file of text holds at most {MOST['csv']:,} numbers here, an NPZ file {MOST['npz']:,}: "
            "take a smaller kind of file, what is shown, or a shorter text."
        )
