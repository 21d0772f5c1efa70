"""Two maps side by side, their difference, the same in a sentence and in a table."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Int

from pages.compare.canvas import comparison_maps
from pages.compare.run import Run
from pages.compare.sides_controls import tell_changes
from pages.compare.state import VARIES, Side, name_head
from pages.ui.canvas.attention_view import focused_token
from pages.ui.shell import controls
from pages.ui.shell.address import widget_key
from pages.ui.shell.plain_names import shortened

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.analysis.comparison import Comparison

MAX_LINK_ROWS = 2000
MAX_MISSING_WORDS = 12
MAX_TITLE_CHARACTERS = 48
SAME_MODEL = (
    "A and B are the same model: choose another one for B. Without a model hub, “A model that nobody trained” above shows the "
    "trained model beside its twin with random weights."
)
CAN_TELL = (
    "**The difference B − A can tell** where the same word gives more (blue, +) or less (orange, −) of its attention in B than "
    "in A."
)
CANNOT_TELL = {
    "text": "**It cannot tell** why. Every row sums to 1, so what a word without a partner takes is missing elsewhere: not "
    "every difference is about the two words that it stands between. And attention is not meaning.",
    "head": "**It cannot tell** which head matters more: a head that looks elsewhere may still pass the same on.",
    "untrained": "**It cannot tell** what training was for, only what it changed; other random weights give other small numbers.",
    "changes": "**It cannot tell** what the missing part is for: what stays the same may have been done twice.",
    "model": "**It cannot tell** which model is right, and heads of two models have no common numbering: "
    "layer 2, head 3 of one has nothing to do with that of the other.",
}
HOW = (
    "Whole words: attention to a word is the sum over its pieces, attention from it the mean. Words are partners where they are "
    "equal, capitals aside, in the same order; as many as can be. Special tokens are partners by where they stand."
)


def maps(page: str, one: Run, other: Run) -> "Comparison":
    """Show what A and B look at and what differs; give what was compared."""
    from tx_core.analysis.comparison import compare, describe_largest_difference

    found = compare(one.view, other.view, one.spelled, other.spelled, one.weights, other.weights)
    name, vary = widget_key(page, "maps"), st.session_state[widget_key(page, "vary")]
    if vary == "model" and one.side.model == other.side.model:
        st.info(SAME_MODEL)
    elif one.side == other.side:
        st.info("A and B are the same. Change B above to see what differs.")

    def take_focus() -> None:
        st.session_state[widget_key(page, "focus")] = focused_token(name, len(found.rows))

    if (st.session_state[widget_key(page, "focus")] or 0) >= len(found.rows):
        st.session_state[widget_key(page, "focus")] = None
    told = describe_largest_difference(found, st.session_state[widget_key(page, "focus")])
    st.text(told)
    titles = (f"A · {title(one.side, vary)}", f"B · {title(other.side, vary)}", "B − A")
    comparison_maps(
        found,
        (one.view.queries, other.view.queries),
        titles,
        label=told,
        scale=st.session_state[widget_key(page, "scale")],
        focus=st.session_state[widget_key(page, "focus")],
        key=name,
        on_focus=take_focus,
    )
    st.markdown(f"{CAN_TELL} {CANNOT_TELL[vary]}")
    st.caption(" ".join([partners_in_words(found), HOW]))
    difference_table(found, key=widget_key(page, "table"))
    return found


def title(side: Side, vary: str) -> str:
    """Say what a side is, as far as it differs from the other."""
    named = {
        "text": " / ".join(shortened(text, MAX_TITLE_CHARACTERS) for text in (side.text, side.pair) if text),
        "head": name_head(side.head),
        "seed": f"random weights {side.seed}" if side.seed else "trained",
        "changes": f"changed: {tell_changes(side.changes)}" if side.changes else "as it is",
        "model": controls.model_title(side.model),
    }
    return ", ".join(named[part] for part in VARIES[vary] if part in named)


def partners_in_words(found: "Comparison") -> str:
    """Say which words have no partner."""
    told = [f"Only in {side}: {_listed(words)}." for side, words in zip("AB", found.lonely, strict=True) if words]
    return " ".join(told) or "Every word has its partner."


def _listed(words: Sequence[str]) -> str:
    more = len(words) - MAX_MISSING_WORDS
    return ", ".join(words[:MAX_MISSING_WORDS]) + (f" and {more:,} more" if more > 0 else "")


def difference_table(found: "Comparison", *, key: str) -> None:
    """Offer the links of A and of B as a table, built only when it is opened, and every one of them as a CSV file."""
    opened = st.expander("The differences as a table", key=key, on_change="rerun")
    if opened.open:
        from tx_core.analysis.comparison import largest_links, list_links

        every = list_links(found)
        listed = every if len(every) <= MAX_LINK_ROWS else largest_links(found, every, MAX_LINK_ROWS)
        with opened:
            st.caption("Each row is a link that A or B has. Empty where a word has no partner.")
            if len(listed) < len(every):
                st.caption(f"Of {len(every):,} links the {len(listed):,} that differ most stand here, all of them in the file.")
            st.dataframe(list(difference_rows(found, listed)), hide_index=True)
            st.download_button(
                "Download as CSV",
                lambda: as_csv(difference_rows(found, every)),
                "comparison.csv",
                "text/csv",
                key=f"{key}_csv",
                on_click="ignore",
                icon=":material/download:",
            )


def difference_rows(found: "Comparison", listed: Int[np.ndarray, "link 2"] | None = None) -> Iterator[dict[str, object]]:
    """Give links with their weights and their difference, None for what is not there: every one that A or B has, or `listed`."""
    from tx_core.analysis.comparison import list_links

    for row, column in (list_links(found) if listed is None else listed).tolist():
        (mine, yours), (my_key, your_key) = found.rows[row], found.rows[column]
        before = None if mine is None or my_key is None else float(found.one[mine, my_key])
        after = None if yours is None or your_key is None else float(found.other[yours, your_key])
        change = round(float(found.difference[row, column]), 6) if found.there[row, column] else None
        names = {"query": f"{row + 1} {found.labels[row]}", "key": f"{column + 1} {found.labels[column]}"}
        yield {**names, "A": _rounded(before), "B": _rounded(after), "B − A": change}


def as_csv(rows: Iterable[dict[str, object]]) -> str:
    """Write links as CSV; labels begin with a number, so no spreadsheet takes one for a formula."""
    written = io.StringIO()
    table = csv.DictWriter(written, ["query", "key", "A", "B", "B − A"])
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


def _rounded(weight: float | None) -> float | None:
    return None if weight is None else round(weight, 6)
