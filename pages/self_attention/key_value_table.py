"""A small store of keys and values that a reader edits and asks, on the page of self-attention."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.self_attention.matrices import dimensions
from pages.ui.canvas.cell_origins import Divided, Origin, Product, Shares
from pages.ui.canvas.matrix_cells import Cell, cell_from_link, cell_to_link
from pages.ui.canvas.matrix_view import Matrix, chosen_cell, matrix_row
from pages.ui.shell.address import Field, widget_key
from pages.ui.shell.frame import explain
from tx_core.errors import ExplorerError

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.lessons.key_value import Answer, Row, Store

LIMIT = 10_000.0
QUERIES = ((0, 10, 0), (0, 0, 10), (10, 10, 0))
LAID_OVER_KEYS = ("matches", "scores", "weights")
PLACES = ("q1", "q2", "q3")
Table = tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]
DEFAULT: Table = (
    ((10, 0, 0), (1, 0, 0)),
    ((0, 10, 0), (10, 0, 0)),
    ((0, 0, 10), (100, 5, 0)),
    ((0, 0, 10), (1000, 6, 0)),
)
"""Each row: a key, and the value that it finds."""


def read_table(written: str) -> Table:
    """Read a table as a link holds it; ValueError for anything that is not a usable one."""
    from tx_core.lessons.key_value import Store

    rows = [tuple(float(number) for number in row.split("_")) for row in written.split("~")]
    if any(len(row) != 6 for row in rows):
        raise ValueError("every row must hold six numbers")
    table = tuple((row[:3], row[3:]) for row in rows)
    try:
        Store(*zip(*table, strict=True))
    except ExplorerError as problem:
        raise ValueError(str(problem)) from problem
    return table


def write_table(table: Table) -> str:
    """Write a table for a link."""
    return "~".join("_".join(f"{number:.10g}" for number in (*known, *value)) for known, value in table)


def read_number(written: str) -> float:
    """Read one number of the query from a link; ValueError for what is none, or too large."""
    number = float(written)
    if not abs(number) <= LIMIT:
        raise ValueError("must lie within ±10,000")
    return number


FIELDS = (
    Field("store", DEFAULT, read_table, write_table),
    Field("answer", Cell("result", 0, 0), cell_from_link, cell_to_link),
    *(Field(name, float(number), read_number, "{:.10g}".format) for name, number in zip(PLACES, QUERIES[0], strict=True)),
)


def key_value_table(page: str) -> None:
    """Let the reader edit the store and the query, and show what comes back, step by step."""
    left, right = st.columns([2, 1], gap="medium")
    with right:
        query = _ask_query(page)
    try:
        with left:
            store = _ask_store(page)
        _show_answer(page, store, query)
    except ExplorerError as problem:
        explain(problem)


def _ask_query(page: str) -> "Row":
    def choose(numbers: tuple[int, ...]) -> None:
        st.session_state.update({widget_key(page, name): float(number) for name, number in zip(PLACES, numbers, strict=True)})

    st.markdown("**Query**")
    with st.container(horizontal=True, gap="small"):
        for number, preset in enumerate(QUERIES):
            st.button(str(preset), key=f"{page}_preset{number}", on_click=choose, args=(preset,))
    for name in PLACES:  # even if unchanged: a browser that draws late then shows what is held here, not the least number
        st.session_state[widget_key(page, name)] = st.session_state[widget_key(page, name)]
    columns = st.columns(3, gap="small")
    return tuple(
        column.number_input(
            f"{number}. number", min_value=-LIMIT, max_value=LIMIT, step=1.0, format="%g", key=widget_key(page, name)
        )
        for number, (column, name) in enumerate(zip(columns, PLACES, strict=True), start=1)
    )


def _ask_store(page: str) -> "Store":
    """Give the store as edited; a table that came from elsewhere than the editor starts the editor anew."""
    from tx_core.lessons.key_value import MAX_STORE_ROWS, Store

    held, edited, start = widget_key(page, "store"), f"{page}_edited", f"{page}_start"
    if st.session_state.get(edited) != st.session_state[held] or start not in st.session_state:
        number, _ = st.session_state.get(start, (0, None))
        st.session_state[start] = (number + 1, st.session_state[held])
    number, table = st.session_state[start]
    st.markdown(f"**Keys and the values they find** (1 to {MAX_STORE_ROWS} rows)")
    cells = [_cells(row) for row in table]
    bounded = {name: st.column_config.NumberColumn(min_value=-LIMIT, max_value=LIMIT, format="%g") for name in cells[0]}
    rows = st.data_editor(cells, num_rows="dynamic", key=f"{page}_table{number}", column_config=bounded, hide_index=True)
    table = tuple((_numbers(row, "key"), _numbers(row, "value")) for row in rows)
    store = Store(tuple(known for known, _ in table), tuple(value for _, value in table))
    st.session_state[held] = st.session_state[edited] = table
    return store


def _cells(row: tuple[tuple[float, ...], tuple[float, ...]]) -> dict[str, float]:
    return {
        f"{kind} {number}": float(value)
        for kind, numbers in zip(("key", "value"), row, strict=True)
        for number, value in enumerate(numbers, start=1)
    }


def _numbers(row: dict[str, float | None], kind: str) -> "Row":
    return tuple(row.get(f"{kind} {number}") for number in (1, 2, 3))


def _show_answer(page: str, store: "Store", query: "Row") -> None:
    from tx_core.lessons.key_value import look_up

    answer = look_up(store, query)
    result = ", ".join(f"{number:.2f}".rstrip("0").rstrip(".") for number in answer.result[0].tolist())
    shares = " · ".join(f"row {row}: {share:.3f}" for row, share in enumerate(answer.weights[0].tolist(), start=1))
    st.markdown(f"The store returns **({result})**. Shares: {shares}.")
    matrices = answer_matrices(store, query, answer)
    name, held = f"{page}_answer_row", widget_key(page, "answer")

    def choose() -> None:
        st.session_state[held] = chosen_cell(name, matrices)

    matrix_row(matrices, st.session_state[held], names_title="", key=name, on_choose=choose, numbers=True)


def answer_matrices(store: "Store", query: "Row", answer: "Answer") -> list[Matrix]:
    """Lay one look-up out, from the query to what comes back."""
    asked, rows, numbers = ("query",), tuple(f"row {row + 1}" for row in range(len(store.keys))), dimensions(3)

    def of_query(
        name: str, title: str, formula: str, values: object, group: str, origin: Origin | None, lead: str = "→"
    ) -> Matrix:
        columns, kind = (rows, "key") if name in LAID_OVER_KEYS else (numbers, "number")
        return Matrix(name, title, formula, np.array(values, np.float32), asked, columns, "", kind, origin, group, lead=lead)

    def of_store(name: str, title: str, formula: str, values: object, group: str, lead: str) -> Matrix:
        return Matrix(name, title, formula, np.array(values, np.float32), rows, numbers, "row", "number", None, group, lead=lead)

    return [
        of_query("query", "Query", "q", [query], "keys", None),
        of_store("key", "Keys", "K", store.keys, "keys", ""),
        of_query("matches", "Matches", "qKᵀ", answer.matches.numpy(), "matches", Product("query", "key", transposed=True)),
        of_query("scores", "Scores", "÷ √64 = ÷ 8", answer.scores.numpy(), "matches", Divided("matches", 8.0, "8")),
        of_query("weights", "Weights", "softmax", answer.weights.numpy(), "shares", Shares("scores")),
        of_store("value", "Values", "V", store.values, "values", "·"),
        of_query("result", "Result", "weights · V", answer.result.numpy(), "values", Product("weights", "value"), "="),
    ]
