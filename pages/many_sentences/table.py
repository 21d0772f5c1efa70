"""All heads over many sentences in numbers: a table that can be sorted, and a file to take along."""

import csv
import io
from typing import TYPE_CHECKING

import streamlit as st

from pages.many_sentences.head import OWN, ranked
from pages.ui.canvas import head_kinds
from pages.ui.shell.address import widget_key

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.corpus.statistics import HeadReport

FILE = "heads_over_sentences.csv"


def table(page: str, report: "HeadReport") -> None:
    """Show the numbers of all heads, and offer them as CSV."""
    import pandas

    rows = head_rows(report)
    st.subheader("All heads in numbers", anchor=False)
    st.caption(
        "Click a column's name to sort by it. Shares are of the attention of the sentences' own tokens; a link may count "
        "for two kinds."
    )
    st.dataframe(pandas.DataFrame(rows), hide_index=True)
    st.download_button(
        "Download as CSV",
        lambda: as_csv(rows),
        FILE,
        "text/csv",
        key=widget_key(page, "csv"),
        on_click="ignore",
        icon=":material/download:",
    )


def head_rows(report: "HeadReport") -> list[dict[str, object]]:
    """List the heads, one row each, with all that is known of them; sentences by their lines in the file."""
    from tx_core.analysis.patterns import TARGETED_KINDS

    looks, shares, lines = head_kinds.looks(report.example), report.sums.shares, report.sentences.lines
    return [
        {
            "layer": one.layer + 1,
            "head": one.head + 1,
            "kind": looks[one.kind].word,
            "confidence": round(one.confidence, 3),
            "in part of sentences": round(one.agreement, 3),
            "next kind": looks[one.second].word,
            "spread (0 to 1)": _number(report.spread, one),
            "entropy (nats)": _number(report.entropy, one),
            "distance (tokens)": _number(report.distance, one),
        }
        | {
            f"to {looks[kind].word}": round(float(shares[one.layer, one.head, place]), 3)
            for place, kind in enumerate(TARGETED_KINDS)
        }
        | {"strongest in lines": " ".join(str(lines[text]) for text in ranked(report, (one.layer, one.head), OWN)[0])}
        for one in report.patterns
    ]


def as_csv(rows: list[dict[str, object]]) -> str:
    """Write the rows as CSV. A cell is a number, the name of a kind, or lines: nothing that a spreadsheet would run."""
    written = io.StringIO()
    writer = csv.DictWriter(written, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _number(numbers, one) -> float:
    return round(float(numbers[one.layer, one.head]), 3)
