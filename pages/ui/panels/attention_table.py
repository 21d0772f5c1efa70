"""The same attention in numbers: a table to read or to download, and the tokens as the model reads them."""

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from tx_core.errors import TextProblem

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.engine.engine import Engine
    from tx_core.transformer.trace import Encoding

SEGMENTS = ("first", "second")


def weights_table(queries: Sequence[str], keys: Sequence[str], weights: Float[np.ndarray, "query key"], *, key: str) -> None:
    """Offer the weights as a table, built only when it is opened, and as a CSV file."""
    opened = st.expander("The weights as a table", key=key, on_change="rerun")
    if not opened.open:
        return
    import pandas

    rows, columns = numbered(queries), numbered(keys)
    with opened:
        st.caption("Each row is a token that looks, each column a token that is looked at.")
        st.dataframe(pandas.DataFrame(weights.astype(float).round(4), index=rows, columns=columns))
        st.download_button(
            "Download as CSV",
            lambda: as_csv(rows, columns, weights),
            "attention.csv",
            "text/csv",
            key=f"{key}_csv",
            on_click="ignore",
            icon=":material/download:",
        )


def as_csv(rows: Sequence[str], columns: Sequence[str], weights: Float[np.ndarray, "query key"]) -> str:
    """Write the weights as CSV with six decimals; labels begin with a number, so no spreadsheet takes one for a formula."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(["query \\ key", *columns])
    table.writerows([label, *(f"{weight:.6f}" for weight in row)] for label, row in zip(rows, weights, strict=True))
    return written.getvalue()


def numbered(tokens: Sequence[str]) -> list[str]:
    """Give every token a label of its own: "3 flies"."""
    return [f"{place} {token}" for place, token in enumerate(tokens, 1)]


@st.fragment
def token_table(encodings: Sequence["Encoding"], *, key: str) -> None:
    """Show every token with its id, its sentence and what is special about it; built only when it is opened.

    encodings: the texts that the model read, a table for each.
    """
    sizes = " and ".join(f"{len(encoding):,}" for encoding in encodings)
    opened = st.expander(f"The {sizes} tokens, their ids and segments", key=key, on_change="rerun")
    if opened.open:
        with opened:
            for encoding in encodings:
                st.dataframe(token_rows(encoding), hide_index=True)


def token_rows(encoding: "Encoding") -> list[dict[str, object]]:
    """List the tokens, one row each, in words that need no legend."""
    return [
        {
            "place": place + 1,
            "token": encoding.tokens[place],
            "id": encoding.ids[place],
            "sentence": SEGMENTS[min(encoding.segments[place], 1)],
            "word": "" if (word := encoding.words[place]) is None else encoding.word_texts[word],
            "remark": _remark(encoding, place),
        }
        for place in range(len(encoding))
    ]


def _remark(encoding: "Encoding", place: int) -> str:
    if place in encoding.unknown:
        return "unknown to the model"
    if place in encoding.blanks:
        return "blank"
    return "special" if encoding.special[place] else ""


def warn_of_unknown(encodings: Sequence["Encoding"]) -> None:
    """Say how many pieces the model's vocabulary does not have."""
    unknown = sum(len(encoding.unknown) for encoding in encodings)
    if unknown:
        what = "One word or sign is" if unknown == 1 else f"{unknown} words or signs are"
        st.warning(
            f"{what} not in this model's vocabulary, so it reads an unknown token there, the same for all such words.",
            icon=":material/help:",
        )


def warn_of_unknown_in(engine: "Engine", *texts: str, pair: str = "") -> None:
    """Warn of what the model's vocabulary lacks in texts; one that it cannot read at all is told of where it would be shown."""
    with suppress(TextProblem):
        warn_of_unknown([engine.encode(text, pair or None) for text in texts])
