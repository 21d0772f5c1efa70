"""The maps of A, B and B − A on one canvas, with the same in a sentence and in a table."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import streamlit as st
from jaxtyping import Int

from pages.compare import texts
from pages.compare.controls import changes_in_full
from pages.compare.runs import Run
from pages.compare.state import VARIES, Side, name_head
from pages.ui.canvas.attention_view import BOX, STYLE, focused_token, parse_token
from pages.ui.canvas.component import component
from pages.ui.canvas.packing import codes, difference_codes, pack
from pages.ui.canvas.texts import COMPARISON
from pages.ui.export.records import shortened
from pages.ui.shell import controls
from pages.ui.shell.address import widget_key
from pages.ui.shell.level import is_hidden
from tx_core.analysis.comparison import Comparison, compare_attention, describe_largest_difference, largest_links, list_links

MODULE, STYLES = "comparison/comparison.js", (STYLE, "comparison/comparison.css")
MAX_LINK_ROWS = 2000
MAX_LONELY_WORDS = 12
MAX_TITLE_CHARACTERS = 48
COLUMNS = ("query", "key", "A", "B", "B − A")


def show_maps(page: str, one: Run, other: Run) -> Comparison:
    """Show what A and B attend to and what differs; return the comparison."""
    comparison = compare_attention(one.view, other.view, one.spelled, other.spelled, one.weights, other.weights)
    vary = st.session_state[widget_key(page, "vary")]
    if vary == "model" and one.side.model == other.side.model:
        st.info(texts.SAME_MODEL)
    elif one.side == other.side:
        st.info(texts.SAME_SIDES)
    focus = widget_key(page, "focus")
    if (st.session_state[focus] or 0) >= len(comparison.rows):
        st.session_state[focus] = None
    _draw(page, one, other, comparison, vary)
    st.markdown(f"{texts.SHOWS} {texts.DOES_NOT_SHOW[vary]}")
    st.caption(f"{partners_in_words(comparison)} {texts.HOW_PAIRED}")
    difference_table(comparison, key=widget_key(page, "table"))
    return comparison


def _draw(page: str, one: Run, other: Run, comparison: Comparison, vary: str) -> None:
    """Draw the maps, and say where they differ most."""
    key, focus = widget_key(page, "maps"), widget_key(page, "focus")

    def take_focus() -> None:
        st.session_state[focus] = focused_token(key, len(comparison.rows))

    difference = describe_largest_difference(comparison, st.session_state[focus])
    st.text(difference)
    packed = packed_comparison(
        comparison,
        (one.view.queries, other.view.queries),
        map_titles(one.side, other.side, vary),
        alt=difference,
        scale=st.session_state[widget_key(page, "scale")],
        focus=st.session_state[focus],
    )
    _canvas()(key=key, data=packed, on_focus_change=take_focus)


def _canvas() -> Callable[..., object]:
    return component("comparison", BOX, MODULE, *STYLES, height=900)


def packed_comparison(
    comparison: Comparison,
    tokens: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str, str],
    *,
    alt: str,
    scale: str,
    focus: int | None,
    **header: object,
) -> bytes:
    """Pack both maps and their difference for the canvas; words without a partner are hatched.

    tokens: the words of A and of B. titles: of A, B and B − A. focus: a row of the comparison, from 0. Further keyword
    arguments go into the header.
    """
    header = {
        "one": list(tokens[0]),
        "other": list(tokens[1]),
        "labels": list(comparison.labels),
        "rows": [list(row) for row in comparison.rows],
        "titles": list(titles),
        "texts": COMPARISON,
        "alt": alt,
        "scale": scale,
        "focus": parse_token(focus, len(comparison.rows)),
    } | header
    maps = (codes(comparison.one), codes(comparison.other), difference_codes(comparison.difference))
    return pack(header, np.concatenate([cells.ravel() for cells in maps]))


def map_titles(one: Side, other: Side, vary: str) -> tuple[str, str, str]:
    """Title the maps of A, B and B − A."""
    return texts.TITLES["A"].format(side=title(one, vary)), texts.TITLES["B"].format(side=title(other, vary)), texts.DIFFERENCE


def title(side: Side, vary: str) -> str:
    """Name what differs in a side."""
    parts = {
        "text": " / ".join(shortened(text, MAX_TITLE_CHARACTERS) for text in (side.text, side.pair) if text),
        "head": name_head(side.head),
        "seed": texts.RANDOM_SIDE.format(seed=side.seed) if side.seed else texts.TRAINED_SIDE,
        "changes": texts.CHANGED_SIDE.format(changes=changes_in_full(side.changes)) if side.changes else texts.UNCHANGED_SIDE,
        "model": controls.model_title(side.model),
    }
    return ", ".join(parts[part] for part in VARIES[vary] if part in parts)


def partners_in_words(comparison: Comparison) -> str:
    """Say which words have no partner."""
    sentences = [_lonely(side, words) for side, words in zip("AB", comparison.unmatched, strict=True) if words]
    return " ".join(sentences) or texts.ALL_PAIRED


def _lonely(side: str, words: Sequence[str]) -> str:
    more, listed = len(words) - MAX_LONELY_WORDS, ", ".join(words[:MAX_LONELY_WORDS])
    return texts.ONLY_IN_MORE[side].format(words=listed, more=more) if more > 0 else texts.ONLY_IN[side].format(words=listed)


def difference_table(comparison: Comparison, *, key: str) -> None:
    """Offer the links of A and B as a table, built only when it is opened, and all of them as a CSV file."""
    if is_hidden("tables"):
        return
    folded = st.expander(texts.TABLE, key=key, on_change="rerun")
    if not folded.open:
        return
    every = list_links(comparison)
    listed = every if len(every) <= MAX_LINK_ROWS else largest_links(comparison, every, MAX_LINK_ROWS)
    with folded:
        st.caption(texts.TABLE_ROWS)
        if len(listed) < len(every):
            st.caption(texts.TABLE_CUT.format(all=len(every), shown=len(listed)))
        st.dataframe(list(difference_rows(comparison, listed)), hide_index=True)
        st.download_button(
            texts.DOWNLOAD,
            lambda: as_csv(difference_rows(comparison, every)),
            "comparison.csv",
            "text/csv",
            key=f"{key}_csv",
            on_click="ignore",
            icon=":material/download:",
        )


def difference_rows(comparison: Comparison, listed: Int[np.ndarray, "link 2"] | None = None) -> Iterator[dict[str, object]]:
    """Give links with their weights and their difference, None for a missing one. listed: the links, None for all."""
    for row, column in (list_links(comparison) if listed is None else listed).tolist():
        (mine, yours), (my_key, your_key) = comparison.rows[row], comparison.rows[column]
        before = None if mine is None or my_key is None else float(comparison.one[mine, my_key])
        after = None if yours is None or your_key is None else float(comparison.other[yours, your_key])
        difference = round(float(comparison.difference[row, column]), 6) if comparison.comparable[row, column] else None
        query, key = f"{row + 1} {comparison.labels[row]}", f"{column + 1} {comparison.labels[column]}"
        yield dict(zip(COLUMNS, (query, key, _rounded(before), _rounded(after), difference), strict=True))


def as_csv(rows: Iterable[dict[str, object]]) -> str:
    """Write links as CSV; labels begin with a number, so no spreadsheet takes one for a formula."""
    written = io.StringIO()
    table = csv.DictWriter(written, COLUMNS)
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


def _rounded(weight: float | None) -> float | None:
    return None if weight is None else round(weight, 6)
